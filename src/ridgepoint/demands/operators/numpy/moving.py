"""Rules of functions that make, copy, take, place and rearrange elements."""

from __future__ import annotations

from collections.abc import Mapping

from ridgepoint.core.operators import Asked, Call
from ridgepoint.demands.operators.asking import array, ask, no_bytes
from ridgepoint.demands.operators.rule import NoRule, Rule, names

_VIEWING = names(
    "array asanyarray asarray ascontiguousarray asfortranarray astype atleast_1d atleast_2d "
    "atleast_3d broadcast_arrays broadcast_to copy diagonal expand_dims flip fliplr flipud "
    "getitem matrix_transpose moveaxis permute_dims ravel real_if_close reshape require rollaxis "
    "rot90 squeeze swapaxes transpose T mT diag linalg.diagonal linalg.matrix_transpose "
    "array_split split hsplit vsplit dsplit unstack imag real"
)
"""Functions whose result may be a view."""

_COPYING = names(
    "append block column_stack concat concatenate delete dstack flatten hstack insert pad repeat "
    "resize roll row_stack stack tile tril triu vstack meshgrid diagflat"
)
_TAKING = names("choose compress extract take take_along_axis")
_MAKING = names(
    "arange empty empty_like eye full full_like identity indices ones ones_like tri zeros "
    "zeros_like"
)


def _moved(call: Call) -> Asked:
    if not call.outputs:
        raise NoRule("it returned no array")
    inputs = len(call.inputs)
    if all(first < inputs for first, _ in call.sharing[inputs:]):
        return no_bytes(call, "view")
    if call.name == "numpy.getitem":
        return _taken(call)
    if any(not one.key for one in (*call.inputs[:1], *call.outputs)) and call.outputs[0].shape:
        raise NoRule("whether it copies is not known of this library")
    return ask(call, "copy", rule="copied")


def _copied(call: Call) -> Asked:
    return ask(call, "copy", rule="copied")


def _taken(call: Call) -> Asked:
    # Elements that are taken are read, and the indices.
    indices = sum(one.nbytes for one in call.inputs[1:])
    taken = float(sum(one.nbytes for one in call.outputs))
    return ask(call, "gather", read=taken + indices, rule="elements taken")


def _placed(call: Call) -> Asked:
    target = array(call.arguments[0], "a")
    elements = call.options.get("elements")
    if not isinstance(elements, int):
        raise NoRule("how many elements it sets is not known")
    others = call.inputs[1:]
    nbytes = elements * target.nbytes / max(target.size, 1)
    return ask(
        call,
        "copy",
        read=float(sum(min(one.nbytes, max(nbytes, 8 * elements)) for one in others)),
        written=nbytes,
        rule="elements set",
    )


def _copied_to(call: Call) -> Asked:
    target, *sources = call.inputs
    return ask(call, "copy", read=sources, written=(target,), rule="copied")


def _filled(call: Call) -> Asked:
    return ask(call, "fill", read=0.0, written=call.inputs[:1], rule="written once")


def _made(call: Call) -> Asked:
    if call.name.endswith(("empty", "empty_like")):
        return no_bytes(call, "view")
    return ask(call, "fill", read=0.0, rule="written once")


def _spaced(call: Call) -> Asked:
    n = 2.0 * sum(one.size for one in call.outputs)
    return ask(call, "fill", flop=n, read=0.0, rule="2 n")


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_VIEWING, _moved),
    **dict.fromkeys(_COPYING, _copied),
    **dict.fromkeys(_TAKING, _taken),
    **dict.fromkeys(_MAKING, _made),
    "setitem": _placed,
    "copyto": _copied_to,
    "fill": _filled,
    "linspace": _spaced,
}
