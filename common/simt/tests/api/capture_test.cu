#define TEST_GROUP "capture"
#include "check.h"

#include <thread>
#include <vector>

namespace {

__global__ void add(int* x, int v) { x[threadIdx.x] += v; }

/// A stream, a buffer of 32 zeros, and what tests of captures do all the time.
struct Fixture {
    cudaStream_t stream = nullptr;
    cudaStream_t other = nullptr;
    cudaEvent_t event = nullptr;
    int* p = nullptr;
    Fixture() {
        cudaStreamCreate(&stream);
        cudaStreamCreate(&other);
        cudaEventCreate(&event);
        cudaMalloc(&p, 32 * sizeof(int));
        cudaMemset(p, 0, 32 * sizeof(int));
    }
    ~Fixture() {
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
        check::verify(status() == cudaStreamCaptureStatusInvalidated,
                      __FILE__,
                      line,
                      "the capture is invalidated");
        cudaGraph_t graph = nullptr;
        check::verify_error(cudaErrorStreamCaptureInvalidated,
                            cudaStreamEndCapture(stream, &graph),
                            __FILE__,
                            line,
                            "cudaStreamEndCapture");
        EXPECT(graph == nullptr);
        EXPECT(status() == cudaStreamCaptureStatusNone);
    }
    /// Ends a capture that is still whole.
    void end_whole(int line) {
        check::verify(status() == cudaStreamCaptureStatusActive,
                      __FILE__,
                      line,
                      "the capture is active");
        cudaGraph_t graph = nullptr;
        check::verify_error(cudaSuccess,
                            cudaStreamEndCapture(stream, &graph),
                            __FILE__,
                            line,
                            "cudaStreamEndCapture");
        if (graph) cudaGraphDestroy(graph);
    }
};

}  // namespace

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
    for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 21);
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphLaunch(exec, f.stream));  // the graph is no longer needed
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 28);
    OK(cudaGraphExecDestroy(exec));
}

static void CUDART_CB double_it(void* data) { *static_cast<int*>(data) *= 2; }

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

// ---- Calls that a capture does not allow --------------------------------------------

TEST(synchronizing_breaks_a_capture) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(f.stream));
    f.end_broken(__LINE__);
}

TEST(querying_breaks_a_capture) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(f.stream));
    f.end_broken(__LINE__);
}

TEST(device_synchronize_breaks_a_capture) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
    f.end_broken(__LINE__);
}

TEST(work_in_a_broken_capture_is_refused) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(f.stream));
    EXPECT_ERROR(cudaErrorStreamCaptureInvalidated,
                 cudaMemsetAsync(f.p, 0, 4, f.stream));
    f.end_broken(__LINE__);
}

TEST(malloc_breaks_a_capture) {
    Fixture f;
    void* p = nullptr;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMalloc(&p, 64));
    f.end_broken(__LINE__);
}

TEST(malloc_host_breaks_a_capture) {
    Fixture f;
    void* p = nullptr;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaMallocHost(&p, 64));
    f.end_broken(__LINE__);
}

TEST(free_breaks_a_capture) {
    Fixture f;
    void* p = nullptr;
    OK(cudaMalloc(&p, 64));
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaFree(p));
    f.end_broken(__LINE__);
    OK(cudaFree(p));
}

TEST(synchronous_copies_break_a_capture) {
    Fixture f;
    int host = 0;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureImplicit,
                 cudaMemcpy(&host, f.p, sizeof host, cudaMemcpyDeviceToHost));
    f.end_broken(__LINE__);
}

TEST(synchronous_fills_break_a_capture) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureImplicit, cudaMemset(f.p, 0, 4));
    f.end_broken(__LINE__);
}

TEST(a_relaxed_capture_allows_allocation) {
    Fixture f;
    void* p = nullptr;
    f.begin(cudaStreamCaptureModeRelaxed);
    OK(cudaMalloc(&p, 64));
    OK(cudaFree(p));
    f.end_whole(__LINE__);
}

TEST(default_stream_work_breaks_a_capture_in_a_blocking_stream) {
    Fixture f;
    f.begin();
    add<<<1, 32>>>(f.p, 1);
    EXPECT_ERROR(cudaErrorStreamCaptureImplicit, cudaGetLastError());
    f.end_broken(__LINE__);
}

TEST(default_stream_work_beside_a_capture_in_a_non_blocking_stream) {
    Fixture f;
    cudaStream_t quiet;
    OK(cudaStreamCreateWithFlags(&quiet, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(quiet, cudaStreamCaptureModeGlobal));
    add<<<1, 32>>>(f.p, 1);
    OK(cudaGetLastError());
    cudaGraph_t graph = nullptr;
    OK(cudaStreamEndCapture(quiet, &graph));
    EXPECT(f.value() == 1);
    if (graph) OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(quiet));
}

TEST(another_stream_works_beside_a_capture) {
    Fixture f;
    f.begin(cudaStreamCaptureModeRelaxed);
    add<<<1, 32, 0, f.other>>>(f.p, 7);
    OK(cudaGetLastError());
    OK(cudaStreamSynchronize(f.other));
    f.end_whole(__LINE__);
    EXPECT(f.value() == 7);
}

TEST(events_of_a_capture_cannot_be_waited_for_by_the_host) {
    Fixture f;
    f.begin();
    OK(cudaEventRecord(f.event, f.stream));
    EXPECT_ERROR(cudaErrorCapturedEvent, cudaEventSynchronize(f.event));
    f.end_broken(__LINE__);
}

TEST(events_of_a_capture_cannot_be_queried) {
    Fixture f;
    f.begin();
    OK(cudaEventRecord(f.event, f.stream));
    EXPECT_ERROR(cudaErrorCapturedEvent, cudaEventQuery(f.event));
    f.end_broken(__LINE__);
}

TEST(a_captured_stream_cannot_wait_for_an_outside_event) {
    Fixture f;
    OK(cudaEventRecord(f.event, f.other));
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureIsolation,
                 cudaStreamWaitEvent(f.stream, f.event, 0));
    f.end_broken(__LINE__);
}

TEST(two_captures_cannot_be_merged) {
    Fixture f;
    f.begin();
    OK(cudaStreamBeginCapture(f.other, cudaStreamCaptureModeGlobal));
    OK(cudaEventRecord(f.event, f.other));
    EXPECT_ERROR(cudaErrorStreamCaptureMerge,
                 cudaStreamWaitEvent(f.stream, f.event, 0));
    f.end_broken(__LINE__);
    cudaGraph_t graph = nullptr;
    EXPECT_ERROR(cudaErrorStreamCaptureInvalidated,
                 cudaStreamEndCapture(f.other, &graph));
}

TEST(callbacks_cannot_be_captured) {
    Fixture f;
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported,
                 cudaStreamAddCallback(
                     f.stream, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0));
    f.end_broken(__LINE__);
}

TEST(destroying_a_captured_stream) {
    Fixture f;
    cudaStream_t doomed;
    OK(cudaStreamCreate(&doomed));
    OK(cudaStreamBeginCapture(doomed, cudaStreamCaptureModeGlobal));
    OK(cudaStreamDestroy(doomed));
    void* p = nullptr;
    OK(cudaMalloc(&p, 64));  // nothing is being captured any more
    OK(cudaFree(p));
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
    for (int i = 0; i < 2; ++i) OK(cudaGraphLaunch(exec, f.stream));
    OK(cudaStreamSynchronize(f.stream));
    EXPECT(f.value() == 5);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

TEST(a_graph_cannot_be_launched_into_a_capture) {
    Fixture f;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    f.begin();
    add<<<1, 32, 0, f.stream>>>(f.p, 1);
    OK(cudaStreamEndCapture(f.stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    f.begin();
    EXPECT_ERROR(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(exec, f.stream));
    f.end_broken(__LINE__);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}
