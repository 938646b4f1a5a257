#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const at::BFloat16* in_ptr0,
                       at::BFloat16* out_ptr0)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3700L); x0+=static_cast<int64_t>(32L))
        {
            {
                if(C10_LIKELY(x0 >= static_cast<int64_t>(0) && x0 < static_cast<int64_t>(3680L)))
                {
                    auto tmp0 = at::vec::Vectorized<at::BFloat16>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(32));
                    auto tmp1 = at::vec::convert<float,2,at::BFloat16,1>(tmp0);
                    auto tmp2 = static_cast<float>(2.0);
                    auto tmp3 = at::vec::VectorizedN<float,2>(tmp2);
                    auto tmp4 = tmp1 * tmp3;
                    auto tmp5 = static_cast<float>(1.0);
                    auto tmp6 = at::vec::VectorizedN<float,2>(tmp5);
                    auto tmp7 = tmp4 + tmp6;
                    auto tmp8 = at::vec::clamp_min(tmp7, decltype(tmp7)(0));
                    auto tmp9 = at::vec::convert<at::BFloat16,1,float,2>(tmp8);
                    tmp9.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(32));
                }
                if(C10_UNLIKELY(x0 >= static_cast<int64_t>(3680L) && x0 < static_cast<int64_t>(3700L)))
                {
                    auto tmp0 = at::vec::Vectorized<at::BFloat16>::loadu(in_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(20L));
                    auto tmp1 = at::vec::convert<float,2,at::BFloat16,1>(tmp0);
                    auto tmp2 = static_cast<float>(2.0);
                    auto tmp3 = at::vec::VectorizedN<float,2>(tmp2);
                    auto tmp4 = tmp1 * tmp3;
                    auto tmp5 = static_cast<float>(1.0);
                    auto tmp6 = at::vec::VectorizedN<float,2>(tmp5);
                    auto tmp7 = tmp4 + tmp6;
                    auto tmp8 = at::vec::clamp_min(tmp7, decltype(tmp7)(0));
                    auto tmp9 = at::vec::convert<at::BFloat16,1,float,2>(tmp8);
                    tmp9.store(out_ptr0 + static_cast<int64_t>(x0), static_cast<int64_t>(20L));
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
