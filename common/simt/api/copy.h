#pragma once
// Copies and fills as operations of a stream.

#include <memory>
#include <vector>

#include "operation.h"
#include "simt/api/memcpy.h"

namespace simt::detail {

/// A copy of up to three dimensions.
class CopyOperation : public Operation {
 public:
    /// @param call  the function's name, for messages
    CopyOperation(const char* call, const cudaMemcpy3DParms& params);

    /// One row of bytes.
    static CopyOperation linear(const char* call, void* dst, const void* src,
                                size_t bytes, cudaMemcpyKind kind);
    /// Rows that start one pitch apart.
    static CopyOperation rows(const char* call, void* dst, size_t dst_pitch,
                              const void* src, size_t src_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind);

    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemcpy; }
    /// True if one end is host memory that is not pinned.
    bool host_waits() const override;
    /// True if both ends are memory of devices: no call waits for such a copy, not even
    /// cudaMemcpy() ("API synchronization behavior").
    bool stays_on_devices() const;
    cudaError_t check() const override;
    cudaError_t run(cudaStream_t stream) const override;
    const cudaMemcpy3DParms& params() const { return params_; }
    const char* call() const { return call_; }

 private:
    const char* call_;
    cudaMemcpy3DParms params_;  // without arrays: they are resolved to memory
    bool valid_arrays_;
};

/// What is left of a row's copy from host memory that is not pinned to the device when
/// the host has read it. The call returns then: the copy may land later.
///
/// Source   CUDA Runtime API, "API synchronization behavior"
class StagedCopy : public CopyOperation {
 public:
    /// Whether the copy is of that kind.
    static bool serves(const CopyOperation& copy);
    /// Reads the source. The copy has been checked.
    explicit StagedCopy(const CopyOperation& copy);

    bool host_waits() const override { return false; }

 private:
    using Bytes = std::shared_ptr<const std::vector<char>>;
    StagedCopy(const CopyOperation& copy, Bytes bytes);
    Bytes bytes_;
};

/// A fill of rows with one value of 1, 2 or 4 bytes.
class FillOperation : public Operation {
 public:
    FillOperation(const char* call, const cudaMemsetParams& params)
        : call_(call), params_(params) {}

    cudaGraphNodeType type() const override { return cudaGraphNodeTypeMemset; }
    cudaError_t check() const override;
    cudaError_t run(cudaStream_t stream) const override;
    const cudaMemsetParams& params() const { return params_; }

 private:
    const char* call_;
    cudaMemsetParams params_;
};

}  // namespace simt::detail
