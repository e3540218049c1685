#pragma once
// Events as nodes of graphs.

#include "operation.h"
#include "stream.h"

namespace simt::detail {

/// Records an event whenever the graph runs.
class EventRecordOperation : public Operation {
 public:
    explicit EventRecordOperation(cudaEvent_t event) : event_(event) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeEventRecord; }
    cudaError_t check() const override {
        return is_event(event_) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    }
    cudaError_t run(cudaStream_t) const override {
        if (!is_event(event_)) return cudaErrorInvalidResourceHandle;
        stamp_event(event_);
        return cudaSuccess;
    }

 private:
    cudaEvent_t event_;
};

/// Waits for an event of other work, which has always run by then.
class EventWaitOperation : public Operation {
 public:
    explicit EventWaitOperation(cudaEvent_t event) : event_(event) {}
    cudaGraphNodeType type() const override { return cudaGraphNodeTypeWaitEvent; }
    cudaError_t check() const override {
        return is_event(event_) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    }
    cudaError_t run(cudaStream_t) const override { return check(); }

 private:
    cudaEvent_t event_;
};

}  // namespace simt::detail
