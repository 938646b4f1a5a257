"""Rules of PyTorch's recurrent layers and cells, and of their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ridgepoint.core.operators import Asked, Call, Tensor
from ridgepoint.demands.operators.asking import array, arrays, ask, given
from ridgepoint.demands.operators.forms import ELEMENTWISE
from ridgepoint.demands.operators.rule import NoRule, Rule

KIND = "recurrent"

_SIGMOID = ELEMENTWISE["sigmoid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """What one hidden number of a cell costs beside the products, forward and backward."""

    flop: float
    functions: float
    backward_flop: float
    backward_functions: float = 0.0


_LSTM = _Cell(
    # Three sigmoids; f c + i g; o tanh(c).
    flop=3 * _SIGMOID.flop + 4,
    functions=3 * _SIGMOID.functions + 2,
    # The gradient of the cell 1 + 1 + 3; those of gates 4; through sigmoids 3 x 3 and tanh 3.
    backward_flop=21,
    backward_functions=1,
)
_GRU = _Cell(
    # Two sigmoids; n = tanh(i + r h); h = n + z (h - n).
    flop=2 * _SIGMOID.flop + 2 + 3,
    functions=2 * _SIGMOID.functions + 1,
    # (1 - z) and products with it 3, of h - n 2, of r and h 3; through sigmoids 2 x 3, tanh 3.
    backward_flop=17,
)
_TANH = _Cell(flop=0, functions=1, backward_flop=3)
_RELU = _Cell(flop=0, functions=0, backward_flop=0)
_BY_MODE = {0: _RELU, 1: _TANH, 2: _LSTM, 3: _GRU}
"""Cells by the number that cuDNN and oneDNN give them."""


def _layers(
    call: Call,
    rows: float,
    weights: Sequence[Tensor],
    cell: _Cell,
    hidden: float,
    *,
    backward: bool = False,
) -> Asked:
    """Return what layers ask for: each matrix times every row, and the cells.

    Parameters
    ----------
    call : Call
    rows : float
        Steps times batch.
    weights : sequence of Tensor
        Matrices and biases of all layers and directions.
    cell : _Cell
    hidden : float
        Hidden numbers that all cells compute.
    backward : bool
        Of gradients: two products for each matrix, and the gates' gradients summed for a bias.
    """
    matrices = sum(one.size for one in weights if len(one.shape) == 2)
    biases = sum(one.size for one in weights if len(one.shape) == 1)
    times = 2 if backward else 1
    pointwise = cell.backward_flop if backward else cell.flop
    functions = cell.backward_functions if backward else cell.functions
    return ask(
        call,
        KIND,
        dtype=weights[0].dtype if weights else "",
        products=2.0 * times * rows * matrices,
        flop=rows * biases + pointwise * hidden,
        functions=functions * hidden,
        workspace_bytes=None,
        rule="2 for each weight and row, and the gates",
    )


def _composed(cell: _Cell) -> Rule:
    """Return the rule of a whole layer that was called as one operator."""

    def rule(call: Call) -> Asked:
        if call.overload == "data":
            args = given(call, "input", "batch_sizes", "state", "weights")
        else:
            args = given(call, "input", "state", "weights")
        source, states = array(args.input, "input"), arrays(args.state)
        if not states:
            raise NoRule("it has no hidden state")
        rows = source.size / max(source.shape[-1], 1)
        # A state is (layers and directions, batch, hidden); an LSTM's second one is its cell.
        layers, hidden = states[-1].shape[0], states[-1].shape[-1]
        return _layers(call, rows, arrays(args.weights), cell, rows * layers * hidden)

    return rule


def _one_step(cell: _Cell) -> Rule:
    def rule(call: Call) -> Asked:
        args = given(call, "input", "state", "w_input", "w_hidden", b_input=None, b_hidden=None)
        state = arrays(args.state)[0]
        weights = arrays([args.w_input, args.w_hidden, args.b_input, args.b_hidden])
        rows = state.size / max(state.shape[-1], 1)
        return _layers(call, rows, weights, cell, state.size)

    return rule


def _gates(cell: _Cell, gates: int) -> Rule:
    """Return the rule of a cell whose products are done: gates added, with their biases."""

    def rule(call: Call) -> Asked:
        args = given(call, "input", "hidden", "state", b_input=None, b_hidden=None)
        state, biases = array(args.state, "state"), len(arrays([args.b_input, args.b_hidden]))
        # A GRU adds its third gate where the cell does.
        joined = 4 if gates == 4 else 2
        flop = (joined + gates * biases + cell.flop) * state.size
        return ask(call, KIND, flop=flop, functions=cell.functions * state.size)

    return rule


def _one_dnn(call: Call) -> Asked:
    args = given(
        call, "input", "w0", "w1", "w2", "w3", "hx", "cx", "reverse", "batch_sizes", "mode",
        "hidden_size",
    )  # fmt: skip
    return _one_dnn_layer(call, args.input, (args.w0, args.w1, args.w2, args.w3), args)


def _one_dnn_backward(call: Call) -> Asked:
    args = given(
        call, "input", "w0", "w1", "w2", "w3", "hx", "cx", "output", "hy", "cy", "grad",
        "grad_hy", "grad_cy", "reverse", "mode", "hidden_size",
    )  # fmt: skip
    return _one_dnn_layer(call, args.input, (args.w0, args.w1, args.w2, args.w3), args)


def _one_dnn_layer(call: Call, given_input: object, given_weights: object, args: object) -> Asked:
    source, weights = array(given_input, "input"), arrays(given_weights)
    cell = _BY_MODE.get(int(getattr(args, "mode", -1)))
    if cell is None:
        raise NoRule("its kind of cell is not known")
    rows = source.size / max(source.shape[-1], 1)
    hidden = rows * int(getattr(args, "hidden_size", 0))
    return _layers(call, rows, weights, cell, hidden, backward="backward" in call.name)


def _cudnn(call: Call) -> Asked:
    names = ["input", "weights", "stride", "buffer", "hx", "cx"]
    if "backward" in call.name:
        names += ["output", "grad", "grad_hy", "grad_cy"]
    args = given(call, *names, "mode", "hidden_size")
    source, state = array(args.input, "input"), array(args.hx, "hx")
    cell = _BY_MODE.get(int(args.mode))
    if cell is None:
        raise NoRule("its kind of cell is not known")
    rows = source.size / max(source.shape[-1], 1)
    hidden = rows * state.shape[0] * int(args.hidden_size)
    backward = "backward" in call.name
    return _layers(call, rows, arrays(args.weights), cell, hidden, backward=backward)


RULES: Mapping[str, Rule] = {
    "lstm": _composed(_LSTM),
    "gru": _composed(_GRU),
    "rnn_tanh": _composed(_TANH),
    "rnn_relu": _composed(_RELU),
    "lstm_cell": _one_step(_LSTM),
    "gru_cell": _one_step(_GRU),
    "rnn_tanh_cell": _one_step(_TANH),
    "rnn_relu_cell": _one_step(_RELU),
    "_thnn_fused_lstm_cell": _gates(_LSTM, 4),
    "_thnn_fused_gru_cell": _gates(_GRU, 3),
    "mkldnn_rnn_layer": _one_dnn,
    "mkldnn_rnn_layer_backward": _one_dnn_backward,
    **dict.fromkeys(("_cudnn_rnn", "_cudnn_rnn_backward"), _cudnn),
}
