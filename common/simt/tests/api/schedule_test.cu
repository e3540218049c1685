// Asynchronous streams (simt/streams.h): what is ordered stays ordered under every
// seed, what is not shows under some.
#define TEST_GROUP "schedule"
#include <simt/streams.h>

#include <functional>

#include "check.h"

namespace {

constexpr unsigned kSeeds = 24;
constexpr unsigned kLazy = 2;   // even: nothing runs before the host waits
constexpr unsigned kEager = 3;  // odd: some work runs whenever more is issued

__global__ void store(int* x, int value) {
    *x = value;
}

__global__ void times_ten_plus(int* x, int digit) {
    *x = 10 * *x + digit;
}

/// Two streams, an event, and an int each in device and in pinned memory.
struct TwoStreams {
    cudaStream_t a = nullptr;
    cudaStream_t b = nullptr;
    cudaEvent_t event = nullptr;
    int* device = nullptr;
    int* pinned = nullptr;

    explicit TwoStreams(unsigned flags = cudaStreamNonBlocking) {
        OK(cudaStreamCreateWithFlags(&a, flags));
        OK(cudaStreamCreateWithFlags(&b, flags));
        OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        OK(cudaMalloc(&device, sizeof(int)));
        OK(cudaMallocHost(&pinned, sizeof(int)));
        OK(cudaMemset(device, 0, sizeof(int)));
        OK(cudaDeviceSynchronize());
        *pinned = 0;
    }
    ~TwoStreams() {
        simt::set_stream_seed(0);
        OK(cudaFree(device));
        OK(cudaFreeHost(pinned));
        OK(cudaEventDestroy(event));
        OK(cudaStreamDestroy(a));
        OK(cudaStreamDestroy(b));
    }
    void copy_out(cudaStream_t stream) {
        OK(cudaMemcpyAsync(
            pinned, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
    }
};

/// Copies from memory that is gone when it returns.
void without_a_stream(int* device, int value) {
    OK(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
}

/// Under how many seeds the pinned int is `expected` when all is done.
int seeds_with(int expected,
               unsigned flags,
               const std::function<void(TwoStreams&)>& issue) {
    int count = 0;
    for (unsigned seed = 1; seed <= kSeeds; ++seed) {
        TwoStreams f(flags);
        simt::set_stream_seed(seed);
        issue(f);
        OK(cudaDeviceSynchronize());
        count += *f.pinned == expected ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST(a_missing_event_shows_and_an_event_mends_it) {
    const auto without = [](TwoStreams& f) {
        store<<<1, 1, 0, f.a>>>(f.device, 7);
        f.copy_out(f.b);
    };
    const auto with = [](TwoStreams& f) {
        store<<<1, 1, 0, f.a>>>(f.device, 7);
        OK(cudaEventRecord(f.event, f.a));
        OK(cudaStreamWaitEvent(f.b, f.event));
        f.copy_out(f.b);
    };
    const int right = seeds_with(7, cudaStreamNonBlocking, without);
    EXPECT(right > 0 && right < int(kSeeds));
    EXPECT(seeds_with(7, cudaStreamNonBlocking, with) == int(kSeeds));
}

TEST(a_copy_from_pageable_memory_may_land_after_the_call) {
    const auto without = [](TwoStreams& f) {
        int seven = 7;
        OK(cudaMemcpy(f.device, &seven, sizeof seven, cudaMemcpyDefault));
        seven = 1;  // the source has been read
        f.copy_out(f.b);
    };
    const auto with = [](TwoStreams& f) {
        const int seven = 7;
        OK(cudaMemcpy(f.device, &seven, sizeof seven, cudaMemcpyDefault));
        OK(cudaStreamSynchronize(nullptr));
        f.copy_out(f.b);
    };
    const auto pinned = [](TwoStreams& f) {
        *f.pinned = 7;
        OK(cudaMemcpy(f.device, f.pinned, sizeof(int), cudaMemcpyHostToDevice));
        *f.pinned = 1;
        f.copy_out(f.b);
    };
    const auto from_the_stack = [](TwoStreams& f) {
        store<<<1, 1, 0, f.a>>>(f.device, 1);
        without_a_stream(f.device, 7);
        f.copy_out(f.b);
    };
    const int right = seeds_with(7, cudaStreamNonBlocking, without);
    EXPECT(right > 0 && right < int(kSeeds));
    EXPECT(seeds_with(7, cudaStreamNonBlocking, with) == int(kSeeds));
    EXPECT(seeds_with(7, cudaStreamNonBlocking, pinned) == int(kSeeds));
    // Blocking streams wait for the default stream, and it for them.
    EXPECT(seeds_with(7, cudaStreamDefault, without) == int(kSeeds));
    EXPECT(seeds_with(7, cudaStreamDefault, from_the_stack) == int(kSeeds));
}

TEST(a_copy_within_the_device_may_land_after_the_call) {
    static int* from = nullptr;
    OK(cudaMalloc(&from, sizeof *from));
    const int seven = 7;
    OK(cudaMemcpy(from, &seven, sizeof seven, cudaMemcpyHostToDevice));
    const auto without = [](TwoStreams& f) {
        OK(cudaMemcpy(f.device, from, sizeof(int), cudaMemcpyDefault));
        f.copy_out(f.b);
    };
    const auto with = [](TwoStreams& f) {
        OK(cudaMemcpy(f.device, from, sizeof(int), cudaMemcpyDeviceToDevice));
        OK(cudaStreamSynchronize(nullptr));
        f.copy_out(f.b);
    };
    const auto of_rows = [](TwoStreams& f) {
        OK(cudaMemcpy2D(f.device, 4, from, 4, 4, 1, cudaMemcpyDeviceToDevice));
        f.copy_out(f.b);
    };
    for (const auto& late : {+without, +of_rows}) {
        const int right = seeds_with(7, cudaStreamNonBlocking, late);
        EXPECT(right > 0 && right < int(kSeeds));
        // Blocking streams wait for the default stream.
        EXPECT(seeds_with(7, cudaStreamDefault, late) == int(kSeeds));
    }
    EXPECT(seeds_with(7, cudaStreamNonBlocking, with) == int(kSeeds));
    OK(cudaFree(from));
}

TEST(a_launch_records_the_event_of_its_attribute) {
    const auto launched = [](TwoStreams& f) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticEvent;
        attribute.val.programmaticEvent.event = f.event;
        cudaLaunchConfig_t config = {};
        config.gridDim = config.blockDim = dim3(1);
        config.stream = f.a;
        config.attrs = &attribute;
        config.numAttrs = 1;
        OK(cudaLaunchKernelEx(&config, store, f.device, 7));
        OK(cudaStreamWaitEvent(f.b, f.event));
        f.copy_out(f.b);
    };
    EXPECT(seeds_with(7, cudaStreamNonBlocking, launched) == kSeeds);
}

TEST(a_wait_is_for_the_record_before_it) {
    // Recorded after the wait: too late, as in CUDA.
    const auto late = [](TwoStreams& f) {
        OK(cudaStreamWaitEvent(f.b, f.event));
        store<<<1, 1, 0, f.a>>>(f.device, 7);
        OK(cudaEventRecord(f.event, f.a));
        f.copy_out(f.b);
    };
    EXPECT(seeds_with(7, cudaStreamNonBlocking, late) < int(kSeeds));
}

TEST(a_stream_keeps_its_order) {
    const auto issue = [](TwoStreams& f) {
        for (int digit = 1; digit <= 5; ++digit)
            times_ten_plus<<<1, 1, 0, f.a>>>(f.device, digit);
        f.copy_out(f.a);
    };
    EXPECT(seeds_with(12345, cudaStreamNonBlocking, issue) == int(kSeeds));
}

TEST(streams_that_go_in_step_show_what_they_share) {
    // One after the other: 13 or 24. In step: both stores come first.
    constexpr unsigned kInStep = 1u << 31;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        TwoStreams f;
        simt::set_stream_seed(kInStep + seed / 2 * 2);
        store<<<1, 1, 0, f.a>>>(f.device, 1);
        times_ten_plus<<<1, 1, 0, f.a>>>(f.device, 3);
        store<<<1, 1, 0, f.b>>>(f.device, 2);
        times_ten_plus<<<1, 1, 0, f.b>>>(f.device, 4);
        OK(cudaDeviceSynchronize());
        f.copy_out(f.a);
        OK(cudaDeviceSynchronize());
        EXPECT(*f.pinned > 99);
    }
}

TEST(the_default_stream_orders_blocking_streams_only) {
    const auto issue = [](TwoStreams& f) {
        times_ten_plus<<<1, 1, 0, f.a>>>(f.device, 1);
        times_ten_plus<<<1, 1>>>(f.device, 2);
        times_ten_plus<<<1, 1, 0, f.b>>>(f.device, 3);
        f.copy_out(f.b);
    };
    EXPECT(seeds_with(123, cudaStreamDefault, issue) == int(kSeeds));
    EXPECT(seeds_with(123, cudaStreamNonBlocking, issue) < int(kSeeds));
}

TEST(a_host_that_does_not_wait_reads_too_early) {
    TwoStreams f;
    simt::set_stream_seed(kLazy);
    store<<<1, 1, 0, f.a>>>(f.device, 7);
    f.copy_out(f.a);
    EXPECT(*f.pinned == 0);
    store<<<1, 1, 0, f.b>>>(f.device, 8);
    OK(cudaStreamSynchronize(f.a));  // and not b
    EXPECT(*f.pinned == 7);
    f.copy_out(f.b);
    OK(cudaEventRecord(f.event, f.b));
    OK(cudaEventSynchronize(f.event));
    EXPECT(*f.pinned == 8);
}

TEST(asking_lets_time_pass) {
    TwoStreams f;
    for (const unsigned seed : {kLazy, kEager}) {
        simt::set_stream_seed(seed);
        for (int i = 0; i < 8; ++i)
            store<<<1, 1, 0, f.a>>>(f.device, i);
        OK(cudaEventRecord(f.event, f.a));
        int asked = 0;
        while (cudaEventQuery(f.event) == cudaErrorNotReady && asked < 100)
            ++asked;
        EXPECT(asked < 100);
        store<<<1, 1, 0, f.a>>>(f.device, 9);
        while (cudaStreamQuery(f.a) == cudaErrorNotReady && asked < 100)
            ++asked;
        EXPECT(asked < 100);
    }
    simt::set_stream_seed(kLazy);
    for (int i = 0; i < 8; ++i)
        store<<<1, 1, 0, f.a>>>(f.device, i);
    EXPECT(cudaStreamQuery(f.a) == cudaErrorNotReady);
    OK(cudaGetLastError());  // not ready is no failure
}

TEST(copies_of_pageable_memory_wait) {
    TwoStreams f;
    simt::set_stream_seed(kLazy);
    int value = 7;
    OK(cudaMemcpyAsync(f.device, &value, sizeof value, cudaMemcpyHostToDevice, f.a));
    value = 8;
    int got = 0;
    OK(cudaMemcpyAsync(&got, f.device, sizeof got, cudaMemcpyDeviceToHost, f.a));
    EXPECT(got == 7);
    // Pinned memory is read when the copy runs.
    *f.pinned = 1;
    OK(cudaMemcpyAsync(f.device, f.pinned, sizeof(int), cudaMemcpyHostToDevice, f.a));
    *f.pinned = 2;
    OK(cudaMemcpyAsync(&got, f.device, sizeof got, cudaMemcpyDeviceToHost, f.a));
    EXPECT(got == 2);
}

TEST(stream_ordered_memory_lives_in_its_stream) {
    const auto issue = [](bool ordered, TwoStreams& f) {
        int* memory = nullptr;
        OK(cudaMallocAsync(&memory, sizeof(int), f.a));
        OK(cudaEventRecord(f.event, f.a));
        if (ordered) OK(cudaStreamWaitEvent(f.b, f.event));
        store<<<1, 1, 0, f.b>>>(memory, 7);
        OK(cudaEventRecord(f.event, f.b));
        OK(cudaStreamWaitEvent(f.a, f.event));
        OK(cudaMemcpyAsync(f.pinned, memory, sizeof(int), cudaMemcpyDeviceToHost, f.a));
        OK(cudaFreeAsync(memory, f.a));
    };
    const auto with = [&](TwoStreams& f) { issue(true, f); };
    EXPECT(seeds_with(7, cudaStreamNonBlocking, with) == int(kSeeds));
}

TEST(host_functions_take_their_turn) {
    const auto issue = [](TwoStreams& f) {
        store<<<1, 1, 0, f.a>>>(f.device, 7);
        f.copy_out(f.a);
        const auto double_it = [](void* p) { *static_cast<int*>(p) *= 2; };
        OK(cudaLaunchHostFunc(f.a, double_it, f.pinned));
    };
    EXPECT(seeds_with(14, cudaStreamNonBlocking, issue) == int(kSeeds));
}

TEST(a_graph_has_the_order_that_was_captured) {
    for (const bool joined : {true, false}) {
        int right = 0;
        for (unsigned seed = 1; seed <= kSeeds; ++seed) {
            TwoStreams f;
            cudaEvent_t fork;
            cudaGraph_t graph;
            cudaGraphExec_t exec;
            OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
            OK(cudaStreamBeginCapture(f.a, cudaStreamCaptureModeGlobal));
            OK(cudaEventRecord(fork, f.a));
            OK(cudaStreamWaitEvent(f.b, fork));
            times_ten_plus<<<1, 1, 0, f.b>>>(f.device, 1);
            OK(cudaEventRecord(f.event, f.b));
            if (joined) OK(cudaStreamWaitEvent(f.a, f.event));
            times_ten_plus<<<1, 1, 0, f.a>>>(f.device, 2);
            if (!joined) OK(cudaStreamWaitEvent(f.a, f.event));
            OK(cudaStreamEndCapture(f.a, &graph));
            OK(cudaGraphInstantiate(&exec, graph, 0));
            simt::set_stream_seed(seed);
            OK(cudaGraphLaunch(exec, f.a));
            OK(cudaGraphLaunch(exec, f.b));  // after the launch before
            OK(cudaStreamSynchronize(f.b));
            f.copy_out(f.b);
            OK(cudaDeviceSynchronize());
            right += *f.pinned == 1212 ? 1 : 0;
            OK(cudaGraphExecDestroy(exec));
            OK(cudaGraphDestroy(graph));
            OK(cudaEventDestroy(fork));
        }
        EXPECT(joined ? right == int(kSeeds) : right < int(kSeeds));
    }
}

TEST(the_longest_chain_is_counted) {
    TwoStreams f;
    simt::set_stream_seed(kLazy);
    for (int i = 0; i < 3; ++i) {
        store<<<1, 1, 0, f.a>>>(f.device, i);
        store<<<1, 1, 0, f.b>>>(f.pinned, i);
    }
    EXPECT(simt::longest_chain() == 3);
    OK(cudaStreamSynchronize(f.a));
    store<<<1, 1, 0, f.b>>>(f.pinned, 4);
    EXPECT(simt::longest_chain() == 4);
    OK(cudaDeviceSynchronize());
    store<<<1, 1, 0, f.a>>>(f.device, 5);  // the host has waited: one more link
    EXPECT(simt::longest_chain() == 5);
    EXPECT(simt::chain_links() == 8);
}

__global__ void store_when_told(const volatile int* told, int* to) {
    while (*told == 0) {
    }
    *to = *told;
}

TEST(a_kernel_may_wait_for_the_host) {
    TwoStreams f;
    simt::set_stream_seed(kLazy);
    int* told = nullptr;
    OK(cudaHostAlloc(&told, sizeof(int), cudaHostAllocMapped));
    *told = 0;
    store_when_told<<<1, 1, 0, f.a>>>(told, f.pinned);
    *told = 9;
    OK(cudaStreamSynchronize(f.a));
    EXPECT(*f.pinned == 9);
    simt::set_stream_seed(0);
    OK(cudaFreeHost(told));
}
