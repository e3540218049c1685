#define TEST_GROUP "streams"
#include "check.h"

#include <thread>
#include <vector>

__global__ void add_one(int* x) {
    x[threadIdx.x] += 1;
}

TEST(streams_are_created_and_destroyed) {
    cudaStream_t a;
    cudaStream_t b;
    cudaStream_t c;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    int least = 99;
    int greatest = 99;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest <= 0);
    OK(cudaStreamCreateWithPriority(&c, cudaStreamNonBlocking, greatest));
    EXPECT(a != b && b != c);
    int priority = 99;
    OK(cudaStreamGetPriority(c, &priority));
    EXPECT(priority == greatest);
    unsigned flags = 99;
    OK(cudaStreamGetFlags(a, &flags));
    EXPECT(flags == cudaStreamDefault);
    OK(cudaStreamGetFlags(b, &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaStreamDestroy(c));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&a, 0x40));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
}

TEST(work_in_every_kind_of_stream) {
    cudaStream_t own;
    OK(cudaStreamCreate(&own));
    int* p = nullptr;
    OK(cudaMalloc(&p, 32 * sizeof(int)));
    OK(cudaMemset(p, 0, 32 * sizeof(int)));
    const cudaStream_t streams[] = {0, own, cudaStreamLegacy, cudaStreamPerThread};
    for (const cudaStream_t stream : streams) {
        add_one<<<1, 32, 0, stream>>>(p);
        OK(cudaGetLastError());
        OK(cudaStreamSynchronize(stream));
        OK(cudaStreamQuery(stream));
    }
    int got = 0;
    OK(cudaMemcpyAsync(&got, p, sizeof got, cudaMemcpyDeviceToHost, own));
    OK(cudaStreamSynchronize(own));
    EXPECT(got == 4);
    OK(cudaFree(p));
    OK(cudaStreamDestroy(own));
}

TEST(a_default_stream_cannot_be_destroyed) {
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(0));
}

static void CUDART_CB count_call(void* data) {
    ++*static_cast<int*>(data);
}

static void CUDART_CB note_callback(cudaStream_t, cudaError_t status, void* data) {
    *static_cast<int*>(data) = status == cudaSuccess ? 1 : -1;
}

TEST(host_functions_and_callbacks) {
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int calls = 0;
    OK(cudaLaunchHostFunc(stream, count_call, &calls));
    OK(cudaLaunchHostFunc(stream, count_call, &calls));
    OK(cudaStreamSynchronize(stream));
    EXPECT(calls == 2);
    int status = 0;
    OK(cudaStreamAddCallback(stream, note_callback, &status, 0));
    OK(cudaStreamSynchronize(stream));
    EXPECT(status == 1);
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaStreamAddCallback(stream, note_callback, &status, 1));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaStreamAddCallback(stream, nullptr, &status, 0));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaLaunchHostFunc(stream, nullptr, &calls));
    OK(cudaStreamDestroy(stream));
}

TEST(events_measure_time) {
    cudaEvent_t start;
    cudaEvent_t stop;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    float ms = -1;
    // Not recorded yet.
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaEventElapsedTime(&ms, start, stop));
    OK(cudaEventQuery(start));
    OK(cudaEventSynchronize(start));
    OK(cudaEventRecord(start));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaEventElapsedTime(&ms, start, stop));
    OK(cudaEventRecord(stop, 0));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventQuery(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms >= 0 && ms < 1000);
    EXPECT_ERROR(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, start, stop));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
}

TEST(events_without_timing) {
    cudaEvent_t start;
    cudaEvent_t stop;
    OK(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
    OK(cudaEventCreate(&stop));
    OK(cudaEventRecord(start));
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    float ms = -1;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaEventElapsedTime(&ms, start, stop));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    EXPECT_ERROR(cudaErrorInvalidValue, cudaEventCreateWithFlags(&start, 0x100));
    EXPECT_ERROR(cudaErrorInvalidValue,
                 cudaEventCreateWithFlags(&start, cudaEventInterprocess));
}

TEST(null_events_are_refused) {
    float ms;
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventSynchronize(nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventQuery(nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaEventDestroy(nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle,
                 cudaEventElapsedTime(&ms, nullptr, nullptr));
    EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamWaitEvent(0, nullptr, 0));
}

TEST(streams_wait_for_events) {
    cudaStream_t a;
    cudaStream_t b;
    cudaEvent_t event;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    int* p = nullptr;
    OK(cudaMalloc(&p, 32 * sizeof(int)));
    OK(cudaMemsetAsync(p, 0, 32 * sizeof(int), a));
    add_one<<<1, 32, 0, a>>>(p);
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event));
    int got = 0;
    OK(cudaMemcpyAsync(&got, p, sizeof got, cudaMemcpyDeviceToHost, b));
    OK(cudaStreamSynchronize(b));
    EXPECT(got == 1);
    OK(cudaFree(p));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

TEST(several_host_threads) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 50;
    std::vector<int> first(kThreads, -1);
    std::vector<int> second(kThreads, -1);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&first, &second, t] {
            cudaStream_t stream;
            int* p = nullptr;
            if (cudaStreamCreate(&stream) || cudaMalloc(&p, 32 * sizeof(int))) return;
            cudaMemset(p, 0, 32 * sizeof(int));
            for (int i = 0; i < kRounds; ++i) {
                add_one<<<1, 16, 0, stream>>>(p);
                add_one<<<1, 16, 0, cudaStreamPerThread>>>(p + 16);
            }
            cudaStreamSynchronize(stream);
            cudaStreamSynchronize(cudaStreamPerThread);
            cudaMemcpy(&first[t], p, sizeof(int), cudaMemcpyDeviceToHost);
            cudaMemcpy(&second[t], p + 31, sizeof(int), cudaMemcpyDeviceToHost);
            cudaFree(p);
            cudaStreamDestroy(stream);
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT(first == std::vector<int>(kThreads, kRounds));
    EXPECT(second == std::vector<int>(kThreads, kRounds));
}

TEST(ids_tell_streams_apart) {
    cudaStream_t a;
    OK(cudaStreamCreate(&a));
    unsigned long long id_a = 0;
    unsigned long long id_default = 0;
    OK(cudaStreamGetId(a, &id_a));
    OK(cudaStreamGetId(0, &id_default));
    EXPECT(id_a != id_default);
    OK(cudaStreamDestroy(a));
}
