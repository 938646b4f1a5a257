"""Rules of PyTorch's operators against programs of PyTorch, and against what it says itself."""

import collections
import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch._decomp import core_aten_decompositions  # noqa: E402 - only where torch is
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402
from torch_calls import call_made  # noqa: E402
from torch_programs import (  # noqa: E402
    FUNCTIONS,
    LOSSES,
    MODELS,
    OPTIMIZERS,
    A,
    X,
)

from ridgepoint.demands.operators import asked_of  # noqa: E402
from ridgepoint.demands.operators.aten.rules import RULES  # noqa: E402

pytestmark = pytest.mark.slow
aten = torch.ops.aten

ITERATED = {"aten._linalg_svd", "aten._linalg_eigh", "aten.linalg_eig", "aten.linalg_lstsq"}
"""Operators whose work is in the data, and is said to be unknown."""


class Asked(TorchDispatchMode):
    """Keeps what each operator asks for; those in a table are taken apart first."""

    def __init__(self, parts=None):
        super().__init__()
        self.parts, self.asked = parts or {}, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        """Call the operator, and keep what it asked for."""
        options = kwargs or {}
        if function in self.parts:
            with self:
                return self.parts[function](*args, **options)
        returned = function(*args, **options)
        if function.namespace != "profiler":
            call = call_made(function, args, options, returned)
            self.asked.append((call.name, asked_of(call)))
        return returned

    @property
    def unknown(self):
        """Return the operators that have no rule, or whose rule could not tell."""
        return {name: one.unknown for name, one in self.asked if one.unknown}

    @property
    def flop(self):
        """Return all work."""
        return sum(sum(one.work.values()) for _, one in self.asked)

    @property
    def functions(self):
        """Return all evaluations of functions."""
        return sum(one.functions for _, one in self.asked)


def test_every_rule_is_of_an_operator_that_there_is():
    """A rule for a misspelt operator would never be used."""
    there = {
        name.removeprefix("aten::").split(".")[0]
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    }
    named = {name.removeprefix("aten.") for name in RULES}

    assert {name for name in named if name not in there and f"{name}_" not in there} == set()


@pytest.mark.parametrize("name", MODELS)
def test_every_operator_of_a_model_is_known(name):
    """Trained, and in inference."""
    model, shape = MODELS[name]
    with Asked() as trained:
        model.train()(torch.randn(shape, requires_grad=True)).sum().backward()
    with Asked() as inference, torch.no_grad():
        model.eval()(torch.randn(shape))

    assert trained.unknown == {}
    assert inference.unknown == {}


@pytest.mark.parametrize("name", LOSSES)
def test_every_operator_of_a_loss_is_known(name):
    """With its gradient."""
    with Asked() as asked:
        LOSSES[name](X.clone().requires_grad_()).backward()

    assert asked.unknown == {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_operator_of_a_function_is_known(name):
    """With its gradient, where there is one."""
    x = A.clone().requires_grad_()
    with Asked() as asked:
        results = FUNCTIONS[name](x)
        floating = [
            one.abs().sum() for one in torch.utils._pytree.tree_leaves(results) if one.requires_grad
        ]
        sum(floating).backward()

    assert asked.unknown == {}


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        *((name, {"foreach": one}) for name in OPTIMIZERS for one in (True, False)),
        *((name, {"fused": True}) for name in ("SGD", "Adam", "AdamW", "Adagrad")),
    ],
)
def test_every_operator_of_an_optimizer_is_known(name, variant):
    """Two steps; in each of its variants."""
    weights = [torch.nn.Parameter(torch.randn(4, 4)), torch.nn.Parameter(torch.randn(4))]
    for one in weights:
        one.grad = torch.randn_like(one)
    optimizer = getattr(torch.optim, name)(weights, lr=0.1, **variant)
    with Asked() as asked:
        optimizer.step()
        optimizer.step()

    assert asked.unknown == {}


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_the_gradient_of_gelu_is_that_of_its_decomposition(approximate):
    """PyTorch's own decomposition into additions and products has the same work."""
    whole, parts = _both(lambda: aten.gelu_backward(X, X, approximate=approximate))

    assert (whole.flop, whole.functions) == (parts.flop, parts.functions)


_ROWS, _IMAGES, _LINE = torch.randn(32, 64), torch.randn(8, 16, 10, 10), torch.rand(64)
_CHANNELS, _ONE, _SMALL = torch.rand(16), torch.tensor(1.0), torch.randn(2, 3, 12, 12)
_CUBE = torch.rand(8, 8, 8)
_SHARES, _GROUPS, _LENGTHS = torch.rand(32, 64), torch.rand(8, 4), torch.rand(32, 1)

DECOMPOSED = {
    "batch norm": lambda: aten.native_batch_norm_backward(
        _IMAGES, _IMAGES, *[_CHANNELS] * 5, True, 1e-5, [True] * 3
    ),
    "layer norm": lambda: aten.native_layer_norm_backward(
        _ROWS, _ROWS, [64], _ROWS[:, :1], _ROWS[:, :1], _LINE, _LINE, [True] * 3
    ),
    "group norm": lambda: aten.native_group_norm_backward(
        _IMAGES, _IMAGES, _GROUPS, _GROUPS, _CHANNELS, 8, 16, 100, 4, [True] * 3
    ),
    "softmax": lambda: aten._softmax_backward_data(_ROWS, _ROWS, 1, torch.float32),
    "log softmax": lambda: aten._log_softmax_backward_data(_ROWS, _ROWS, 1, torch.float32),
    "logsumexp": lambda: aten.logsumexp(_ROWS, [1]),
    "std": lambda: aten.std.correction(_ROWS, [1]),
    "silu": lambda: aten.silu(_ROWS),
    "silu backward": lambda: aten.silu_backward(_ROWS, _ROWS),
    "mish": lambda: aten.mish(_ROWS),
    "hardswish": lambda: aten.hardswish(_ROWS),
    "hardswish backward": lambda: aten.hardswish_backward(_ROWS, _ROWS),
    "hardsigmoid": lambda: aten.hardsigmoid(_ROWS),
    "elu backward": lambda: aten.elu_backward(_ROWS, 1.0, 1.0, 1.0, False, _ROWS),
    "softplus backward": lambda: aten.softplus_backward(_ROWS, _ROWS, 1.0, 20.0),
    "glu": lambda: aten.glu(_ROWS),
    "glu backward": lambda: aten.glu_backward(_ROWS[:, :32], _ROWS, 1),
    "sigmoid backward": lambda: aten.sigmoid_backward(_ROWS, _ROWS),
    "tanh backward": lambda: aten.tanh_backward(_ROWS, _ROWS),
    "squares": lambda: aten.mse_loss(_ROWS, _SHARES),
    "squares backward": lambda: aten.mse_loss_backward(_ONE, _ROWS, _SHARES, 1),
    "smooth absolute": lambda: aten.smooth_l1_loss(_ROWS, _SHARES),
    "smooth absolute backward": lambda: aten.smooth_l1_loss_backward(_ONE, _ROWS, _SHARES, 1, 1.0),
    "binary": lambda: aten.binary_cross_entropy(_SHARES, _SHARES),
    "binary backward": lambda: aten.binary_cross_entropy_backward(_ONE, _SHARES, _SHARES),
    "soft margin": lambda: aten.soft_margin_loss(_ROWS, _SHARES),
    "weight norm": lambda: aten._weight_norm_interface(_ROWS, _LENGTHS),
    "bias": lambda: aten.baddbmm(_CUBE, _CUBE, _CUBE),
    "addcdiv": lambda: aten.addcdiv(_ROWS, _ROWS, _SHARES, value=0.5),
    "renorm": lambda: aten.renorm(_ROWS, 2, 0, 1.0),
}


@pytest.mark.parametrize("name", DECOMPOSED)
def test_work_is_that_of_torchs_own_decomposition_or_less(name):
    """What is used twice may be computed once, but not much can be saved."""
    whole, parts = _both(DECOMPOSED[name])

    assert len(whole.asked) < len(parts.asked)
    assert 0.39 * parts.flop <= whole.flop <= 1.02 * parts.flop
    assert whole.functions <= parts.functions


def _both(function):
    with Asked() as whole:
        function()
    with Asked(core_aten_decompositions()) as parts:
        function()
    return whole, parts


def test_products_convolutions_and_attention_agree_with_torchs_counter():
    """Where nothing is padded or masked, its formulas for products are right, on meta devices."""
    programs = {
        "mm": lambda: aten.mm(_ROWS, _ROWS.T),
        "bmm": lambda: aten.bmm(_ROWS[None], _ROWS.T[None]),
        "convolution": lambda: aten.convolution(
            _SMALL, torch.rand(6, 3, 3, 3), None, [2, 2], [0, 0], [1, 1], False, [0, 0], 1
        ),
        "transposed": lambda: aten.convolution(
            _SMALL, torch.rand(3, 6, 3, 3), None, [2, 2], [0, 0], [1, 1], True, [0, 0], 1
        ),
    }
    for name, program in programs.items():
        with FlopCounterMode(display=False) as theirs:
            program()
        with Asked() as ours:
            program()

        assert ours.flop == theirs.get_total_flops() > 0, name


def test_memory_shared_by_views_is_read_once():
    """Three parts of one array, all of it, and twice the same."""
    whole = torch.randn(2, 5, 24)
    q, k, v = whole.split(8, dim=-1)
    with Asked() as parts:
        aten.addcmul(q, k, v)
    with Asked() as same:
        aten.addcmul(q, q, q)

    assert parts.asked[0][1].read_bytes == whole.nbytes
    assert same.asked[0][1].read_bytes == whole.nbytes / 3


@pytest.fixture
def networks():
    """Return the module with the networks that the benchmarks run."""
    path = Path(__file__).parents[2] / "benchmarks" / "programs" / "networks.py"
    specification = importlib.util.spec_from_file_location("networks", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_resnet_50_does_what_is_published_less_its_padding(networks):
    """4.09 G multiply-adds with padding (torchvision); products with it are none."""
    model = networks.resnet50().to("meta").eval()
    with torch.no_grad(), Asked() as asked:
        model(networks.images().to("meta"))

    assert asked.unknown == {}
    assert 0.96 * 2 * 4.09e9 < asked.flop < 2 * 4.09e9


def test_a_gpt_2_does_what_its_sizes_say(networks):
    """2 for each weight and token, and the pairs of the causal mask, in all its layers."""
    length, width, layers, words = 64, 768, 12, 50257
    with torch.no_grad(), Asked() as asked:
        networks.GPT2().eval()(networks.texts(1, length))
    work = collections.Counter()
    for _, one in asked.asked:
        work[one.kind] += sum(one.work.values())
    weights = layers * 12 * width**2 + words * width
    biases = layers * 9 * width

    assert asked.unknown == {}
    assert work["matrix product"] == length * (2 * weights + biases)
    assert work["attention"] == pytest.approx(
        layers * 4 * width * length * (length + 1) / 2, rel=0.05
    )
