// The runtime: errors, devices, streams, events, graphs, occupancy.
#include "conformance.h"

#include <thread>

using namespace conformance;

namespace {

struct Stream {
    Stream() { ok(cudaStreamCreate(&s)); }
    ~Stream() { cudaStreamDestroy(s); }
    cudaStream_t s = nullptr;
};

struct Event {
    Event() { ok(cudaEventCreate(&e)); }
    ~Event() { cudaEventDestroy(e); }
    cudaEvent_t e = nullptr;
};

/// Managed memory, all zeros.
struct Ints {
    explicit Ints(int n) {
        ok(cudaMallocManaged(&p, sizeof(int) * n));
        for (int i = 0; i < n; ++i)
            p[i] = 0;
    }
    ~Ints() { cudaFree(p); }
    int* p = nullptr;
};

}  // namespace

__global__ void add_one(int* value) {
    *value += 1;
}
__global__ void times_ten(int* value) {
    *value *= 10;
}
__global__ void store(int* where, int value) {
    *where = value;
}

CONFORMANCE(errors_have_names_and_texts) {
    expect_equal(std::string(cudaGetErrorName(cudaSuccess)), "cudaSuccess");
    expect_equal(std::string(cudaGetErrorString(cudaSuccess)), "no error");
    expect_equal(std::string(cudaGetErrorName(cudaErrorMemoryAllocation)),
                 "cudaErrorMemoryAllocation");
    expect_equal(std::string(cudaGetErrorString(cudaErrorMemoryAllocation)),
                 "out of memory");
    expect_equal(std::string(cudaGetErrorString(cudaErrorInvalidValue)),
                 "invalid argument");
    expect_equal(std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)),
                 "invalid configuration argument");
    expect_equal(std::string(cudaGetErrorString(cudaErrorIllegalAddress)),
                 "an illegal memory access was encountered");
    expect_equal(std::string(cudaGetErrorString(static_cast<cudaError_t>(12345))),
                 "unrecognized error code");
}

CONFORMANCE(error_numbers) {
    expect_equal(int(cudaErrorInvalidValue), 1);
    expect_equal(int(cudaErrorMemoryAllocation), 2);
    expect_equal(int(cudaErrorInvalidConfiguration), 9);
    expect_equal(int(cudaErrorInvalidDevice), 101);
    expect_equal(int(cudaErrorNotReady), 600);
    expect_equal(int(cudaErrorIllegalAddress), 700);
    expect_equal(int(cudaErrorLaunchTimeout), 702);
    expect_equal(int(cudaErrorAssert), 710);
    expect_equal(int(cudaErrorLaunchFailure), 719);
}

CONFORMANCE(there_is_a_device_and_it_is_selected) {
    int count = 0, current = -1;
    ok(cudaGetDeviceCount(&count));
    require(count >= 1, "no device");
    ok(cudaSetDevice(0));
    ok(cudaGetDevice(&current));
    expect_equal(current, 0);
    expect_error(cudaSetDevice(count), cudaErrorInvalidDevice);
    expect_error(cudaSetDevice(-1), cudaErrorInvalidDevice);
}

CONFORMANCE(properties_and_attributes_agree) {
    cudaDeviceProp prop{};
    ok(cudaGetDeviceProperties(&prop, 0));
    int value = 0;
    ok(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    expect_equal(value, prop.multiProcessorCount);
    ok(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    expect_equal(value, prop.major);
    ok(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    expect_equal(value, int(prop.sharedMemPerBlockOptin));
    expect_equal(prop.warpSize, 32);
    expect_equal(prop.maxThreadsPerBlock, 1024);
    expect_equal(prop.maxThreadsDim[2], 64);
    expect_equal(prop.maxGridSize[1], 65535);
    expect_equal(int(prop.sharedMemPerBlock), 48 << 10);
}

CONFORMANCE(work_on_one_stream_keeps_its_order) {
    Stream stream;
    Ints value(1);
    add_one<<<1, 1, 0, stream.s>>>(value.p);
    times_ten<<<1, 1, 0, stream.s>>>(value.p);
    add_one<<<1, 1, 0, stream.s>>>(value.p);
    ok(cudaStreamSynchronize(stream.s));
    expect_equal(*value.p, 11);
    ok(cudaStreamQuery(stream.s));
}

CONFORMANCE(an_event_orders_two_streams) {
    Stream a, b;
    Event done;
    Ints value(1);
    store<<<1, 1, 0, a.s>>>(value.p, 4);
    ok(cudaEventRecord(done.e, a.s));
    ok(cudaStreamWaitEvent(b.s, done.e, 0));
    times_ten<<<1, 1, 0, b.s>>>(value.p);
    ok(cudaStreamSynchronize(b.s));
    expect_equal(*value.p, 40);
    ok(cudaEventQuery(done.e));
}

CONFORMANCE(events_measure_time) {
    Event start, stop;
    ok(cudaEventRecord(start.e));
    ok(cudaEventRecord(stop.e));
    ok(cudaEventSynchronize(stop.e));
    float milliseconds = -1.0f;
    ok(cudaEventElapsedTime(&milliseconds, start.e, stop.e));
    require(milliseconds >= 0.0f, "time runs backwards");
}

CONFORMANCE(an_event_that_was_never_recorded_has_no_time) {
    Event start, stop;
    float milliseconds = 0.0f;
    ok(cudaEventRecord(stop.e));
    ok(cudaEventSynchronize(stop.e));
    expect_error(cudaEventElapsedTime(&milliseconds, start.e, stop.e),
                 cudaErrorInvalidResourceHandle);
}

CONFORMANCE(an_event_without_timing_has_no_time) {
    cudaEvent_t e = nullptr;
    Event stop;
    ok(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    ok(cudaEventRecord(e));
    ok(cudaEventRecord(stop.e));
    ok(cudaDeviceSynchronize());
    float milliseconds = 0.0f;
    expect_error(cudaEventElapsedTime(&milliseconds, e, stop.e),
                 cudaErrorInvalidResourceHandle);
    ok(cudaEventDestroy(e));
}

CONFORMANCE(a_host_function_runs_in_stream_order) {
    Stream stream;
    Ints value(2);
    store<<<1, 1, 0, stream.s>>>(value.p, 6);
    const auto copy = [](void* data) {
        int* ints = static_cast<int*>(data);
        ints[1] = ints[0];
    };
    ok(cudaLaunchHostFunc(stream.s, copy, value.p));
    ok(cudaStreamSynchronize(stream.s));
    expect_equal(value.p[1], 6);
}

CONFORMANCE(a_captured_graph_is_replayed) {
    Stream stream;
    Ints value(1);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ok(cudaStreamBeginCapture(stream.s, cudaStreamCaptureModeGlobal));
    add_one<<<1, 1, 0, stream.s>>>(value.p);
    times_ten<<<1, 1, 0, stream.s>>>(value.p);
    ok(cudaStreamEndCapture(stream.s, &graph));
    expect_equal(*value.p, 0);  // captured, not run
    std::size_t nodes = 0;
    ok(cudaGraphGetNodes(graph, nullptr, &nodes));
    expect_equal(nodes, std::size_t{2});
    ok(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; ++i)
        ok(cudaGraphLaunch(exec, stream.s));
    ok(cudaStreamSynchronize(stream.s));
    expect_equal(*value.p, 1110);
    ok(cudaGraphExecDestroy(exec));
    ok(cudaGraphDestroy(graph));
}

CONFORMANCE(a_capture_follows_events_to_other_streams) {
    Stream a, b;
    Event fork, join;
    Ints value(2);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ok(cudaStreamBeginCapture(a.s, cudaStreamCaptureModeGlobal));
    store<<<1, 1, 0, a.s>>>(value.p, 3);
    ok(cudaEventRecord(fork.e, a.s));
    ok(cudaStreamWaitEvent(b.s, fork.e, 0));
    store<<<1, 1, 0, b.s>>>(value.p + 1, 4);
    ok(cudaEventRecord(join.e, b.s));
    ok(cudaStreamWaitEvent(a.s, join.e, 0));
    times_ten<<<1, 1, 0, a.s>>>(value.p);
    ok(cudaStreamEndCapture(a.s, &graph));
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphLaunch(exec, a.s));
    ok(cudaStreamSynchronize(a.s));
    expect_equal(value.p[0], 30);
    expect_equal(value.p[1], 4);
    ok(cudaGraphExecDestroy(exec));
    ok(cudaGraphDestroy(graph));
}

CONFORMANCE(synchronising_a_capturing_stream_is_refused) {
    Stream stream;
    cudaGraph_t graph = nullptr;
    ok(cudaStreamBeginCapture(stream.s, cudaStreamCaptureModeRelaxed));
    expect_error(cudaStreamSynchronize(stream.s), cudaErrorStreamCaptureUnsupported);
    expect_error(cudaStreamEndCapture(stream.s, &graph),
                 cudaErrorStreamCaptureInvalidated);
    require(graph == nullptr, "an invalidated capture gives no graph");
}

CONFORMANCE(ending_a_capture_that_never_began_is_refused) {
    Stream stream;
    cudaGraph_t graph = nullptr;
    expect_error(cudaStreamEndCapture(stream.s, &graph), cudaErrorIllegalState);
}

CONFORMANCE(several_host_threads_launch_at_once) {
    constexpr int kThreads = 4;
    Ints values(kThreads);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            Stream stream;
            for (int i = 0; i < 50; ++i)
                add_one<<<1, 1, 0, stream.s>>>(values.p + t);
            cudaStreamSynchronize(stream.s);
        });
    }
    for (auto& thread : threads)
        thread.join();
    for (int t = 0; t < kThreads; ++t)
        expect_equal(values.p[t], 50);
}

CONFORMANCE(the_last_error_belongs_to_its_host_thread) {
    (void)cudaGetLastError();
    std::thread([] { (void)cudaSetDevice(-1); }).join();
    expect_equal(int(cudaGetLastError()), int(cudaSuccess));
}

CONFORMANCE(occupancy_is_limited_by_threads_and_shared_memory) {
    int few = 0, many = 0, none = 0;
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, add_one, 1024, 0));
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, add_one, 32, 0));
    ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, add_one, 32, 40 << 10));
    require(few >= 1 && few <= 2, "blocks of 1024 threads");
    require(many >= 16 && many <= 32, "blocks of 32 threads");
    require(none >= 1 && none < many, "shared memory must limit the blocks");
    int grid = 0, block = 0;
    ok(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add_one, 0, 0));
    require(grid > 0 && block > 0 && block % 32 == 0 && block <= 1024, "block size");
}

CONFORMANCE(function_attributes) {
    cudaFuncAttributes attributes{};
    ok(cudaFuncGetAttributes(&attributes, add_one));
    require(attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock <= 1024,
            "threads");
}

CONFORMANCE(a_null_argument_of_the_api_is_refused) {
    expect_error(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
    expect_error(cudaEventCreate(nullptr), cudaErrorInvalidValue);
    expect_error(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
}

CONFORMANCE(versions_are_reported) {
    int runtime = 0, driver = 0;
    ok(cudaRuntimeGetVersion(&runtime));
    ok(cudaDriverGetVersion(&driver));
    require(runtime >= 12000 && driver >= 12000, "older than CUDA 12");
}
