#include "kernel_operation.h"

#include <cstring>
#include <mutex>
#include <new>
#include <unordered_set>

#include "call.h"
#include "core/devices.h"

namespace simt::detail {
namespace {

// Enough for every type that a kernel can take.
constexpr size_t kArgumentAlignment = 64;

size_t aligned(size_t bytes) {
    return (bytes + kArgumentAlignment - 1) / kArgumentAlignment * kArgumentAlignment;
}

/// Runs `launch`, which reports through the thread's last error, and gives that error
/// back; an older error stays in place.
template <class Launch>
cudaError_t error_of(Launch launch) {
    const cudaError_t before = take_error();
    launch();
    const cudaError_t error = last_error();
    if (error == cudaSuccess) set_error(before);
    return error;
}

struct Captured {
    std::mutex mutex;
    std::unordered_set<const void*> kernels;
};

// Never destroyed, as the table of kernels.
Captured& captured() {
    static Captured* const instance = new Captured;
    return *instance;
}

}  // namespace

void note_captured_kernel(const void* function) {
    if (!function) return;
    const std::lock_guard lock(captured().mutex);
    captured().kernels.insert(function);
}

bool is_kernel(const void* function) {
    if (find_kernel(function)) return true;
    const std::lock_guard lock(captured().mutex);
    return captured().kernels.contains(function);
}

cudaError_t not_a_kernel(const void* function) {
    hint("%p is not the address of a kernel that the simulator knows", function);
    // Other addresses are taken for handles of kernels, as seen on an H100.
    return function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
}

cudaError_t launch_kernel(const void* function, const LaunchRequest& request,
                          void** args) {
    const KernelEntry* entry = find_kernel(function);
    if (!entry) return not_a_kernel(function);
    if (entry->num_params > 0 && !args) return cudaErrorInvalidValue;
    return error_of([&] { entry->launch(*entry, request, args); });
}

KernelOperation::KernelOperation(const cudaKernelNodeParams& params) : params_(params) {
    const KernelEntry* entry = find_kernel(params.func);
    if (!entry || !params.kernelParams) return;
    size_t bytes = kArgumentAlignment;
    for (size_t i = 0; i < entry->num_params; ++i)
        bytes += aligned(entry->param_sizes[i]);
    constexpr std::align_val_t kAlignment{kArgumentAlignment};
    storage_ = std::shared_ptr<void>(
        ::operator new(bytes, kAlignment),
        [](void* memory) { ::operator delete(memory, kAlignment); });
    pointers_ = std::make_shared<std::vector<void*>>();
    char* next = static_cast<char*>(storage_.get());
    for (size_t i = 0; i < entry->num_params; ++i) {
        std::memcpy(next, params.kernelParams[i], entry->param_sizes[i]);
        pointers_->push_back(next);
        next += aligned(entry->param_sizes[i]);
    }
    pointers_->push_back(nullptr);
    params_.kernelParams = pointers_->data();
}

cudaError_t KernelOperation::check() const {
    const KernelEntry* entry = find_kernel(params_.func);
    if (!entry) return not_a_kernel(params_.func);
    if (params_.extra) {
        hint("cudaKernelNodeParams::extra is not supported: use kernelParams");
        return cudaErrorNotSupported;
    }
    return entry->num_params > 0 && !params_.kernelParams ? cudaErrorInvalidValue
                                                          : cudaSuccess;
}

cudaError_t KernelOperation::run(cudaStream_t stream) const {
    const OnDevice scope(device_);
    const LaunchRequest request = {params_.gridDim,
                                   params_.blockDim,
                                   params_.sharedMemBytes,
                                   stream,
                                   false,
                                   "a graph",
                                   0};
    return launch_kernel(params_.func, request, params_.kernelParams);
}

cudaError_t CapturedKernelOperation::run(cudaStream_t stream) const {
    return error_of([&] { work_(stream); });
}

}  // namespace simt::detail
