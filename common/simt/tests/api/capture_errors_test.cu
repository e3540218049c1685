// Calls that a capture does not allow, and what they do to it.
#define TEST_GROUP "capture_errors"
#include "capture_fixture.h"
#include "check.h"

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

#ifdef SIMT_CPU  // a reset of a GPU's context leaves later tests without one
TEST(a_reset_ends_captures) {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaDeviceReset());
    void* p = nullptr;
    OK(cudaMalloc(&p, 64));
    OK(cudaFree(p));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
}
#endif
