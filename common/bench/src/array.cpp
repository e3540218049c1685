#include <wb/bench/array.h>
#include <wb/bench/random_numbers.h>

#include "kernels.h"

namespace wb::bench {

Array<float> random_normal(std::int64_t count, std::uint64_t seed) {
    Array<float> numbers(count);
    launch_fill_normal(numbers.data(), count, seed, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    return numbers;
}

void round_to_16_bits(const float* wide, void* narrow, int64_t n, bool bfloat16) {
    launch_narrow(wide, narrow, n, bfloat16, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
}

}  // namespace wb::bench
