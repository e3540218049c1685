#include <wb/bench/array.h>

#include "kernels.h"

namespace wb::bench {

Array<float> random_normal(std::int64_t count, std::uint64_t seed) {
    Array<float> numbers(count);
    launch_fill_normal(numbers.data(), count, seed, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    return numbers;
}

}  // namespace wb::bench
