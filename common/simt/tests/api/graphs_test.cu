#define TEST_GROUP "graphs"
#include "check.h"

#include <vector>

namespace {

__global__ void scale(float* x, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}

__global__ void shift(float* x, double amount, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += static_cast<float>(amount);
}

constexpr int kSize = 100;

struct Buffer {
    float* p = nullptr;
    Buffer() { cudaMalloc(&p, kSize * sizeof(float)); }
    ~Buffer() { cudaFree(p); }
    float get(int i) const {
        float value = -1;
        cudaMemcpy(&value, p + i, sizeof value, cudaMemcpyDeviceToHost);
        return value;
    }
};

// CUDA 13 wants data for each edge, or null.
#if CUDART_VERSION >= 13000
#define SIMT_EDGE_DATA nullptr,
#else
#define SIMT_EDGE_DATA
#endif

cudaError_t add_edges(cudaGraph_t graph,
                      const cudaGraphNode_t* from,
                      const cudaGraphNode_t* to,
                      size_t count) {
    return cudaGraphAddDependencies(graph, from, to, SIMT_EDGE_DATA count);
}

cudaError_t remove_edges(cudaGraph_t graph,
                         const cudaGraphNode_t* from,
                         const cudaGraphNode_t* to,
                         size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, SIMT_EDGE_DATA count);
}

cudaKernelNodeParams kernel_params(void* function, void** args) {
    cudaKernelNodeParams params = {};
    params.func = function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(128);
    params.kernelParams = args;
    return params;
}

cudaMemsetParams zero_params(void* dst) {
    cudaMemsetParams params = {};
    params.dst = dst;
    params.elementSize = 4;
    params.width = kSize;
    params.height = 1;
    return params;
}

}  // namespace

TEST(nodes_run_after_their_dependencies) {
    Buffer buffer;
    cudaGraph_t graph;
    OK(cudaGraphCreate(&graph, 0));
    float factor = 3;
    double amount = 4;
    int n = kSize;
    cudaGraphNode_t zero;
    cudaGraphNode_t shifted;
    cudaGraphNode_t scaled;
    // Created in the wrong order; the edges say what comes first.
    {
        void* args[] = {&buffer.p, &factor, &n};
        const auto params = kernel_params(reinterpret_cast<void*>(scale), args);
        OK(cudaGraphAddKernelNode(&scaled, graph, nullptr, 0, &params));
    }
    {
        void* args[] = {&buffer.p, &amount, &n};
        const auto params = kernel_params(reinterpret_cast<void*>(shift), args);
        OK(cudaGraphAddKernelNode(&shifted, graph, nullptr, 0, &params));
    }
    const cudaMemsetParams fill = zero_params(buffer.p);
    OK(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &fill));
    const cudaGraphNode_t from[] = {zero, shifted};
    const cudaGraphNode_t to[] = {shifted, scaled};
    OK(add_edges(graph, from, to, 2));
    factor = amount = 1000;  // the parameters were copied
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(buffer.get(0) == 12);
    EXPECT(buffer.get(kSize - 1) == 12);

    size_t count = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 3);
    OK(cudaGraphGetRootNodes(graph, nullptr, &count));
    EXPECT(count == 1);
    cudaGraphNode_t root;
    OK(cudaGraphGetRootNodes(graph, &root, &count));
    EXPECT(root == zero);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(shifted, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
    OK(cudaGraphNodeGetType(zero, &type));
    EXPECT(type == cudaGraphNodeTypeMemset);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

TEST(edges_are_checked) {
    cudaGraph_t graph;
    cudaGraph_t other;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&other, 0));
    cudaGraphNode_t a;
    cudaGraphNode_t b;
    cudaGraphNode_t c;
    OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cudaGraphAddEmptyNode(&c, other, nullptr, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, add_edges(graph, &a, &b, 1));  // twice
    EXPECT_ERROR(cudaErrorInvalidValue, add_edges(graph, &a, &a, 1));
    EXPECT_ERROR(cudaErrorInvalidValue, add_edges(graph, &a, &c, 1));
    OK(add_edges(graph, &b, &a, 1));  // a cycle
    cudaGraphExec_t exec;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    OK(remove_edges(graph, &b, &a, 1));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(exec));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphCreate(nullptr, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphCreate(&graph, 1));
    OK(cudaGraphDestroy(other));
    OK(cudaGraphDestroy(graph));
}

static void CUDART_CB add_ten(void* data) {
    *static_cast<int*>(data) += 10;
}

TEST(every_kind_of_node) {
    Buffer buffer;
    std::vector<float> in(kSize, 2.f);
    std::vector<float> out(kSize);
    int called = 0;
    cudaGraph_t graph;
    cudaGraph_t child;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t nodes[6];
    cudaGraphNode_t in_child;
    float factor = 5;
    int n = kSize;
    void* args[] = {&buffer.p, &factor, &n};
    const auto params = kernel_params(reinterpret_cast<void*>(scale), args);
    OK(cudaGraphAddKernelNode(&in_child, child, nullptr, 0, &params));
    const size_t bytes = kSize * sizeof(float);
    OK(cudaGraphAddMemcpyNode1D(&nodes[0],
                                graph,
                                nullptr,
                                0,
                                buffer.p,
                                in.data(),
                                bytes,
                                cudaMemcpyHostToDevice));
    OK(cudaGraphAddChildGraphNode(&nodes[1], graph, &nodes[0], 1, child));
    OK(cudaGraphAddEmptyNode(&nodes[2], graph, &nodes[1], 1));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(buffer.p, bytes, kSize, 1);
    copy.dstPtr = make_cudaPitchedPtr(out.data(), bytes, kSize, 1);
    copy.extent = make_cudaExtent(bytes, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddMemcpyNode(&nodes[3], graph, &nodes[2], 1, &copy));
    const cudaHostNodeParams host = {add_ten, &called};
    OK(cudaGraphAddHostNode(&nodes[4], graph, &nodes[3], 1, &host));
    cudaEvent_t event;
    OK(cudaEventCreate(&event));
    OK(cudaGraphAddEventRecordNode(&nodes[5], graph, &nodes[4], 1, event));
    OK(cudaGraphDestroy(child));  // the node has its own copy
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphUpload(exec, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(out[0] == 10 && out[kSize - 1] == 10);
    EXPECT(called == 10);
    OK(cudaEventQuery(event));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(event));
}

TEST(parameters_of_an_executable_graph_can_be_changed) {
    Buffer a;
    Buffer b;
    int n = kSize;
    cudaGraph_t graph;
    cudaGraphNode_t zero;
    cudaGraphNode_t moved;
    OK(cudaGraphCreate(&graph, 0));
    const cudaMemsetParams fill = zero_params(a.p);
    OK(cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &fill));
    double amount = 1;
    void* args[] = {&a.p, &amount, &n};
    auto params = kernel_params(reinterpret_cast<void*>(shift), args);
    OK(cudaGraphAddKernelNode(&moved, graph, &zero, 1, &params));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(a.get(0) == 1);

    amount = 8;
    args[0] = &b.p;
    OK(cudaGraphExecKernelNodeSetParams(exec, moved, &params));
    const cudaMemsetParams fill_b = zero_params(b.p);
    OK(cudaGraphExecMemsetNodeSetParams(exec, zero, &fill_b));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(a.get(0) == 1 && b.get(0) == 8);

    cudaKernelNodeParams got = {};
    OK(cudaGraphKernelNodeGetParams(moved, &got));  // of the graph: unchanged
    EXPECT(got.blockDim.x == 128);
    EXPECT(*static_cast<double*>(got.kernelParams[1]) == 1);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaGraphExecKernelNodeSetParams(exec, zero, &params));
    unsigned enabled = 0;
    OK(cudaGraphNodeSetEnabled(exec, moved, 0));
    OK(cudaGraphNodeGetEnabled(exec, moved, &enabled));
    EXPECT(enabled == 0);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(b.get(0) == 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

TEST(an_executable_graph_takes_over_a_changed_graph) {
    Buffer buffer;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = nullptr;
    for (int round = 1; round <= 3; ++round) {
        cudaGraph_t graph;
        OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        OK(cudaMemsetAsync(buffer.p, 0, kSize * sizeof(float), stream));
        shift<<<1, 128, 0, stream>>>(buffer.p, round * 10.0, kSize);
        OK(cudaStreamEndCapture(stream, &graph));
        if (!exec) {
            OK(cudaGraphInstantiate(&exec, graph, 0));
        } else {
            cudaGraphExecUpdateResultInfo info;
            OK(cudaGraphExecUpdate(exec, graph, &info));
            EXPECT(info.result == cudaGraphExecUpdateSuccess);
        }
        OK(cudaGraphLaunch(exec, stream));
        OK(cudaStreamSynchronize(stream));
        EXPECT(buffer.get(5) == round * 10.f);
        OK(cudaGraphDestroy(graph));
    }
    cudaGraph_t different;
    OK(cudaGraphCreate(&different, 0));
    cudaGraphNode_t node;
    OK(cudaGraphAddEmptyNode(&node, different, nullptr, 0));
    cudaGraphExecUpdateResultInfo info;
    EXPECT_ERROR(cudaErrorGraphExecUpdateFailure,
                 cudaGraphExecUpdate(exec, different, &info));
    EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphDestroy(different));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaStreamDestroy(stream));
}

TEST(clones_are_independent) {
    cudaGraph_t graph;
    cudaGraph_t clone;
    cudaGraphNode_t a;
    cudaGraphNode_t b;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    size_t count = 0;
    OK(cudaGraphGetNodes(clone, nullptr, &count));
    EXPECT(count == 1);
    cudaGraphNode_t twin = nullptr;
    OK(cudaGraphNodeFindInClone(&twin, a, clone));
    EXPECT(twin != nullptr && twin != a);
    OK(cudaGraphDestroyNode(a));
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(clone));
}

TEST(nodes_by_their_general_parameters) {
    Buffer buffer;
    cudaGraph_t graph;
    cudaGraphNode_t zero;
    cudaGraphNode_t moved;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = buffer.p;
    params.memset.elementSize = 4;
    params.memset.width = kSize;
    params.memset.height = 1;
    OK(cudaGraphAddNode(&zero, graph, nullptr, SIMT_EDGE_DATA 0, &params));
    double amount = 7;
    int n = kSize;
    void* args[] = {&buffer.p, &amount, &n};
    cudaGraphNodeParams kernel = {};
    kernel.type = cudaGraphNodeTypeKernel;
    kernel.kernel.func = reinterpret_cast<void*>(shift);
    kernel.kernel.gridDim = dim3(1);
    kernel.kernel.blockDim = dim3(128);
    kernel.kernel.kernelParams = args;
    OK(cudaGraphAddNode(&moved, graph, &zero, SIMT_EDGE_DATA 1, &kernel));
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(buffer.get(99) == 7);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
#ifdef SIMT_CPU  // on a GPU, handles of what is gone may crash
    cudaGraphNodeType type;
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetType(moved, &type));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
#endif
}

TEST(a_kernel_node_needs_a_kernel) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    OK(cudaGraphCreate(&graph, 0));
    int not_a_kernel = 0;
    void* args[] = {nullptr};
    const auto params = kernel_params(&not_a_kernel, args);
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr));
    OK(cudaGraphDestroy(graph));
}
