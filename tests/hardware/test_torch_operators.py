"""Operators of programs of PyTorch: what is called where, and that times are theirs."""

import itertools

import pytest

torch = pytest.importorskip("torch")

from ridgepoint import operators  # noqa: E402 - only where torch is
from ridgepoint.core.errors import CannotMeasure  # noqa: E402
from ridgepoint.profiling.operators.pytorch.recording import Recording  # noqa: E402

nn = torch.nn


class Doubled(torch.autograd.Function):
    """A function that brings its own gradient."""

    @staticmethod
    def forward(ctx, x):
        """Return twice x."""
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        """Return twice the gradient."""
        return gradient * 2


class Block(nn.Module):
    """Two linear layers, one of them inside another module, and a function of its own."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        """Return what the layers make of x, twice."""
        return Doubled.apply(self.rest(self.first(x)))


def recorded(function, *inputs, model=None, runs=1):
    """Return the recording of calls of a function."""
    recording = Recording(model)
    for _ in range(runs):
        with recording:
            function(*inputs)
    return recording


def named(recording, name):
    """Return the operators of this name."""
    return [o for o in recording.operators() if o.name == name]


def test_every_operator_has_its_module_in_the_forward_pass():
    """Also those that a module calls itself, after the modules inside of it."""
    model = Block().eval()
    with torch.no_grad():
        found = recorded(model, torch.randn(2, 8), model=model).operators()

    assert [(o.name, o.module) for o in found if o.name not in ("aten.t", "aten.detach")] == [
        ("aten.addmm", "first"),
        ("aten.relu", "rest.0"),
        ("aten.addmm", "rest.1"),
        ("aten.mul", ""),
    ]
    assert {o.phase for o in found} == {"forward"}


def test_what_the_backward_pass_calls_belongs_to_the_module_that_made_it_necessary():
    """By the order in which nodes of the graph were made, also for functions of one's own."""
    model = Block()

    def step():
        model(torch.ones(2, 8)).sum().backward()

    backward = [o for o in recorded(step, model=model).operators() if o.phase == "backward"]
    modules = {
        name: [o.module for o in backward if o.name == name] for name in ("aten.mm", "aten.mul")
    }

    assert modules == {"aten.mm": ["rest.1", "rest.1", "first"], "aten.mul": [""]}
    assert [o.module for o in backward if o.name == "aten.threshold_backward"] == ["rest.0"]


def test_step_of_an_optimizer_is_a_phase_of_its_own():
    """Whatever it calls."""
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(1, 3)).sum().backward()
    found = recorded(optimizer.step, model=model).operators()

    assert found
    assert {o.phase for o in found} == {"optimizer"}


def test_outermost_modules_of_a_script_begin_with_the_name_of_their_class():
    """And a second one of the same class is told from the first."""
    one, two = nn.Sequential(nn.Linear(4, 4)), nn.Sequential(nn.Linear(4, 4))
    found = named(recorded(lambda: two(one(torch.ones(1, 4)))), "aten.addmm")

    assert [o.module for o in found] == ["Sequential.0", "Sequential#2.0"]


def test_calls_that_are_alike_are_one_operator():
    """Of one module, phase and shapes; numbers to compute with make no difference."""
    x = torch.ones(4)

    def function():
        for factor in (2.0, 3.0, 5):
            x * factor
        x.expand(2, 4) * 2

    found = named(recorded(function), "aten.mul")

    assert [(o.calls, o.call.inputs[0].shape) for o in found] == [(3, (4,)), (1, (2, 4))]


def test_factors_of_one_and_zero_are_told_from_others():
    """A sum with a factor of 1 has no product."""
    x, y = torch.ones(4), torch.ones(4)

    def function():
        for factor in (1, 2, 3.5, 0):
            torch.add(x, y, alpha=factor)

    assert [o.calls for o in named(recorded(function), "aten.add")] == [1, 2, 1]


@pytest.mark.parametrize("grad", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_composite_functions_are_seen_as_their_parts(grad):
    """Also where autograd, which takes them apart, is left out."""
    layer = nn.Linear(4, 4)
    x = torch.ones(2, 3, 4)

    def function():
        with grad():
            layer(x)

    profile = operators(function, name="it", repetitions=3)

    assert [o.name for o in profile.operators if o.asked.kind != "view"] == ["aten.addmm"]
    assert profile.cautions == ()


def test_exponents_tell_powers_apart():
    """A square is one product; other powers are not."""
    x = torch.ones(4)
    found = named(recorded(lambda: (x**2, x**3, x**2)), "aten.pow")

    assert [o.calls for o in found] == [2, 1]


@pytest.mark.parametrize(
    ("make", "nbytes"),
    [
        (lambda: torch.ones(6, 4), 96),
        (lambda: torch.ones(6, 4).t(), 96),
        (lambda: torch.ones(6, 4)[::2], 48),
        (lambda: torch.ones(4).expand(6, 4), 16),
        (lambda: torch.ones(1).expand(6, 4), 4),
        (lambda: torch.ones(10).unfold(0, 4, 1), 40),
        (lambda: torch.ones(0, 4), 0),
        (lambda: torch.ones(6, 4, dtype=torch.bfloat16), 48),
        (lambda: torch.eye(4).to_sparse(), 2 * 4 * 8 + 4 * 4),
        (lambda: torch.eye(4).to_sparse_csr(), 5 * 8 + 4 * 8 + 4 * 4),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse")
def test_bytes_are_those_of_different_elements(make, nbytes):
    """What broadcasting or overlapping windows repeat is in memory once."""
    x = make()
    (found,) = recorded(torch.clone, x).operators()

    assert found.call.inputs[0].nbytes == nbytes


def test_arrays_that_share_memory_have_one_key():
    """So that x * x reads x once, and an operation in place is known."""
    x, y = torch.ones(4), torch.ones(4)
    found = recorded(lambda: (x * x, x * y, x.add_(y), x[:2] + x[2:])).operators()
    same, others, added, halves = (
        [t.key for t in (*o.call.inputs, *o.call.outputs)]
        for o in found
        if o.name not in ("aten.slice",)
    )

    assert (same, others, added, halves) == ([1, 1, 2], [1, 2, 3], [1, 2, 1], [1, 1, 2])
    assert [t.start for t in found[-1].call.inputs] == [0, 8]


def test_work_that_changes_from_run_to_run_has_no_time():
    """An operator that is not in every run is not mistaken for another."""
    sizes = iter((2, 2, 3))
    recording = recorded(lambda: torch.ones(next(sizes)).exp(), runs=3)
    first, second = named(recording, "aten.exp")

    assert (first.time_s, second.time_s) == (None, None)
    assert "work-varies" in {c.code for c in recording.cautions()}


def test_steady_work_has_a_time_for_each_run():
    """And no caution."""
    x = torch.randn(300, 300)
    recording = recorded(lambda: x @ x, runs=4)
    (product,) = named(recording, "aten.mm")

    assert product.time_s.n == 4
    assert 0 < sum(product.time_s.samples) < sum(recording.run_s)
    assert "work-varies" not in {c.code for c in recording.cautions()}


def test_calling_from_python_is_doubted_where_calls_are_short():
    """Not where they are long."""
    x, big = torch.ones(2), torch.ones(1500, 1500)
    short = recorded(lambda: [x + x for _ in range(100)]).cautions()

    assert [(c.code, c.on) for c in short] == [("timed-from-python", "time")]
    assert 0.02 < short[0].effect <= 1
    assert recorded(lambda: big @ big).cautions() == ()


def test_operators_are_timed_without_anything_of_python_around_them():
    """By the events of PyTorch's profiler: in a training step too, with views that differ."""
    layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)
    x = torch.randn(2, 8, 32)
    profile = operators(layer, x, backward="sum", optimizer=torch.optim.AdamW, repetitions=3)

    assert "calls-unmatched" not in {c.code for c in profile.cautions}
    assert all(o.time_s.n == 3 for o in profile.operators)
    assert sum(o.time_s.median for o in profile.operators) < max(profile.attached_s.samples)


def test_program_whose_work_changes_is_timed_from_python_and_says_so():
    """Times of calls that cannot be told from others are not given to them."""
    sizes = itertools.cycle(range(1, 100))
    profile = operators(lambda: torch.ones(next(sizes)).exp().sum(), repetitions=3)

    assert {"work-varies", "calls-unmatched", "timed-from-python"} <= {
        c.code for c in profile.cautions
    }
    assert all(o.time_s is None for o in profile.operators if o.name == "aten.exp")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_profiler_of_the_users_own_is_left_alone():
    """Operators are timed from Python then, which is said."""
    layer, x = nn.Linear(4, 4), torch.randn(2, 4)
    with torch.autograd.profiler.profile(use_device=None) as own:
        profile = operators(layer, x, repetitions=3)

    assert "calls-unmatched" in {c.code for c in profile.cautions}
    assert len(own.function_events) > 0


def test_pytorch_without_the_profiler_that_is_known_is_timed_from_python(monkeypatch):
    """Its interface is not public, so that a version may be without it."""
    monkeypatch.delattr("torch.autograd._enable_profiler_legacy")
    profile = operators(nn.Linear(4, 4), torch.randn(2, 4), repetitions=3)

    assert "calls-unmatched" in {c.code for c in profile.cautions}
    assert all(o.time_s.n == 3 for o in profile.operators)


def test_measurement_inside_of_another_is_refused():
    """It would be part of what the other one measures."""
    layer, x = nn.Linear(4, 4), torch.randn(2, 4)
    with pytest.raises(CannotMeasure, match="another measurement is running"):
        operators(lambda y: operators(layer, y), x)


def test_what_the_library_says_is_kept_beside():
    """As its own counter says it, which knows nothing of most operators."""
    from torch.utils.flop_counter import FlopCounterMode

    model = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True)
    x = torch.randn(2, 8, 32)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    profile = operators(model, x, backward="sum", repetitions=3)

    assert profile.library_says == {"flop": counter.get_total_flops()}


def test_function_without_operators_is_a_profile_too():
    """It has none."""
    profile = operators(lambda y: None, torch.ones(2), repetitions=3)

    assert profile.operators == ()
    assert profile.attached_s.n == 3


def test_arrays_without_data_are_recorded_but_not_timed():
    """On the device "meta" nothing is computed, so that there is no time."""
    model = nn.Linear(1 << 20, 1 << 20, device="meta")
    profile = operators(model, torch.empty(1, 1 << 20, device="meta"))

    assert profile.timed is None
    assert profile.parameter_bytes == 4 * ((1 << 40) + (1 << 20))
    assert [(o.name, o.time_s) for o in profile.operators] == [
        ("aten.t", None),
        ("aten.addmm", None),
    ]


def test_imagined_arrays_have_no_time_either():
    """They know their shapes and nothing else."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(1000, 1000)
    profile = operators(lambda y: y @ y, x)

    assert (profile.timed, profile.operators[0].time_s) == (None, None)
    assert profile.operators[0].asked.work == {"fp32": 2e9}


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_arrays_of_several_lengths_have_unknown_work(layout):
    """What they hold is in their data."""
    x = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], layout=layout)
    profile = operators(lambda y: y * 2, x, repetitions=3)
    (product,) = (o for o in profile.operators if o.name == "aten.mul")

    assert product.call.inputs[0].nbytes == 5 * 4 * 4
    assert product.asked.work is None
    assert product.asked.unknown


def test_training_of_recurrent_layers_is_timed():
    """Products in place save a factor inside of their own event."""
    x = torch.randn(5, 3, 8)
    profile = operators(nn.GRU(8, 8), x, backward="sum", repetitions=3)

    assert profile.cautions == ()


def test_training_step_leaves_the_model_as_it_was():
    """Weights, statistics of batches, gradients and the optimizer's state."""
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters())
    before = {name: value.clone() for name, value in model.state_dict().items()}
    profile = operators(
        model, torch.randn(8, 4), backward="sum", optimizer=optimizer, repetitions=3
    )

    assert {o.phase for o in profile.operators} == {"forward", "backward", "optimizer"}
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert not optimizer.state_dict()["state"]
    assert profile.gradient_bytes == profile.parameter_bytes == (16 + 4 + 4 + 4) * 4


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (lambda x: x @ x[:1], {}, "raised RuntimeError"),
        (lambda x: torch.empty(1 << 48), {}, "use a smaller batch"),
        (lambda x: x.to("cuda:99"), {}, "raised"),
        (lambda x: x.detach(), {"backward": "sum"}, "no result of it has a gradient"),
        (lambda x: x, {"optimizer": torch.optim.SGD}, "no backward pass was asked for"),
        (lambda x: x, {"optimizer": 3, "backward": "sum"}, "is no optimizer"),
    ],
)
def test_what_cannot_be_profiled_is_an_error_that_says_why(function, options, said):
    """In one line, and with the cause attached."""
    with pytest.raises(CannotMeasure, match=said) as raised:
        operators(function, torch.randn(3, 5), **options)

    assert "\n" not in str(raised.value)


def test_recording_ends_when_the_program_raises():
    """Nothing of it stays attached."""

    def program():
        nn.Linear(2, 2)(torch.ones(1, 2))
        _ = 1 // 0

    recording = Recording()
    with pytest.raises(ZeroDivisionError), recording:
        program()
    seen = len(recording.operators())
    nn.Linear(2, 2)(torch.ones(1, 2))

    assert len(recording.operators()) == seen


def test_example_of_a_call_has_arrays_of_the_same_kind():
    """Strides, shared memory and values of integers are as they were."""
    from torch_calls import call_made

    from ridgepoint.profiling.operators.pytorch.survey import Survey

    big, table = torch.randn(1100, 1100), torch.randn(10, 4)
    at = torch.tensor([[1, 7], [9, 0]])
    survey = Survey(keeps_examples=True)
    recording = Recording(survey=survey)
    with recording:
        big.t() @ big
        nn.functional.embedding(at, table)
        torch.cat([big[:1], big[1:3]])
        at[:1].expand(3, 2) + 1
        torch.view_as_real(torch.ones(3, dtype=torch.complex64)) * 2
        torch.full((2,), 1.0, dtype=torch.float64)
    found = recording.operators()
    made = recording.examples(survey)
    kinds = {"aten.mm", "aten.embedding", "aten.cat", "aten.add", "aten.mul", "aten.full"}
    for operator, example in zip(found, made, strict=True):
        if example is None:
            continue  # a view
        arguments, options = example.build()
        name, overload = operator.call.name.removeprefix("aten."), operator.call.overload
        function = getattr(getattr(torch.ops.aten, name), overload)
        again = call_made(function, arguments, options, function(*arguments, **options))

        assert (again, again.sharing) == (operator.call, operator.call.sharing)
        kinds.discard(operator.name)
    (indices,) = (
        example.build()[0][1]
        for operator, example in zip(found, made, strict=True)
        if operator.name == "aten.embedding"
    )

    assert torch.equal(indices, at)
    assert not kinds


def test_bytes_from_outside_are_those_that_were_there_before_the_run():
    """Parameters and inputs, each once; of a table only rows, at least one."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer = nn.Embedding(1000, 8), nn.Linear(8, 8)

        def forward(self, at):
            return self.layer(self.layer(self.table(at)))

    at = torch.tensor([3, 4, 5])
    profile = operators(Model(), at, repetitions=3)

    assert profile.outer_bytes == 3 * 8 + 8 * 4 + (8 * 8 + 8) * 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # PyTorch's of its own
def test_compiled_model_shows_its_generated_kernels(tmp_path, monkeypatch):
    """With the bytes of their arrays, and the work of gelu (4 flop) and of a norm at least."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 64)).eval()
    profile = operators(torch.compile(model), torch.randn(32, 64), repetitions=3)
    product, fused = profile.operators

    assert (profile.program, profile.cautions) == ("Sequential", ())
    assert (product.name, product.calls, fused.name) == ("aten.addmm", 2, "inductor.fused")
    assert "gelu" in fused.call.options["instruction"]
    assert fused.asked.work["fp32"] > 32 * 64 * 8
    assert fused.asked.read_bytes == (32 * 64 + 64 + 64) * 4
    assert fused.asked.write_bytes >= 32 * 64 * 4
    assert fused.time_s.n == 3
