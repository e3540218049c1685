// Threads that wait for each other in loops, and loops that never end.
#include "harness.h"

namespace {

using test::Buffer;

void spin_lock(int* lock, int* count) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

TEST("all lanes of a warp take a spin lock") {
    Buffer<int> lock(1), count(1);
    LAUNCH(spin_lock, 8, 128)(lock.get(), count.get());
    CHECK(count[0] == 1024);
}

void exchange_lock(int* lock, int* count) {
    while (atomicExch(lock, 1) == 1) {
    }
    const int before = *count;
    for (int i = 0; i < 3; ++i)
        __threadfence();  // lets the others try
    *count = before + 1;
    atomicExch(lock, 0);
}

TEST("a lock by atomicExch") {
    Buffer<int> lock(1), count(1);
    LAUNCH(exchange_lock, 8, 128)(lock.get(), count.get());
    CHECK(count[0] == 1024);
}

void chain(int* turn, int* order) {
    // Thread 0 waits for the last: nobody has started in a helpful order.
    const int me = static_cast<int>(blockDim.x - 1 - threadIdx.x);
    while (atomicAdd(turn, 0) != me) {
    }
    order[me] = static_cast<int>(threadIdx.x);
    atomicAdd(turn, 1);
}

TEST("threads wait for later threads by polling an atomic") {
    Buffer<int> turn(1), order(64);
    LAUNCH(chain, 1, 64)(turn.get(), order.get());
    CHECK(order[0] == 63 && order[63] == 0);
}

void volatile_flag(int* flag, int* data) {
    if (threadIdx.x == 0) {
        while (*static_cast<volatile int*>(flag) == 0) {
        }
        data[1] = data[0];
    } else if (threadIdx.x == blockDim.x - 1) {
        data[0] = 42;
        __threadfence();
        *static_cast<volatile int*>(flag) = 1;
    }
}

TEST("a plain spin on a volatile flag is preempted") {
    Buffer<int> flag(1), data(2);
    LAUNCH(volatile_flag, 1, 64)(flag.get(), data.get());
    CHECK(data[1] == 42);
}

void own_grid_barrier(unsigned* arrived, int* data, int* out) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = static_cast<int>(i);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {
        }
    }
    __syncthreads();
    out[i] = data[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}

TEST("a grid barrier written by hand") {
    Buffer<unsigned> arrived(1);
    Buffer<int> data(16 * 64), out(16 * 64);
    LAUNCH(own_grid_barrier, 16, 64)(arrived.get(), data.get(), out.get());
    CHECK(test::take_fault() == 0);
    for (unsigned i = 0; i < 16 * 64; ++i)
        CHECK(out[i] == static_cast<int>((i + 64) % (16 * 64)));
}

void preempted_sum(volatile int* flag, double* out) {
    // Registers in use while the thread is preempted must survive.
    double a = 1, b = 2, c = 3, d = 4;
    int spins = 0;
    while (flag[0] == 0) {
        a += 1, b += 2, c += 3, d += 4;
        ++spins;
    }
    out[threadIdx.x] = a - 1 + (b - 2) + (c - 3) + (d - 4) - 10.0 * spins;
    if (threadIdx.x == 31) out[32] = 1;
}
void preempt_main(int* flag, double* out) {
    if (threadIdx.x < 31) return preempted_sum(flag, out);
    double x = 0.1;
    for (int i = 0; i < 1000; ++i)
        x = x * 0.999 + 0.01;
    out[31] = x;
    __threadfence();
    *static_cast<volatile int*>(flag) = 1;
}

TEST("preemption keeps the registers of the threads") {
    Buffer<int> flag(1);
    Buffer<double> out(33, -1.0);
    LAUNCH(preempt_main, 1, 32)(flag.get(), out.get());
    for (size_t i = 0; i < 31; ++i)
        CHECK(out[i] == 0.0);
    CHECK(out[31] > 0);
}

int g_line = 0;

void endless(volatile int* p) {
    g_line = __LINE__ + 1;
    while (p[0] == 0) {
    }
}
void endless_polling(int* p) {
    while (atomicAdd(p, 0) == 0) {
    }
}
void endless_barriers(volatile int* p) {
    while (p[0] == 0)
        __syncthreads();
}

TEST("an endless loop ends at the time limit, with its place") {
    Buffer<int> p(2);
    simt::set_time_limit(0.3);
    LAUNCH(endless, 1, 32)(p.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("nothing has moved for 0.3 seconds"));
    CHECK(test::report_contains("at " + test::here(__FILE__, g_line)));
    LAUNCH(endless, 5, 32)(p.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    LAUNCH(endless_polling, 2, 64)(p.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("spin_test.cpp:"));
    simt::set_time_limit(0.1);
    LAUNCH(endless_barriers, 1, 64)(p.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    simt::set_time_limit(30);
    p[0] = 1;
    LAUNCH(endless, 1, 32)(p.get());
    CHECK(test::take_fault() == 0);
}

}  // namespace
