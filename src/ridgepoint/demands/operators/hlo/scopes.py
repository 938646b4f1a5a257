"""Where in a program of JAX an instruction comes from: its modules, and the pass of a gradient.

JAX names each operation by the scopes around it, as Flax, Haiku and `jax.named_scope` set them,
with its own transformations among them: ``jit(step)/transpose(jvp(Mlp))/Dense_0/dot_general``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ridgepoint.demands.operators.hlo.fusions import used_shares
from ridgepoint.demands.operators.hlo.program import Step
from ridgepoint.demands.operators.hlo.text import Computation, Instruction, Module
from ridgepoint.demands.operators.hlo.work import NOTHING, tally_of, trip_count
from ridgepoint.demands.operators.rule import NoRule, names

_MOST = 0.9
"""Share of a kernel's work that lies in the scope to which the kernel belongs."""

_WRAPPING = re.compile(r"^(transpose|jvp|vmap|linearize|remat|checkpoint)\((.*)\)$")
_COMPILED = re.compile(r"^(jit|pjit|pmap|xla_call|xla_pmap)\(.*\)$")
_INTERNAL = names(
    "while closed_call core_call checkpoint remat remat2 rematted_computation custom_jvp_call "
    "custom_vjp_call custom_vjp_call_jaxpr pjit shard_map"
)
"""Names that JAX puts around what it lowers; as a module of a user they would be no help."""

_AGAIN = ("checkpoint", "remat", "remat2")
"""Names of what `jax.checkpoint` computes again."""

_EINSUM = "->"
"""Is in the scopes that `jax.numpy.einsum` names after its equations."""

_PARTS = {"while": re.compile(r"cond|body|body_pred"), "cond": re.compile(r"branch_\d+_fun")}
"""Names that JAX puts below its loops and branches, which users give modules, too."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an operation comes from.

    Parameters
    ----------
    path : tuple of str
        Names of the scopes around it, outermost first.
    is_backward : bool
        Whether it is of the backward pass of a gradient.
    """

    path: tuple[str, ...]
    is_backward: bool = False

    @property
    def module(self) -> str:
        """The path as that of a module: ``Mlp.Dense_0``; empty: the outermost."""
        return ".".join(self.path)


def scope_named(name: str) -> Scope:
    """Return the scope that JAX's name of an operation tells.

    Examples
    --------
    >>> scope_named("jit(step)/transpose(jvp(Mlp))/Dense_0/dot_general")
    Scope(path=('Mlp', 'Dense_0'), is_backward=True)
    """
    is_backward = re.search(r"(?:^|[/(])transpose\(", name) is not None
    *parts, operation = _parts(name)
    around = [scope for part in parts for scope in _bare(part)]
    path: list[str] = []
    for at, scope in enumerate((*around, operation)):
        if scope in _AGAIN and is_backward:
            path = _once(path)
        if at < len(around) and not _is_internal(around, at):
            path.append(scope)
    return Scope(tuple(path), is_backward)


def scopes_of(step: Step, module: Module) -> dict[Scope, float]:
    """Return the scopes of all that an instruction does, each with its share of the work.

    Parameters
    ----------
    step : Step
    module : Module

    Returns
    -------
    dict of Scope to float
        Of a fusion those of what it fuses, the largest share first; shares are of the work and the
        evaluations of functions, or where there are none of the bytes of results. An instruction
        without a name has the scope of the loop around it. Empty: the program tells none.
    """
    if step.instruction.opcode in ("fusion", "call"):
        leaves = list(_leaves(step.instruction, step.computation, module))
        for weigh in (_work, _result_bytes):
            found: dict[Scope, float] = {}
            for one, inside, share in leaves:
                if one.opcode not in NOTHING and (scope := _own(one)) is not None:
                    found[scope] = found.get(scope, 0.0) + share * weigh(one, inside, module)
            if total := sum(found.values()):
                ordered = sorted(found.items(), key=lambda item: -item[1])
                return {scope: weight / total for scope, weight in ordered}
    named = map(_own, (step.instruction, *step.around))
    nearest = next((scope for scope in named if scope is not None), None)
    return {} if nearest is None else {nearest: 1.0}


def common_scope(scopes: Mapping[Scope, float]) -> Scope:
    """Return the innermost scope that holds nine tenths of some work.

    Parameters
    ----------
    scopes : mapping of Scope to float
        Shares of the work, as `scopes_of` returns them. Empty: the outermost scope.

    Examples
    --------
    >>> down, act, up = (Scope(("mlp", name)) for name in ("down", "act", "up"))
    >>> common_scope({down: 0.95, act: 0.05}).module, common_scope({up: 0.5, down: 0.5}).module
    ('mlp.down', 'mlp')
    """
    path: tuple[str, ...] = ()
    while True:
        inside: dict[tuple[str, ...], float] = {}
        for scope, share in scopes.items():
            longer = scope.path[: len(path) + 1]
            if len(longer) > len(path) and longer[:-1] == path:
                inside[longer] = inside.get(longer, 0.0) + share
        longest, share = max(inside.items(), key=lambda item: item[1], default=(path, 0.0))
        if share < _MOST:
            break
        path = longest
    backward = sum(share for scope, share in scopes.items() if scope.is_backward)
    return Scope(path, backward >= 0.5)


def fused_modules(scopes: Mapping[Scope, float]) -> tuple[str, ...]:
    """Return the modules that have a tenth of some work each, the largest share first."""
    shares: dict[str, float] = {}
    for scope, share in scopes.items():
        shares[scope.module] = shares.get(scope.module, 0.0) + share
    return tuple(name for name, share in shares.items() if share >= 1 - _MOST)


def _own(instruction: Instruction) -> Scope | None:
    """Return the scope by an instruction's own name; None: it has none."""
    metadata = instruction.attributes.get("metadata", "")
    found = re.search(r'op_name="((?:[^"\\]|\\.)*)"', metadata)
    return None if found is None else scope_named(_unescaped(found[1]))


def _unescaped(text: str) -> str:
    """Return a text that XLA escaped as in C: quotes, line ends, and bytes by octal numbers."""
    plain = text.encode().decode("unicode_escape", errors="replace")
    return plain.encode("latin-1", errors="replace").decode(errors="replace")


def _leaves(
    instruction: Instruction, computation: Computation, module: Module, share: float = 1.0
) -> Iterator[tuple[Instruction, Computation, float]]:
    """Yield all that an instruction does, or itself if it calls nothing; and how much of it."""
    inside = {"fusion": "calls", "call": "to_apply", "while": "body"}
    if instruction.opcode not in inside:
        yield instruction, computation, share
        return
    if instruction.opcode == "while":
        share *= trip_count(instruction) or 1  # of one loop all parts run equally often
    for name in instruction.called(inside[instruction.opcode]):
        fused = module.computations[name]
        used = used_shares(fused)
        for one in fused.instructions.values():
            yield from _leaves(one, fused, module, share * used[one.name])


def _work(one: Instruction, computation: Computation, module: Module) -> float:
    try:
        tally = tally_of(one, computation, module)
    except NoRule:
        return 0.0
    return sum(tally.work.values()) + tally.functions


def _result_bytes(one: Instruction, computation: Computation, module: Module) -> float:
    return sum(shape.nbytes for shape in one.shapes)


def _parts(name: str) -> list[str]:
    """Return the parts of a name between slashes, those in brackets left together."""
    parts, depth = [""], 0
    for character in name:
        depth += (character == "(") - (character == ")")
        if character == "/" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts if depth == 0 else name.split("/")


def _bare(part: str) -> list[str]:
    """Return the scopes that transformations wrap; empty: none."""
    while (found := _WRAPPING.match(part)) is not None:
        part = found[2]
    if _COMPILED.match(part):
        return []
    return [scope for scope in part.split("/") if scope]


def _once(path: list[str]) -> list[str]:
    """Return a path that is there twice once.

    Before what `jax.checkpoint` computes again in the backward pass, JAX names the scopes of that
    pass and those of the forward pass: ``transpose(jvp(Mlp))/jvp(Mlp)/checkpoint/Dense_0/mul``.
    """
    half = len(path) // 2
    return path[:half] if path[:half] == path[half:] else path


def _is_internal(scopes: list[str], at: int) -> bool:
    """Return whether a scope is of JAX's loops, branches or `einsum`, and not of a program."""
    scope, before, after = (
        scopes[at],
        scopes[at - 1] if at else "",
        "".join(scopes[at + 1 : at + 2]),
    )
    is_part = before in _PARTS and _PARTS[before].fullmatch(scope) is not None
    is_branch = scope == "cond" and _PARTS["cond"].fullmatch(after) is not None
    return scope in _INTERNAL or is_part or is_branch or _EINSUM in scope
