"""What compiled programs of JAX ask for, against sums by hand of the programs' own shapes."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgepoint.demands.operators.hlo.asked import (
    asked_of_instruction,
    call_of,
    outer_bytes,
)
from ridgepoint.demands.operators.hlo.program import steps_of
from ridgepoint.demands.operators.hlo.scopes import (
    Scope,
    common_scope,
    fused_modules,
    scope_named,
    scopes_of,
)
from ridgepoint.demands.operators.hlo.text import Module, NotHlo, read_module

PROGRAMS = Path(__file__).parents[1] / "data/hlo"
F32 = 4


def program(name: str) -> Module:
    """Read a compiled program."""
    return read_module((PROGRAMS / f"{name}.txt").read_text())


def asked(name: str) -> dict[str, tuple]:
    """Return of each instruction that runs what it asks for, and how often it runs."""
    module = program(name)
    return {
        step.instruction.name: (
            asked_of_instruction(step.instruction, step.computation, module),
            step.times,
        )
        for step in steps_of(module)
    }


def total(name: str) -> tuple[float, float]:
    """Return flop in fp32 and evaluations of functions of a whole program."""
    every = asked(name).values()
    flop = sum(one.work.get("fp32", 0.0) * times for one, times in every)
    return flop, sum(one.functions * times for one, times in every)


def one_line(text: str, *before: str) -> Module:
    """Return a program of one instruction after the given ones."""
    lines = "\n".join(f"  {line}" for line in (*before, f"ROOT {text}"))
    return read_module(f"HloModule m\n\nENTRY %main () -> f32[] {{\n{lines}\n}}\n")


def last_asked(module: Module):
    """Return what the last instruction asks for."""
    entry = module.computations[module.entry]
    return asked_of_instruction(entry.instructions[entry.root], entry, module)


def test_two_products_and_a_softmax_are_the_sum_of_their_parts():
    """Each operation of the source is counted once, wherever XLA fused it."""
    products = 2 * 256 * 512 * 1024 + 2 * 256 * 1024 * 512
    bias, differences, quotients = 256 * 1024, 256 * 512, 256
    sums, scaled = 256 * (512 - 1), 256 * 512

    flop, functions = total("multilayer")

    assert flop == products + bias + differences + sums + quotients + scaled
    assert functions == 256 * 1024 + 256 * 512


def test_a_fusion_moves_its_own_inputs_and_results_alone():
    """What is made and used inside a fusion moves no bytes; a scalar is four bytes."""
    found, times = asked("multilayer")["ynn_fusion.1"]

    inputs = 1024 * 512 + 256 * 512 + 512 * 1024 + 1
    assert (found.read_bytes, found.write_bytes) == (inputs * F32, 256 * 512 * F32)
    assert (found.kind, times) == ("matrix product", 1)


def test_a_loop_of_known_length_runs_its_instructions_that_often():
    """Five steps: a product, a sum and tanh in each; the condition does not run."""
    parts = asked("loop")

    assert parts["ynn_fusion.1"][0].work == {"fp32": 2 * 64 * 128 * 128}
    assert parts["ynn_fusion.1"][1] == parts["wrapped_tanh"][1] == 5
    assert total("loop") == (5 * (2 * 64 * 128 * 128 + 64 * 128 - 1), 5 * 64 * 128)
    assert "wrapped_compare" not in parts


def test_a_loop_that_ends_as_the_data_say_runs_unknown_times():
    """The compiler knows no number, and neither do we."""
    parts = asked("until")

    assert parts["sine_add_fusion"][1] is None
    assert parts["sine_add_fusion"][0].work == {"fp32": 2 * 64 * 64}
    assert parts["while.5"][1] == 1


def test_a_program_on_several_devices_runs_on_each():
    """Two partitions of three replicas run every instruction six times."""
    text = (PROGRAMS / "multilayer.txt").read_text()
    module = read_module(text.replace("is_scheduled=true", "replica_count=3, num_partitions=2", 1))

    assert {step.times for step in steps_of(module)} == {6}


def test_branches_run_unknown_times():
    """Both branches are operators, and the data choose."""
    parts = asked("branch")

    assert parts["sort.0"][1] is None
    assert parts["ynn_fusion"][1] is None
    assert parts["ynn_fusion"][0].work == {"fp32": 2 * 64**3}
    assert parts["sort.0"][0].work == {}


def test_a_small_loop_in_one_kernel_is_the_sum_of_its_rounds():
    """Seven rounds of a multiplication, a sine and an addition on four numbers."""
    found, times = asked("small")["call"]

    assert (found.work, found.functions, times) == ({"fp32": 7 * 2 * 4}, 7 * 4, 1)


def taps_inside(size: int, out: int, *, window: int, stride: int, low: int) -> int:
    """Count pairs of output and tap inside the input along one dimension."""
    return sum(
        0 <= o * stride + tap - low < size
        for o, tap in itertools.product(range(out), range(window))
    )


def test_a_convolution_and_its_gradients_do_the_same_multiplications():
    """Each pair of input element and weight that meets is one multiply-add, in all three."""
    along = taps_inside(16, 8, window=3, stride=2, low=0)
    flop = 2 * along * along * 2 * 8 * 16

    parts = asked("convolution")

    assert along == 23
    for name in (
        "conv_general_dilated.3",
        "convolution-base-dilated",
        "convolution-window-dilated",
    ):
        assert parts[name][0].work == {"fp32": flop}


@given(
    size=st.integers(1, 9),
    window=st.integers(1, 5),
    stride=st.integers(1, 4),
    low=st.integers(-2, 5),
    holes=st.integers(1, 4),
    dilation=st.integers(1, 3),
    out=st.integers(1, 9),
)
def test_taps_are_those_of_a_count_one_by_one(size, window, stride, low, holes, dilation, out):
    """Padding and holes between elements are met by no multiplication."""
    text = (
        f"%c = f32[1,{out},1] convolution(%x, %w), window={{size={window} stride={stride} "
        f"pad={low}_0 lhs_dilate={holes} rhs_dilate={dilation}}}, dim_labels=b0f_0io->b0f"
    )
    before = (
        f"%x = f32[1,{size},1] parameter(0)",
        f"%w = f32[{window},1,1] parameter(1)",
    )
    with_holes = {at * holes for at in range(size)}
    met = sum(
        o * stride + tap * dilation - low in with_holes
        for o, tap in itertools.product(range(out), range(window))
    )

    work = last_asked(one_line(text, *before)).work

    assert work.get("fp32", 0) == 2 * met


def test_factorisations_are_counted_step_by_step():
    """Cholesky and LU of order 32, by adding up the operations of the textbook algorithms."""
    n, parts = 32, asked("algebra")
    cholesky = sum(1 + (n - k - 1) + sum(2 * (n - j) for j in range(k + 1, n)) for k in range(n))
    lu = sum((n - k - 1) + 2 * (n - k - 1) ** 2 for k in range(n))

    assert parts["cholesky.0"][0].work == {"fp32": pytest.approx(cholesky)}
    assert parts["lu.0"][0].work == {"fp32": lu}
    assert parts["triangular_solve.4"][0].work == {"fp32": n * n}


def test_a_transform_has_the_flop_of_split_radix():
    """Of 32 points: 456, as tables of the algorithm have it (real operations); 32 rows."""
    found, _ = asked("algebra")["fft.0"]

    assert found.work == {"fp32": 32 * 456}
    assert found.write_bytes == 32 * 32 * 8


def test_slices_and_updates_move_what_they_touch():
    """Eight rows of 64 are read and written; a block of 4 x 4 is updated in place."""
    parts = asked("indexing")

    rows = parts["gather_bitcast_fusion"][0]
    assert (rows.read_bytes, rows.write_bytes) == (8 * 64 * F32 + 8 * 4, 8 * 64 * F32)
    block = parts["select_dynamic-update-slice_fusion"][0]
    assert block.write_bytes == 4 * 4 * F32
    assert block.read_bytes == 4 * 4 * F32 + 2 * 4
    added = parts["wrapped_scatter"][0]
    assert added.work == {"fp32": 8 * 64}
    assert added.write_bytes == 8 * 64 * F32


def fusion(*lines: str, inputs: int, result: str) -> Module:
    """Return a program of one fusion of arrays of ten numbers."""
    given = [f"  %p{n} = f32[10] parameter({n})" for n in range(inputs)]
    inside = "\n".join((*given, *(f"  {line}" for line in lines)))
    names = ", ".join(f"%p{n}" for n in range(inputs))
    call = f"  ROOT %f = {result} fusion({names}), kind=kLoop, calls=%fused"
    entry = "\n".join((*given, call))
    return read_module(
        f"HloModule m\n\n%fused () -> {result} {{\n{inside}\n}}\n\n"
        f"ENTRY %main () -> {result} {{\n{entry}\n}}\n"
    )


def test_what_a_fusion_slices_away_is_not_computed():
    """Three of ten sums are needed, and three elements of both inputs."""
    module = fusion(
        "%s = f32[10] add(%p0, %p1)",
        "ROOT %t = f32[3] slice(%s), slice={[2:5]}",
        inputs=2,
        result="f32[3]",
    )
    found = last_asked(module)

    assert found.work == {"fp32": 3}
    assert (found.read_bytes, found.write_bytes) == (2 * 3 * F32, 3 * F32)
    assert outer_bytes(module) == 2 * 3 * F32


def test_two_slices_need_what_each_needs():
    """Two and three elements of an input of ten: five, and never more than all."""
    module = fusion(
        "%a = f32[2] slice(%p0), slice={[0:2]}",
        "%b = f32[3] slice(%p0), slice={[4:7]}",
        "ROOT %t = f32[5] concatenate(%a, %b), dimensions={0}",
        inputs=1,
        result="f32[5]",
    )

    assert last_asked(module).read_bytes == 5 * F32


def test_an_update_of_what_was_just_made_writes_all_of_it():
    """The ten products are computed and written, with two elements replaced."""
    module = fusion(
        "%m = f32[10] multiply(%p0, %p0)",
        "%u = f32[2] slice(%p1), slice={[0:2]}",
        "%i = s32[] constant(3)",
        "ROOT %d = f32[10] dynamic-update-slice(%m, %u, %i)",
        inputs=2,
        result="f32[10]",
    )
    found = last_asked(module)

    assert found.work == {"fp32": 10}
    assert (found.read_bytes, found.write_bytes) == (10 * F32 + 2 * F32, 10 * F32)


def test_inputs_that_several_instructions_read_count_once():
    """Both products of the gradient read the same input."""
    module = program("convolution")

    assert outer_bytes(module) == (2 * 16 * 16 * 8 + 3 * 3 * 8 * 16) * F32


def test_the_largest_of_a_row_are_found_by_comparing():
    """A selection has no flop, and is known."""
    found, _ = asked("indexing")["custom-call"]

    assert (found.work, found.kind, found.unknown) == ({}, "sort", "")


def test_complex_numbers_are_worked_out_in_real_ones():
    """A product is four multiplications and two additions, a sum two; the modulus a function."""
    flop, functions = total("spectrum")

    assert (flop, functions) == (100 * (6 + 2), 100)


def test_integers_have_no_flop_and_their_products_have_op():
    """An addition of integers is no flop; a product of matrices of bytes is op."""
    added = one_line("%a = s32[9] add(%x, %x)", "%x = s32[9] parameter(0)")
    product = one_line(
        "%d = s32[2,4] dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "%x = s8[2,3] parameter(0)",
        "%y = s8[3,4] parameter(1)",
    )

    assert last_asked(added).work == {}
    assert last_asked(product).work == {"int8": 2 * 2 * 3 * 4}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("%a = f8e4m3fn[4] add(%x, %x)", "no ceiling"),
        ('%a = f32[4] custom-call(%x), custom_call_target="mine"', "mine"),
        ("%a = f32[4] unheard-of(%x)", "no rule"),
        ("%a = f32[<=4] add(%x, %x)", "depends on data"),
    ],
)
def test_what_no_rule_knows_is_unknown_and_says_why(text, why):
    """Never 0."""
    found = last_asked(one_line(text, "%x = f32[4] parameter(0)"))

    assert found.work is None
    assert why in found.unknown


def test_exchanges_between_devices_are_unknown_and_with_itself_a_copy():
    """How fast the links are is not known here; one device alone needs none."""
    text = (
        "HloModule m, replica_count=%d\n\nENTRY %%main () -> f32[4] {\n"
        "  %%x = f32[4] parameter(0)\n  ROOT %%a = f32[4] all-reduce(%%x)\n}\n"
    )

    two, one = (last_asked(read_module(text % devices)) for devices in (2, 1))

    assert (two.work, two.kind) == (None, "communication")
    assert "between devices" in two.unknown
    assert (one.work, one.read_bytes, one.write_bytes) == ({}, 16, 16)


def test_an_operand_that_is_used_twice_is_read_once():
    """The sum of an array and itself reads it once."""
    found = last_asked(one_line("%a = f32[4] add(%x, %x)", "%x = f32[4] parameter(0)"))

    assert (found.read_bytes, found.write_bytes) == (16, 16)


@pytest.mark.parametrize(
    ("name", "module", "is_backward"),
    [
        ("jit(f)/first/dot_general", "first", False),
        ("jit(step)/jvp(Mlp)/Dense_0/dot_general", "Mlp.Dense_0", False),
        ("jit(step)/transpose(jvp(Mlp))/Dense_0/dot_general", "Mlp.Dense_0", True),
        ("jit(f)/transpose(jvp(block))/while/body/mlp/dot_general", "block.mlp", True),
        ("jit(f)/transpose(jvp(while))/body/closed_call/mlp/dot_general", "mlp", True),
        ("jit(f)/vmap(jvp(block))/mul", "block", False),
        ("jit(f)/jvp()/gt", "", False),
        ("jit(f)/jvp(jit(softmax))/exp", "", False),
        ("jit(f)/jvp(encoder/block)/mul", "encoder.block", False),
        ("jit(f)/head/cond/branch_2_fun/dot_general", "head", False),
        ("jit(f)/body/cond/dot_general", "body.cond", False),
        ("jit(f)/checkpoint/rematted_computation/mlp/dot_general", "mlp", False),
        ("jit(f)/jvp(mlp)/...qd,...kd->...qk/dot_general", "mlp", False),
        ("jit(f)/transpose(jvp(Mlp))/jvp(Mlp)/checkpoint/Dense_0/mul", "Mlp.Dense_0", True),
        (
            "jit(f)/transpose(jvp(a))/b/jvp(a)/b/checkpoint/rematted_computation/c/mul",
            "a.b.c",
            True,
        ),
        ("jit(f)/transpose(jvp(Mlp))/jvp(Mlp)/remat2", "Mlp", True),
        ("jit(f)/f(x)/mul", "f(x)", False),
        ("jit(f)/odd(name/mul", "odd(name", False),
        ("jit(f)/layer/transpose", "layer", False),
        ("reduce_sum", "", False),
        ("", "", False),
    ],
)
def test_scopes_are_modules_and_transposes_are_the_backward_pass(name, module, is_backward):
    """The names that a user gave are kept; those of transformations, loops and branches are not."""
    scope = scope_named(name)

    assert (scope.module, scope.is_backward) == (module, is_backward)


def test_names_are_read_as_xla_escapes_them():
    """As in C: quotes, and letters beyond ASCII by their bytes, in octal numbers or as they are."""
    module = one_line(
        r"""%a = f32[] add(%x, %x), metadata={op_name="it\'s \"a\"/\303\251t\303\251/é/add"}""",
        "%x = f32[] parameter(0)",
    )
    (step,) = steps_of(module)

    assert common_scope(scopes_of(step, module)).path == ('it\'s "a"', "été", "é")


def scopes_in(name: str) -> dict[str, dict[str, float]]:
    """Return of each instruction that runs the shares of its work by module."""
    module = program(name)
    return {
        step.instruction.name: {
            scope.module: share for scope, share in scopes_of(step, module).items()
        }
        for step in steps_of(module)
    }


def test_a_fusion_belongs_to_the_modules_of_what_it_fuses():
    """Both products have 2 x 256 x 512 x 1024 flop: the kernel is of no module alone.

    The first has a bias and tanh of each of 256 x 1024 numbers besides, the second a difference and
    exp of each of 256 x 512. XLA calls the kernel after the second one.
    """
    product = 2 * 256 * 512 * 1024
    first, second = product + 2 * 256 * 1024, product + 2 * 256 * 512

    shares = scopes_in("multilayer")

    assert shares["ynn_fusion.1"] == {
        "first": pytest.approx(first / (first + second)),
        "second": pytest.approx(second / (first + second)),
    }
    assert shares["broadcast_divide_fusion"] == {"second": 1.0}


def test_a_kernel_is_of_the_innermost_module_with_nine_tenths_of_its_work():
    """A residual connection does not take a product away from its layer."""
    dense, block, other = Scope(("block", "dense")), Scope(("block",)), Scope(("head",), True)

    assert common_scope({dense: 0.95, other: 0.05}).path == ("block", "dense")
    assert common_scope({dense: 0.5, block: 0.45, other: 0.05}).path == ("block",)
    assert common_scope({dense: 0.5, other: 0.5}) == Scope((), True)
    assert common_scope({}) == Scope(())
    assert fused_modules({dense: 0.5, block: 0.45, other: 0.05}) == ("block.dense", "block")


def test_a_kernel_without_work_is_of_the_module_that_makes_most_of_its_results():
    """A copy of ten numbers in one scope, and a slice of one in another."""
    module = fusion(
        '%c = f32[10] copy(%p0), metadata={op_name="jit(f)/a/copy"}',
        '%s = f32[1] slice(%p0), slice={[0:1]}, metadata={op_name="jit(f)/b/slice"}',
        "ROOT %t = (f32[10], f32[1]) tuple(%c, %s)",
        inputs=1,
        result="(f32[10], f32[1])",
    )
    (step,) = steps_of(module)

    assert common_scope(scopes_of(step, module)).path == ("a",)


def test_what_has_no_name_is_of_the_loop_around_it():
    """XLA adds copies without names; outside of all loops they are of no module."""
    module = read_module(
        "HloModule m\n\n%body () -> f32[4] {\n  %p = f32[4] parameter(0)\n"
        "  ROOT %c = f32[4] copy(%p)\n}\n\n%cond () -> pred[] {\n"
        "  ROOT %t = pred[] constant(true)\n}\n\nENTRY %main () -> f32[4] {\n"
        "  %x = f32[4] parameter(0)\n  %y = f32[4] copy(%x)\n"
        "  ROOT %w = f32[4] while(%y), condition=%cond, body=%body, "
        'metadata={op_name="jit(f)/layers/while"}\n}\n'
    )
    paths = {
        step.instruction.name: common_scope(scopes_of(step, module)).path
        for step in steps_of(module)
    }

    assert paths == {"y": (), "w": ("layers",), "c": ("layers",)}


def test_a_call_says_what_it_fuses():
    """The most frequent first; constants and parameters are not operations."""
    module = program("multilayer")
    entry = module.computations[module.entry]

    call = call_of(entry.instructions["ynn_fusion.1"], entry, module)

    assert call.name == "hlo.fusion"
    assert call.options["fuses"].startswith("dot 2, broadcast 2, add 1, tanh 1")
    assert [tensor.shape for tensor in call.outputs] == [(256, 512)]


@pytest.mark.parametrize("text", ["", "HloModule m", "HloModule m\n\nENTRY %main () -> f32[] {\n"])
def test_what_is_no_program_is_refused(text):
    """A text without an entry, or cut off, is not read as an empty program."""
    with pytest.raises(NotHlo):
        read_module(text)
