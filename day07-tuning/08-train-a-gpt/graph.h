/// graph.h: given with this exercise: some hundred launches as one. There is nothing to
/// write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>

/// What a function queues on a stream, recorded once (day 7, chapter 06): from then on
/// the host does not check arguments, nor make tensor maps, for each launch again.
/// Arguments are those of the recording: arrays must stay where they are.
class RecordedStep {
 public:
    /// @param queue  called once with a stream; nothing runs yet. It must have run once
    ///               before: kernels are loaded when they are first launched
    template <class Queue>
    explicit RecordedStep(Queue queue) {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        CUDA_CHECK(cudaStreamCreate(&stream));
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        queue(stream);
        CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
        CUDA_CHECK(cudaGraphInstantiate(&launchable_, graph, 0));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }
    ~RecordedStep() { (void)cudaGraphExecDestroy(launchable_); }  // it cannot throw
    RecordedStep(const RecordedStep&) = delete;
    RecordedStep& operator=(const RecordedStep&) = delete;

    void launch(cudaStream_t stream) const {
        CUDA_CHECK(cudaGraphLaunch(launchable_, stream));
    }

 private:
    cudaGraphExec_t launchable_ = nullptr;
};
