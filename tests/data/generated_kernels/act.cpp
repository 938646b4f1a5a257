#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3700L); x0+=static_cast<int64_t>(16L))
        {
            {
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(3696L)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(16));
                    auto tmp1 = decltype(tmp0)(1)/(decltype(tmp0)(1) + tmp0.neg().exp());
                    auto tmp2 = tmp0.tanh();
                    auto tmp3 = tmp1 * tmp2;
                    auto tmp4 = tmp0.exp();
                    auto tmp5 = tmp0.abs();
                    auto tmp6 = tmp5.sqrt();
                    auto tmp7 = tmp4 / tmp6;
                    auto tmp8 = tmp3 + tmp7;
                    tmp8.store(out_ptr0 + static_cast<int64_t>(x0));
                }
                if(C10_UNLIKELY(x0 >= static_cast<int64_t>(3696L) && x0 < static_cast<int64_t>(3700L)))
                {
                    auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(4L));
                    auto tmp1 = decltype(tmp0)(1)/(decltype(tmp0)(1) + tmp0.neg().exp());
                    auto tmp2 = tmp0.tanh();
                    auto tmp3 = tmp1 * tmp2;
                    auto tmp4 = tmp0.exp();
                    auto tmp5 = tmp0.abs();
                    auto tmp6 = tmp5.sqrt();
                    auto tmp7 = tmp4 / tmp6;
                    auto tmp8 = tmp3 + tmp7;
                    tmp8.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(4L));
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
