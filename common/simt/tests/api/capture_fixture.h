#pragma once
// What the tests of stream capture do all the time.

#include "check.h"

namespace check {

static __global__ void add(int* x, int v) {
    x[threadIdx.x] += v;
}

/// A stream, a buffer of 32 zeros, and what tests of captures do all the time.
struct CaptureFixture {
    cudaStream_t stream = nullptr;
    cudaStream_t other = nullptr;
    cudaEvent_t event = nullptr;
    int* p = nullptr;
    CaptureFixture() {
        cudaStreamCreate(&stream);
        cudaStreamCreate(&other);
        cudaEventCreate(&event);
        cudaMalloc(&p, 32 * sizeof(int));
        cudaMemset(p, 0, 32 * sizeof(int));
    }
    ~CaptureFixture() {
        cudaFree(p);
        cudaEventDestroy(event);
        cudaStreamDestroy(stream);
        cudaStreamDestroy(other);
        (void)cudaGetLastError();
    }
    int value() const {
        int got = -1;
        cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost);
        return got;
    }
    void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
        OK(cudaStreamBeginCapture(stream, mode));
    }
    cudaStreamCaptureStatus status() const {
        cudaStreamCaptureStatus result = cudaStreamCaptureStatusNone;
        OK(cudaStreamIsCapturing(stream, &result));
        return result;
    }
    /// Ends a capture that a forbidden call has broken.
    void end_broken(int line) {
        verify(status() == cudaStreamCaptureStatusInvalidated,
               __FILE__,
               line,
               "the capture is invalidated");
        cudaGraph_t graph = nullptr;
        verify_error(cudaErrorStreamCaptureInvalidated,
                     cudaStreamEndCapture(stream, &graph),
                     __FILE__,
                     line,
                     "cudaStreamEndCapture");
        EXPECT(graph == nullptr);
        EXPECT(status() == cudaStreamCaptureStatusNone);
    }
    /// Ends a capture that is still whole.
    void end_whole(int line) {
        verify(status() == cudaStreamCaptureStatusActive,
               __FILE__,
               line,
               "the capture is active");
        cudaGraph_t graph = nullptr;
        verify_error(cudaSuccess,
                     cudaStreamEndCapture(stream, &graph),
                     __FILE__,
                     line,
                     "cudaStreamEndCapture");
        if (graph) cudaGraphDestroy(graph);
    }
};

}  // namespace check

using check::add;
using Fixture = check::CaptureFixture;
