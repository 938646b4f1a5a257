"""Work of generated kernels, counted in sources that PyTorch 2.13.0's compiler wrote."""

from pathlib import Path

import pytest
from operator_calls import call, tensor

from ridgepoint.demands.operators import asked_of
from ridgepoint.demands.operators.generated import work_of_source
from ridgepoint.demands.operators.inductor import options_of
from ridgepoint.demands.operators.rule import NoRule

SOURCES = Path(__file__).parents[1] / "data" / "generated_kernels"
N, ROWS = 37 * 100, 37


@pytest.mark.parametrize(
    ("name", "work", "functions"),
    [
        # sigmoid 2, a product, a root, a quotient, a sum.
        ("act", {"fp32": 6 * N}, 3 * N),
        # 2 x + 1, of bf16 in fp32.
        ("bf16", {"fp32": 2 * N}, 0),
        # Less the greatest, summed, divided.
        ("softmax", {"fp32": 3 * N}, N),
        # A sum; deviations from a mean that is divided for each element, squared and summed; 100
        # divisions at the end.
        ("var", {"fp32": 5 * N + 100}, 0),
        # gelu, 4, computed three times; a sum; deviations, squared and summed; scaled deviations.
        # Of each row a division, and 4 for its scale in each of seven vectors.
        ("gelu_ln", {"fp32": (3 * 4 + 1 + 3 + 2) * N + ROWS + 4 * 7 * ROWS}, 3 * N),
        # Tiles of 16 by 16: 4 for each of 4 x 16 x 256 elements, 4 for the scale of a vector.
        ("batch_norm", {"fp32": 4 * 16384 + 4 * 1024}, 0),
        # 2 x and x + 1, joined, and exp of both.
        ("joined", {"fp32": 2 * N}, 2 * N),
    ],
)
def test_work_is_what_the_source_says(name, work, functions):
    """By hand, from arrays of 37 by 100 elements and vectors of 16, with a shorter last one."""
    assert work_of_source((SOURCES / f"{name}.cpp").read_text()) == (work, functions)


def test_threads_do_not_change_the_work():
    """Sums of partial sums are left out."""
    source = """void kernel(const float* in_ptr0, float* out_ptr0)
{
    {
        float tmp_acc0_arr[2];
        #pragma omp parallel
        {
            #pragma omp for
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(64L); x0+=static_cast<int64_t>(16L))
            {
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                tmp_acc0_vec_local = tmp_acc0_vec_local + tmp0;
            }
        }
        for (int tid = 0; tid < 2; tid++)
        {
            tmp_acc0 = tmp_acc0 + tmp_acc0_arr[tid];
        }
    }
}
"""  # noqa: E501

    assert work_of_source(source) == ({"fp32": 64}, 0)


_LOOP = "for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>({}); x0+=1L)"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (_LOOP.format("ks0") + "\n{\nauto tmp1 = tmp0 + tmp0;\n}", "no fixed length"),
        (_LOOP.format("8L") + "\n{\nauto tmp1 = surprise(in_ptr0[x0]);\n}", "surprise"),
        (_LOOP.format("8L") + "\n{\ntmp1 *= tmp0;\n}", "statement 'tmp1 \\*= tmp0'"),
        (_LOOP.format("8L") + "\n{\n(tmp0 + tmp1).store(out_ptr0 + x0);\n}", "statement"),
        (
            _LOOP.format("8L")
            + "\n{\nauto tmp0 = in_ptr0[x0];\nauto tmp2 = [&]\n{\n"
            + "auto tmp1 = float(tmp0 + tmp0);\nreturn tmp1;\n}\n;\n}",
            "by its data",
        ),
    ],
)
def test_what_is_not_understood_is_unknown(body, why):
    """Dynamic shapes, unknown functions and statements, and elements under a mask."""
    with pytest.raises(NoRule, match=why):
        work_of_source("void kernel(const float* in_ptr0)\n{\n" + body + "\n}\n")


def test_a_generated_kernel_has_the_work_of_its_source_and_the_bytes_of_its_arrays():
    """What a recording passes on to the rule."""
    x = tensor(37, 100)
    options = options_of((SOURCES / "softmax.cpp").read_text())
    asked = asked_of(call("inductor.fused", x, out=x, overload="cpp_fused__softmax_0", **options))

    assert (asked.kind, asked.work, asked.functions) == ("fused", {"fp32": 3 * N}, N)
    assert (asked.read_bytes, asked.write_bytes) == (x.nbytes, x.nbytes)


def test_a_kernel_that_is_not_understood_has_bytes_and_a_reason():
    """The name of the kernel says what it fuses."""
    options = options_of("void kernel()\n{\nfor (;;)\n{\n}\n}\n")
    asked = asked_of(call("inductor.fused", tensor(5), out=tensor(5), overload="k", **options))

    assert (asked.work, asked.moved_bytes) == (None, 40)
    assert "the work of k" in asked.unknown
