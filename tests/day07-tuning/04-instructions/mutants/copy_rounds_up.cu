// Mutant: the last float4 is copied whole, over what lies behind the array
// Rejected by: copy_floats: every alignment, every length that a float4 may leave over
#include "instructions.h"

#define copy_floats right_copy_floats
#include "all_but_one.h"
#undef copy_floats

// #region bug
static __global__ void rounded_up_kernel(const float* in,
                                         float* out,
                                         int64_t n,
                                         int64_t head) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < (n - head + 3) / 4) {
        const auto* in4 = reinterpret_cast<const float4*>(in + head);
        auto* out4 = reinterpret_cast<float4*>(out + head);
        out4[i] = in4[i];
    }
    if (i < head) out[i] = in[i];
}
// #endregion bug

void copy_floats(const float* in, float* out, int64_t n, cudaStream_t stream) {
    const int64_t head = std::min(n, floats_to_boundary(out));
    if (floats_to_boundary(in) != floats_to_boundary(out))
        return copy_floats_v1(in, out, n, stream);
    const unsigned grid = wb::grid_size(n, kThreads);
    rounded_up_kernel<<<grid, kThreads, 0, stream>>>(in, out, n, head);
    CUDA_CHECK_LAUNCH();
}
