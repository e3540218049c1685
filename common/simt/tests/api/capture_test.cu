#define TEST_GROUP "capture"
#include <thread>
#include <vector>

#include "capture_fixture.h"
#include "check.h"

TEST(captured_work_runs_only_when_the_graph_is_launched) {
    Fixture f;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT(f.status() == cudaStreamCaptureStatusNone);
    f.begin();
    EXPECT(f.status() == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, f.stream>>>(f.p, 3);
    OK(cudaGetLastError());
    add<<<1, 32, 0, f.stream>>>(f.p, 4);
    OK(cudaStreamEndCapture(f.stream, &graph));
    EXPECT(f.value() == 0);
    size_t nodes = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 2);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 21);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphLaunch(exec, f.stream));  // the graph is no longer needed
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 28);
    OK(cudaGraphExecDestroy(exec));
}

TEST(a_captured_kernel_can_be_asked_about) {
    Fixture f;
    cudaGraph_t graph;
    f.begin();
    add<<<3, 64, 128, f.stream>>>(f.p, 3);
    OK(cudaStreamEndCapture(f.stream, &graph));
    cudaGraphNode_t node;
    size_t nodes = 1;
    OK(cudaGraphGetNodes(graph, &node, &nodes));
    cudaKernelNodeParams params = {};
    OK(cudaGraphKernelNodeGetParams(node, &params));
    EXPECT(params.gridDim.x == 3 && params.blockDim.x == 64);
    EXPECT(params.sharedMemBytes == 128);
    cudaFuncAttributes attributes = {};
    OK(cudaFuncGetAttributes(&attributes, params.func));
    EXPECT(attributes.numRegs > 0);
    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, params.func, 64, params.sharedMemBytes));
    EXPECT(blocks > 0);
    OK(cudaGraphDestroy(graph));
}

static void CUDART_CB double_it(void* data) {
    *static_cast<int*>(data) *= 2;
}

TEST(copies_fills_and_host_functions_are_captured) {
    Fixture f;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int host = 5;
    f.begin();
    OK(cudaMemsetAsync(f.p, 0, 32 * sizeof(int), f.stream));
    OK(cudaMemcpyAsync(f.p, &host, sizeof host, cudaMemcpyHostToDevice, f.stream));
    add<<<1, 32, 0, f.stream>>>(f.p, 1);
    OK(cudaMemcpyAsync(&host, f.p, sizeof host, cudaMemcpyDeviceToHost, f.stream));
    OK(cudaLaunchHostFunc(f.stream, double_it, &host));
    OK(cudaStreamEndCapture(f.stream, &graph));
    EXPECT(host == 5);
    size_t nodes = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 5);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(host == 12);
    OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(host == 26);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

TEST(streams_join_a_capture_through_events) {
    Fixture f;
    cudaEvent_t joined;
    OK(cudaEventCreate(&joined));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    f.begin();
    add<<<1, 16, 0, f.stream>>>(f.p, 1);
    OK(cudaEventRecord(f.event, f.stream));
    OK(cudaStreamWaitEvent(f.other, f.event, 0));
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(f.other, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    add<<<1, 16, 0, f.stream>>>(f.p, 10);
    add<<<1, 16, 0, f.other>>>(f.p + 16, 100);
    OK(cudaEventRecord(joined, f.other));
    OK(cudaStreamWaitEvent(f.stream, joined, 0));
    add<<<1, 32, 0, f.stream>>>(f.p, 1000);
    OK(cudaStreamEndCapture(f.stream, &graph));
    size_t nodes = 0;
    size_t edges = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == 4);
#if CUDART_VERSION >= 13000
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(edges == 4);
#endif
    size_t roots = 0;
    OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(roots == 1);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    std::vector<int> got(32);
    OK(cudaMemcpy(got.data(), f.p, 32 * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(got[0] == 1011 && got[31] == 1100);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventDestroy(joined));
}

#ifdef SIMT_CPU  // whether a GPU allows it has not been tried
TEST(a_joined_stream_may_be_destroyed_before_the_end) {
    Fixture f;
    cudaStream_t helper;
    OK(cudaStreamCreate(&helper));
    cudaGraph_t graph = nullptr;
    f.begin();
    OK(cudaEventRecord(f.event, f.stream));
    OK(cudaStreamWaitEvent(helper, f.event, 0));
    add<<<1, 32, 0, helper>>>(f.p, 1);
    OK(cudaEventRecord(f.event, helper));
    OK(cudaStreamWaitEvent(f.stream, f.event, 0));
    OK(cudaStreamDestroy(helper));
    OK(cudaStreamEndCapture(f.stream, &graph));
    if (graph) OK(cudaGraphDestroy(graph));
}
#endif

TEST(an_unjoined_stream_is_an_error) {
    Fixture f;
    cudaGraph_t graph = nullptr;
    f.begin();
    OK(cudaEventRecord(f.event, f.stream));
    OK(cudaStreamWaitEvent(f.other, f.event, 0));
    add<<<1, 32, 0, f.other>>>(f.p, 1);
    EXPECT_ERROR(cudaErrorStreamCaptureUnjoined,
                 cudaStreamEndCapture(f.stream, &graph));
    EXPECT(graph == nullptr);
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(f.other, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
}

TEST(ending_where_nothing_began) {
    Fixture f;
    cudaGraph_t graph = nullptr;
    EXPECT_ERROR(cudaErrorIllegalState, cudaStreamEndCapture(f.stream, &graph));
    f.begin();
    EXPECT_ERROR(cudaErrorIllegalState,
                 cudaStreamBeginCapture(f.stream, cudaStreamCaptureModeGlobal));
    if (f.status() == cudaStreamCaptureStatusActive)
        f.end_whole(__LINE__);
    else
        f.end_broken(__LINE__);
}

TEST(ending_in_the_wrong_stream) {
    Fixture f;
    cudaGraph_t graph = nullptr;
    f.begin();
    OK(cudaEventRecord(f.event, f.stream));
    OK(cudaStreamWaitEvent(f.other, f.event, 0));
    EXPECT_ERROR(cudaErrorStreamCaptureUnmatched,
                 cudaStreamEndCapture(f.other, &graph));
    f.end_broken(__LINE__);
}

TEST(ending_in_the_wrong_thread) {
    Fixture f;
    f.begin();
    cudaError_t got = cudaSuccess;
    std::thread([&] {
        cudaGraph_t graph = nullptr;
        got = cudaStreamEndCapture(f.stream, &graph);
    }).join();
    EXPECT(got == cudaErrorStreamCaptureWrongThread);
    EXPECT(f.status() == cudaStreamCaptureStatusNone);  // that ended it
    f.begin(cudaStreamCaptureModeRelaxed);
    cudaGraph_t graph = nullptr;
    std::thread([&] { got = cudaStreamEndCapture(f.stream, &graph); }).join();
    EXPECT(got == cudaSuccess);
    if (graph) OK(cudaGraphDestroy(graph));
}

TEST(the_default_stream_cannot_be_captured) {
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
                 cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
}

TEST(stream_ordered_memory_in_a_capture) {
    Fixture f;
    int* temporary = nullptr;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    f.begin();
    OK(cudaMallocAsync(&temporary, 32 * sizeof(int), f.stream));
    OK(cudaMemsetAsync(temporary, 0, 32 * sizeof(int), f.stream));
    add<<<1, 32, 0, f.stream>>>(temporary, 5);
    OK(cudaMemcpyAsync(
        f.p, temporary, 32 * sizeof(int), cudaMemcpyDeviceToDevice, f.stream));
    OK(cudaFreeAsync(temporary, f.stream));
    OK(cudaStreamEndCapture(f.stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; ++i)
        OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 5);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}
