"""How operators are divided over devices that hold one copy of a model together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ridgepoint.core.operators import Operator, OperatorProfile
from ridgepoint.core.whole_numbers import require_whole
from ridgepoint.demands.training import all_reduce_bytes

_VIEW = "view"


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """Tensor parallelism: devices that divide the operators of some modules evenly.

    Parameters
    ----------
    devices : int
        Whole number > 0.
    modules : tuple of str
        Patterns of the paths of modules whose operators are divided, such as ``layers.*.mlp*``; the
        others run on every device. Empty: all are divided.
    summed : tuple of str
        Patterns of modules whose outputs are partial sums, added up by an all-reduce over the
        devices: the second matrix product of each block that is divided, such as
        ``layers.*.mlp.down``. In a step with a backward pass, as many bytes are summed again there,
        for the gradient of what goes into the block.
    algorithm : str
        One of `ridgepoint.demands.training.ALL_REDUCES`.

    Raises
    ------
    ValueError
        If `devices` is not a whole number > 0.

    Notes
    -----
    Every device reads all inputs of a matrix product of which it computes some columns, so that
    its bytes divided evenly are the least.

    References
    ----------
    .. [1] M. Shoeybi et al., "Megatron-LM: training multi-billion parameter language models using
       model parallelism", :arxiv:`1909.08053`, Section 3.
    """

    devices: int = 1
    modules: tuple[str, ...] = ()
    summed: tuple[str, ...] = ()
    algorithm: str = "ring"

    def __post_init__(self) -> None:
        require_whole(devices=self.devices)

    def share(self, module: str) -> float:
        """Return the share of a module's operators that one device has."""
        is_divided = not self.modules or _matches(module, self.modules)
        return 1.0 / self.devices if is_divided else 1.0

    def sent_bytes(self, operators: Iterable[Operator]) -> float:
        """Return the bytes that a device's link carries to add up partial sums of operators once.

        Parameters
        ----------
        operators : iterable of Operator
            In the order of their calls.
        """
        every = list(operators)
        outputs = sum(
            output_bytes(last)
            for module, last in _last_of_each(every).items()
            if _matches(module, self.summed)
        )
        ways = 2 if any(operator.phase == "backward" for operator in every) else 1
        return float(all_reduce_bytes(ways * outputs, nodes=self.devices, algorithm=self.algorithm))

    def require_modules(self, profile: OperatorProfile) -> None:
        """Refuse patterns that name no module of a profile.

        Raises
        ------
        ValueError
        """
        for pattern in (*self.modules, *self.summed):
            if not any(fnmatchcase(operator.module, pattern) for operator in profile.operators):
                raise ValueError(f"no operator of {profile.program} is in a module {pattern!r}")


UNDIVIDED = Division()
"""Each copy of a model is on one device."""


def _last_of_each(operators: Iterable[Operator]) -> dict[str, Operator]:
    """Return the operator of each module whose outputs are the module's: its last in forward."""
    last: dict[str, Operator] = {}
    for operator in operators:
        if has_result(operator):
            last[operator.module] = operator
    return last


def has_result(operator: Operator) -> bool:
    """Return whether an operator makes an array in the forward pass, as often as is known."""
    is_view = operator.asked.kind == _VIEW or operator.calls is None
    return operator.phase == "forward" and not is_view and bool(operator.call.outputs)


def output_bytes(operator: Operator) -> float:
    """Return the bytes of the first output of all calls: others, such as masks, are kept."""
    return float((operator.calls or 0) * operator.call.outputs[0].nbytes)


def _matches(module: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(module, pattern) for pattern in patterns)
