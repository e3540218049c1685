/// device_status.h: what kernels report of wrong inputs, in a struct on the device
/// whose `fault` is 0 while nothing is.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

namespace wb {

/// What kernels of the stream have reported until now; on the device, a fault is then
/// forgotten. Waits for the stream.
template <class Status>
Status take_status(Status* on_device, cudaStream_t stream) {
    Status status;
    CUDA_CHECK(cudaMemcpyAsync(
        &status, on_device, sizeof(status), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    if (status.fault == 0) return status;
    CUDA_CHECK(cudaMemsetAsync(on_device, 0, sizeof(status), stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return status;
}

}  // namespace wb
