// Kernels and host that wait for each other. In the simulator this needs
// SIMT_STREAMS=live.
#define TEST_GROUP "live"
#include "check.h"

namespace {

/// Pinned words that the device sees, too.
struct Mailbox {
    volatile int* request = nullptr;
    volatile int* answer = nullptr;

    Mailbox() {
        int* words = nullptr;
        OK(cudaHostAlloc(&words, 2 * sizeof(int), cudaHostAllocMapped));
        request = words;
        answer = words + 1;
        *request = *answer = 0;
    }
    ~Mailbox() { OK(cudaFreeHost(const_cast<int*>(request))); }
};

/// Answers each request with its double until a negative one comes.
__global__ void serve(volatile int* request, volatile int* answer) {
    __shared__ int asked;
    for (int last = 0;;) {
        if (threadIdx.x == 0) {
            do
                asked = *request;
            while (asked == last);
        }
        __syncthreads();
        last = asked;
        if (last < 0) return;
        if (threadIdx.x == 33) *answer = 2 * last;
        __syncthreads();
    }
}

TEST(a_kernel_serves_the_host) {
    const Mailbox box;
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreate(&stream));
    serve<<<1, 64, 0, stream>>>(const_cast<int*>(box.request),
                                const_cast<int*>(box.answer));
    for (int i = 1; i <= 20; ++i) {
        *box.request = i;
        while (*box.answer != 2 * i) {
        }
    }
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    *box.request = -1;
    OK(cudaStreamSynchronize(stream));
    EXPECT(cudaStreamQuery(stream) == cudaSuccess);
    OK(cudaStreamDestroy(stream));
}

__global__ void wait_for(volatile int* flag, int* out) {
    while (*flag == 0) {
    }
    *out = 10 + *flag;
}

TEST(a_copy_of_another_stream_ends_the_wait) {
    int *device = nullptr, *pinned = nullptr;
    OK(cudaMalloc(&device, 2 * sizeof(int)));
    OK(cudaMallocHost(&pinned, 2 * sizeof(int)));
    OK(cudaMemset(device, 0, 2 * sizeof(int)));
    OK(cudaDeviceSynchronize());
    cudaStream_t first = nullptr, second = nullptr;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    wait_for<<<1, 1, 0, first>>>(device, device + 1);
    OK(cudaMemcpyAsync(
        pinned + 1, device + 1, sizeof(int), cudaMemcpyDeviceToHost, first));
    pinned[0] = 7;
    OK(cudaMemcpyAsync(device, pinned, sizeof(int), cudaMemcpyHostToDevice, second));
    OK(cudaStreamSynchronize(first));
    EXPECT(pinned[1] == 17);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(device));
}

TEST(streams_and_events_keep_their_order) {
    int* x = nullptr;
    OK(cudaMallocManaged(&x, sizeof(int)));
    *x = 0;
    cudaStream_t streams[2];
    cudaEvent_t event = nullptr;
    for (cudaStream_t& stream : streams)
        OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (int i = 0; i < 20; ++i) {
        wait_for<<<1, 1, 0, streams[i % 2]>>>(x, x);
        OK(cudaEventRecord(event, streams[i % 2]));
        OK(cudaStreamWaitEvent(streams[1 - i % 2], event));
        if (i == 0) *static_cast<volatile int*>(x) = 1;
    }
    OK(cudaDeviceSynchronize());
    EXPECT(*x == 201);
    for (cudaStream_t stream : streams)
        OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
    OK(cudaFree(x));
}

}  // namespace
