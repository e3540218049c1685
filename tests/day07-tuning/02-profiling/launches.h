/// launches.h: what a launcher launches, found by capturing it into a graph: how many
/// kernels, and how many warps of them a multiprocessor can hold at a time.
#pragma once

#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/errors.h>

#include <cstdint>
#include <functional>
#include <vector>

/// One kernel as it was launched.
struct LaunchedKernel {
    int64_t blocks;    ///< of the whole grid
    int threads;       ///< of a block
    size_t shared;     ///< bytes of a block that the launch asked for
    int registers;     ///< of a thread; the simulator does not know: 32
    double occupancy;  ///< warps that fit a multiprocessor at a time, over the places
};

/// What a launcher has queued.
struct Launched {
    std::vector<LaunchedKernel> kernels;
    size_t others = 0;  ///< copies, fills and the like
};

/// What the runtime says of a kernel with these blocks.
inline LaunchedKernel examine(const cudaKernelNodeParams& node) {
    LaunchedKernel kernel{};
    kernel.blocks = int64_t{node.gridDim.x} * node.gridDim.y * node.gridDim.z;
    kernel.threads =
        static_cast<int>(node.blockDim.x * node.blockDim.y * node.blockDim.z);
    kernel.shared = node.sharedMemBytes;
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, node.func));
    kernel.registers = attributes.numRegs;
    int resident = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, node.func, kernel.threads, kernel.shared));
    int places = 0;
    CUDA_CHECK(
        cudaDeviceGetAttribute(&places, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    kernel.occupancy = static_cast<double>(resident) * kernel.threads / places;
    return kernel;
}

/// Captures what `launch` queues, without running it. Throws wb::CudaError if that is
/// not possible: a launcher must not wait, nor allocate.
inline Launched launched_by(const std::function<void(cudaStream_t)>& launch) {
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
        launch(stream);
    } catch (...) {  // not written yet, say: nothing may be left in capture
        (void)cudaStreamEndCapture(stream, &graph);
        (void)cudaGetLastError();
        throw;
    }
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    CUDA_CHECK(cudaGraphGetNodes(graph, nodes.data(), &count));
    Launched all;
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        CUDA_CHECK(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel) {
            ++all.others;
            continue;
        }
        cudaKernelNodeParams params{};
        CUDA_CHECK(cudaGraphKernelNodeGetParams(node, &params));
        all.kernels.push_back(examine(params));
    }
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
    return all;
}
