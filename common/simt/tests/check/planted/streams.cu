// Races between launches of two streams: where work is queued, it is known what the
// streams leave open. Run one after the other they all give what they should.
#include "planted.h"

#include "simt/streams.h"

using planted::numbered;
using planted::unset;
using planted::zeros;

/// Two streams whose work is queued.
struct Streams {
    cudaStream_t one, two;
    Streams() {
        simt::set_stream_seed(2);
        cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    }
    ~Streams() {
        cudaDeviceSynchronize();
        simt::set_stream_seed(0);
    }
};

__device__ float scratch[64];

// A kernel that needs memory for a moment, and takes a variable.
__global__ void turn_round(const float* x, float* out) {
    scratch[threadIdx.x] = x[threadIdx.x];  // scratch_of_two_streams
    __syncthreads();
    out[threadIdx.x] = scratch[63 - threadIdx.x];  // scratch_of_two_streams
}
PLANTED(race, scratch_of_two_streams) {
    const float* x = numbered<float>(64);
    float *out = unset<float>(64), *other = unset<float>(64);
    const Streams streams;
    turn_round<<<1, 64, 0, streams.one>>>(x, out);
    turn_round<<<1, 64, 0, streams.two>>>(x, other);
}
PLANTED(none, scratch_of_one_stream) {
    const float* x = numbered<float>(64);
    float *out = unset<float>(64), *other = unset<float>(64);
    const Streams streams;
    turn_round<<<1, 64, 0, streams.one>>>(x, out);
    turn_round<<<1, 64, 0, streams.one>>>(x, other);
    cudaStreamSynchronize(streams.one);
    turn_round<<<1, 64, 0, streams.two>>>(x, other);
}

__global__ void twice(const float* x, float* out) {
    out[threadIdx.x] = 2 * x[threadIdx.x];  // no_event_between_streams
}
__global__ void add(const float* x, float* total) {
    atomicAdd(total, x[threadIdx.x]);  // no_event_between_streams
}
template <bool kEvent>
void run_in_two_streams() {
    const float* x = numbered<float>(64);
    float *middle = zeros<float>(64), *total = zeros<float>(1);
    cudaEvent_t done;
    cudaEventCreate(&done);
    const Streams streams;
    twice<<<1, 64, 0, streams.one>>>(x, middle);
    cudaEventRecord(done, streams.one);
    if (kEvent) cudaStreamWaitEvent(streams.two, done, 0);
    add<<<1, 64, 0, streams.two>>>(middle, total);
    // What both only read, or update by atomic operations, they may share.
    add<<<1, 64, 0, streams.one>>>(x, total);
    twice<<<1, 64, 0, streams.two>>>(x, unset<float>(64));
}
PLANTED(race, no_event_between_streams) {
    run_in_two_streams<false>();
}
PLANTED(none, event_between_streams) {
    run_in_two_streams<true>();
}

// The legacy default stream waits for the others, and they for it.
PLANTED(none, default_stream_between_streams) {
    const float* x = numbered<float>(64);
    float *a = unset<float>(64), *b = unset<float>(64);
    const Streams streams;
    cudaStream_t blocking;
    cudaStreamCreate(&blocking);
    twice<<<1, 64, 0, blocking>>>(x, a);
    twice<<<1, 64>>>(a, b);
    twice<<<1, 64, 0, blocking>>>(b, a);
}
