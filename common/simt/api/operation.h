#pragma once
// One piece of work for a stream: a kernel, a copy, a host function. It is run at once,
// or becomes a node of a graph when the stream is being captured.

#include <functional>
#include <memory>

#include "simt/api/graph_types.h"

namespace simt::detail {

/// Immutable, so that graphs and their executable copies can share it.
class Operation {
 public:
    virtual ~Operation() = default;
    virtual cudaGraphNodeType type() const = 0;

    /// Whether CUDA would accept it; asked when a node is added or changed.
    virtual cudaError_t check() const { return cudaSuccess; }

    /// Whether the call that issues it returns only when it is done, although the
    /// stream is asynchronous.
    virtual bool host_waits() const { return false; }

    /// Does the work, as part of `stream`.
    virtual cudaError_t run(cudaStream_t stream) const = 0;
};

using OperationPtr = std::shared_ptr<const Operation>;

/// Orders other work and does nothing itself.
class EmptyOperation : public Operation {
 public:
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeEmpty; }
    cudaError_t run(cudaStream_t) const override { return cudaSuccess; }
};

/// A call of a host function.
class HostOperation : public Operation {
 public:
    explicit HostOperation(const cudaHostNodeParams& params) : params_(params) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeHost; }
    cudaError_t check() const override {
        return params_.fn ? cudaSuccess : cudaErrorInvalidValue;
    }
    cudaError_t run(cudaStream_t) const override {
        params_.fn(params_.userData);
        return cudaSuccess;
    }
    const cudaHostNodeParams& params() const { return params_; }

 private:
    cudaHostNodeParams params_;
};

}  // namespace simt::detail
