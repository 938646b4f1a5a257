"""Kernels that PyTorch's compiler generates, read from what it writes."""

import pytest

pytest.importorskip("torch")

from ridgepoint.profiling.operators.pytorch.compiled import Kernel, kernels_of

SOURCE = """
cpp_fused_gelu_0 = async_compile.cpp_pybinding(['float*', 'float*', 'const float*', 'const int64_t'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(float* in_out_ptr0,
                       float* in_out_ptr1,
                       const float* in_ptr1,
                       float* out_ptr1,
                       const int64_t ks0)
{
    auto out_ptr0 = in_out_ptr0;
    auto in_ptr0 = in_out_ptr1;
}
''')

cpp_fused_add_1 = async_compile.cpp_pybinding(['const float*', 'float*'], '''
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
}
''')
"""  # noqa: E501 - as PyTorch 2.13.0 writes it


def test_arrays_are_read_or_written_as_the_signature_says():
    """An output that only has a name of both kinds is not read."""
    assert list(kernels_of(SOURCE)) == [
        Kernel("cpp_fused_gelu_0", reads=(1, 2), writes=(0, 1, 3)),
        Kernel("cpp_fused_add_1", reads=(0,), writes=(1,)),
    ]
