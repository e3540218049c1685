// The calls by which a launcher asks about its GPU lead here: the linker's --wrap puts
// __wrap_f() where a program calls f(), and f() where __real_f() is called. Else a test
// of what a launcher does with few multiprocessors, or with little shared memory, would
// be one in the simulator alone.
#include "pretended_gpu.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <climits>

namespace wb::testing {
namespace {

thread_local bool wants_truth = false;

/// Never more than there is.
template <class T>
void lower(T& value, const std::atomic<int>& pretended) {
    if (pretended > 0 && !wants_truth)
        value = std::min(value, static_cast<T>(pretended));
}

/// An older GPU than there is.
void make_older(int& major, int& minor) {
    int both = 10 * major + minor;
    lower(both, PretendedGpu::instance().compute_capability);
    major = both / 10;
    minor = both % 10;
}

/// Whether a kernel may not have so much shared memory: no GPU has more than INT_MAX.
bool is_too_much(int bytes) {
    int most = INT_MAX;
    lower(most, PretendedGpu::instance().shared_bytes);
    return bytes > most;
}

}  // namespace

PretendedGpu& PretendedGpu::instance() {
    static PretendedGpu gpu;
    return gpu;
}

TrueGpu::TrueGpu() {
    wants_truth = true;
}

TrueGpu::~TrueGpu() {
    wants_truth = false;
}

}  // namespace wb::testing

using namespace wb::testing;

#if CUDART_VERSION >= 13000
#define WB_WRAPPED_PROPERTIES __wrap_cudaGetDeviceProperties
#define WB_REAL_PROPERTIES __real_cudaGetDeviceProperties
#else
#define WB_WRAPPED_PROPERTIES __wrap_cudaGetDeviceProperties_v2
#define WB_REAL_PROPERTIES __real_cudaGetDeviceProperties_v2
#endif

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's.
cudaError_t __real_cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t __real_cudaFuncSetAttribute(const void*, cudaFuncAttribute, int);
cudaError_t WB_REAL_PROPERTIES(cudaDeviceProp*, int);

cudaError_t __wrap_cudaDeviceGetAttribute(int* value,
                                          cudaDeviceAttr which,
                                          int device) {
    const cudaError_t error = __real_cudaDeviceGetAttribute(value, which, device);
    if (error != cudaSuccess) return error;
    const auto& gpu = PretendedGpu::instance();
    if (which == cudaDevAttrMultiProcessorCount) lower(*value, gpu.multiprocessors);
    if (which == cudaDevAttrMaxSharedMemoryPerBlockOptin)
        lower(*value, gpu.shared_bytes);
    if (which == cudaDevAttrL2CacheSize) lower(*value, gpu.l2_bytes);
    const bool is_major = which == cudaDevAttrComputeCapabilityMajor;
    if (is_major || which == cudaDevAttrComputeCapabilityMinor) {
        int numbers[2] = {};
        for (const int i : {0, 1})
            (void)__real_cudaDeviceGetAttribute(&numbers[i],
                                                i == 0
                                                    ? cudaDevAttrComputeCapabilityMajor
                                                    : cudaDevAttrComputeCapabilityMinor,
                                                device);
        make_older(numbers[0], numbers[1]);
        *value = numbers[is_major ? 0 : 1];
    }
    return error;
}

cudaError_t WB_WRAPPED_PROPERTIES(cudaDeviceProp* properties, int device) {
    const cudaError_t error = WB_REAL_PROPERTIES(properties, device);
    if (error != cudaSuccess) return error;
    const auto& gpu = PretendedGpu::instance();
    lower(properties->multiProcessorCount, gpu.multiprocessors);
    lower(properties->sharedMemPerBlockOptin, gpu.shared_bytes);
    lower(properties->l2CacheSize, gpu.l2_bytes);
    make_older(properties->major, properties->minor);
    return error;
}

/// Refuses more shared memory than there is said to be, as the GPU would: by asking it
/// for more than any has.
cudaError_t __wrap_cudaFuncSetAttribute(const void* kernel,
                                        cudaFuncAttribute which,
                                        int value) {
    const bool is_refused =
        which == cudaFuncAttributeMaxDynamicSharedMemorySize && is_too_much(value);
    return __real_cudaFuncSetAttribute(kernel, which, is_refused ? INT_MAX : value);
}
// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
