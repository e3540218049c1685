#pragma once
// A kernel launch as an operation: the kernel by address, the arguments as bytes.

#include <memory>
#include <vector>

#include "core/devices.h"
#include "operation.h"
#include "simt/kernel_ref.h"

namespace simt::detail {

/// A kernel that was captured: the graph gives its address away, and its attributes may
/// be asked for, though nothing is known of its parameters.
void note_captured_kernel(const void* function);

/// True for the address of a kernel whose attributes may be asked for.
bool is_kernel(const void* function);

/// The error for an address that is not a kernel's, with a line on stderr.
cudaError_t not_a_kernel(const void* function);

/// Launches the kernel that `request` and `args` describe.
/// @returns what the launch left as the thread's error, not_a_kernel() for the address
///          of something else.
cudaError_t launch_kernel(const void* function, const LaunchRequest& request,
                          void** args);

/// A launch that was described by cudaKernelNodeParams. The arguments are copied.
class KernelOperation : public Operation {
 public:
    explicit KernelOperation(const cudaKernelNodeParams& params);
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeKernel; }
    cudaError_t check() const override;
    cudaError_t run(cudaStream_t stream) const override;
    /// With pointers to the copies of the arguments.
    const cudaKernelNodeParams& params() const { return params_; }

 private:
    int device_ = current_device();
    cudaKernelNodeParams params_;
    std::shared_ptr<void> storage_;  // the arguments, one after the other
    std::shared_ptr<std::vector<void*>> pointers_;  // to each of them
};

/// A launch that was captured: its arguments are known only to the code that repeats
/// it.
class CapturedKernelOperation : public Operation {
 public:
    CapturedKernelOperation(const cudaKernelNodeParams& params,
                            std::function<void(cudaStream_t)> work)
        : params_(params), work_(std::move(work)) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeKernel; }
    cudaError_t run(cudaStream_t stream) const override;
    /// kernelParams is null.
    const cudaKernelNodeParams& params() const { return params_; }

 private:
    cudaKernelNodeParams params_;
    std::function<void(cudaStream_t)> work_;
};

}  // namespace simt::detail
