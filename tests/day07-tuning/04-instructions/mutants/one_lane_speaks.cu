// Mutant: the lanes of a warp do not compare; the first one's worst counts
// Rejected by: worst_error: a function whose error is known
#include "instructions.h"

#define worst_error right_worst_error
#include "all_but_one.h"
#undef worst_error

template <class F>
__global__ void first_lanes_kernel(F,
                                   uint32_t first,
                                   uint64_t count,
                                   unsigned long long* worst) {
    const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const uint32_t bits = first + static_cast<uint32_t>(i);
        const float x = __uint_as_float(bits);
        mine = max(mine, packed(ulp_distance(F::value(x), F::exact(x)), bits));
    }
    if (threadIdx.x % wb::kWarpSize == 0) atomicMax(worst, mine);
}

void worst_error(Function,
                 uint32_t first,
                 uint64_t count,
                 unsigned long long* worst,
                 cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(worst, 0, sizeof *worst, stream));
    first_lanes_kernel<<<64, kThreads, 0, stream>>>(Coarse{}, first, count, worst);
    CUDA_CHECK_LAUNCH();
}
