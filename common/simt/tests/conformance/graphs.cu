// Graphs that decide: conditional nodes; memory of a graph's own.
#include "conformance.h"

using namespace conformance;

namespace {

/// Adds 1 and says whether the loop goes on.
__global__ void count_up(int* out, int limit, cudaGraphConditionalHandle handle) {
    ++*out;
    cudaGraphSetConditional(handle, *out < limit ? 1 : 0);
}
__global__ void choose(unsigned value, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, value);
}
__global__ void add_to(int* out, int value) {
    *out += value;
}

/// A graph and what launches it; `value` counts what ran.
struct Graph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    int* value = nullptr;

    Graph() {
        ok(cudaGraphCreate(&graph, 0));
        ok(cudaMallocManaged(&value, sizeof(int)));
        *value = 0;
    }
    ~Graph() {
        if (exec) cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
        cudaFree(value);
    }
    Graph(const Graph&) = delete;

    template <class... Parameters, class... Arguments>
    static cudaGraphNode_t kernel(cudaGraph_t to,
                                  cudaGraphNode_t after,
                                  void (*function)(Parameters...),
                                  Arguments... arguments) {
        void* all[] = {&arguments...};
        cudaKernelNodeParams params = {};
        params.func = reinterpret_cast<void*>(function);
        params.gridDim = dim3(1);
        params.blockDim = dim3(1);
        params.kernelParams = all;
        cudaGraphNode_t node = nullptr;
        ok(cudaGraphAddKernelNode(&node, to, &after, after ? 1 : 0, &params));
        return node;
    }
    cudaGraphConditionalHandle handle(unsigned at_launch, unsigned flags) {
        cudaGraphConditionalHandle made = 0;
        ok(cudaGraphConditionalHandleCreate(&made, graph, at_launch, flags));
        return made;
    }
    /// The bodies of a conditional node behind `after`.
    cudaGraph_t* conditional(cudaGraphConditionalHandle handle,
                             cudaGraphConditionalNodeType type,
                             unsigned size,
                             cudaGraphNode_t after = nullptr) {
        cudaGraphNodeParams params = {};
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = handle;
        params.conditional.type = type;
        params.conditional.size = size;
        cudaGraphNode_t node = nullptr;
        ok(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, &params));
        return params.conditional.phGraph_out;
    }
    int launch() {
        if (!exec) ok(cudaGraphInstantiate(&exec, graph, 0));
        ok(cudaGraphLaunch(exec, nullptr));
        ok(cudaDeviceSynchronize());
        return *value;
    }
};

}  // namespace

CONFORMANCE(a_while_node_runs_until_its_kernel_stops_it) {
    Graph g;
    const auto handle = g.handle(1, cudaGraphCondAssignDefault);
    cudaGraph_t* body = g.conditional(handle, cudaGraphCondTypeWhile, 1);
    Graph::kernel(body[0], nullptr, count_up, g.value, 10, handle);
    expect_equal(g.launch(), 10);
    *g.value = 7;
    expect_equal(g.launch(), 10);  // the default value starts it again
}

CONFORMANCE(a_while_node_may_not_run_at_all) {
    Graph g;
    const auto handle = g.handle(0, cudaGraphCondAssignDefault);
    cudaGraph_t* body = g.conditional(handle, cudaGraphCondTypeWhile, 1);
    Graph::kernel(body[0], nullptr, count_up, g.value, 10, handle);
    expect_equal(g.launch(), 0);
}

CONFORMANCE(an_if_node_asks_the_kernel_before_it) {
    for (const unsigned value : {0u, 5u}) {
        Graph g;
        const auto handle = g.handle(0, 0);
        const auto before = Graph::kernel(g.graph, nullptr, choose, value, handle);
        cudaGraph_t* body = g.conditional(handle, cudaGraphCondTypeIf, 1, before);
        Graph::kernel(body[0], nullptr, add_to, g.value, 100);
        expect_equal(g.launch(), value != 0 ? 100 : 0);
    }
}

CONFORMANCE(an_if_node_may_have_an_else) {
    for (const unsigned value : {0u, 1u}) {
        Graph g;
        const auto handle = g.handle(value, cudaGraphCondAssignDefault);
        cudaGraph_t* body = g.conditional(handle, cudaGraphCondTypeIf, 2);
        Graph::kernel(body[0], nullptr, add_to, g.value, 1);
        Graph::kernel(body[1], nullptr, add_to, g.value, 2);
        expect_equal(g.launch(), value != 0 ? 1 : 2);
    }
}

CONFORMANCE(a_switch_node_runs_one_body_or_none) {
    for (const unsigned value : {0u, 2u, 7u}) {
        Graph g;
        const auto handle = g.handle(value, cudaGraphCondAssignDefault);
        cudaGraph_t* body = g.conditional(handle, cudaGraphCondTypeSwitch, 3);
        for (int i = 0; i < 3; ++i)
            Graph::kernel(body[i], nullptr, add_to, g.value, 10 + i);
        expect_equal(g.launch(), value < 3 ? 10 + static_cast<int>(value) : 0);
    }
}

CONFORMANCE(a_graphs_memory_may_be_freed_outside_and_allocated_again) {
    Graph g;
    cudaMemAllocNodeParams params = {};
    params.bytesize = sizeof(int);
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    cudaGraphNode_t allocation = nullptr;
    ok(cudaGraphAddMemAllocNode(&allocation, g.graph, nullptr, 0, &params));
    int* const memory = static_cast<int*>(params.dptr);
    cudaMemsetParams zero = {};
    zero.dst = memory;
    zero.elementSize = 4;
    zero.width = 1;
    zero.height = 1;
    cudaGraphNode_t cleared = nullptr;
    ok(cudaGraphAddMemsetNode(&cleared, g.graph, &allocation, 1, &zero));
    Graph::kernel(g.graph, cleared, add_to, memory, 42);
    for (int i = 0; i < 3; ++i) {
        g.launch();
        int got = 0;
        ok(cudaMemcpy(&got, memory, sizeof(int), cudaMemcpyDeviceToHost));
        expect_equal(got, 42);
        ok(i % 2 ? cudaFree(memory) : cudaFreeAsync(memory, nullptr));
    }
}

CONFORMANCE(a_captured_graph_gets_a_loop_by_hand) {
    Graph g;
    cudaStream_t stream = nullptr, inner = nullptr;
    ok(cudaStreamCreate(&stream));
    ok(cudaStreamCreate(&inner));
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    cudaGraph_t captured = nullptr;
    ok(cudaStreamGetCaptureInfo(
        stream, &status, nullptr, &captured, nullptr, nullptr, nullptr));
    cudaGraphConditionalHandle handle = 0;
    ok(cudaGraphConditionalHandleCreate(
        &handle, captured, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t loop = nullptr;
    ok(cudaGraphAddNode(&loop, captured, nullptr, nullptr, 0, &params));
    ok(cudaStreamUpdateCaptureDependencies(
        stream, &loop, nullptr, 1, cudaStreamSetCaptureDependencies));
    add_to<<<1, 1, 0, stream>>>(g.value, 1000);
    ok(cudaStreamEndCapture(stream, &captured));
    ok(cudaStreamBeginCaptureToGraph(inner,
                                     params.conditional.phGraph_out[0],
                                     nullptr,
                                     nullptr,
                                     0,
                                     cudaStreamCaptureModeGlobal));
    count_up<<<1, 1, 0, inner>>>(g.value, 10, handle);
    ok(cudaStreamEndCapture(inner, nullptr));
    ok(cudaGraphInstantiate(&g.exec, captured, 0));
    expect_equal(g.launch(), 1010);
    ok(cudaGraphDestroy(captured));
    ok(cudaStreamDestroy(inner));
    ok(cudaStreamDestroy(stream));
}
