// Launches that may begin before the one before them has ended.
#include "planted.h"

using planted::numbered;
using planted::unset;

namespace {

/// Launches a kernel with the attribute "programmatic stream serialization".
template <class... P, class... A>
void launch_early(void (*kernel)(P...), A... arguments) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace

__global__ void twice(const int* x, int* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];  // nobody_waits_for_the_launch_before
}
PLANTED(race, nobody_waits_for_the_launch_before) {
    int* const y = unset<int>(64);
    twice<<<2, 32>>>(numbered<int>(64), y);
    launch_early(twice, static_cast<const int*>(y), unset<int>(64));
}

/// Reads what no launch writes before it waits.
__global__ void add(const int* x, const int* y, int* z) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const int mine = x[i];
    cudaGridDependencySynchronize();
    z[i] = mine + y[i];
}
PLANTED(none, waits_for_the_launch_before) {
    const int* const x = numbered<int>(64);
    int* const y = unset<int>(64);
    int* const z = unset<int>(64);
    twice<<<2, 32>>>(x, y);
    launch_early(add, x, static_cast<const int*>(y), z);
    launch_early(add, x, static_cast<const int*>(z), y);
}

__global__ void add_by_ptx(const int* x, int* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    y[i] += x[i];
}
PLANTED(none, waits_for_the_launch_before_by_ptx) {
    int* const y = unset<int>(64);
    twice<<<2, 32>>>(numbered<int>(64), y);
    launch_early(add_by_ptx, static_cast<const int*>(y), y);
}

__global__ void waits_too_late(int* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 0;  // waits_after_it_has_written
    cudaGridDependencySynchronize();
}
PLANTED(race, waits_after_it_has_written) {
    int* const y = numbered<int>(64);
    twice<<<2, 32>>>(y, unset<int>(64));
    launch_early(waits_too_late, y);
}

// With a copy, or the host, between the two there is nothing to wait for.
PLANTED(none, the_host_has_waited_for_the_launch_before) {
    int* const y = unset<int>(64);
    int* const z = unset<int>(64);
    twice<<<2, 32>>>(numbered<int>(64), y);
    cudaDeviceSynchronize();
    launch_early(twice, static_cast<const int*>(y), z);
    cudaMemcpyAsync(y, z, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
    launch_early(twice, static_cast<const int*>(y), z);
}
