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

void voting_grid_barrier(unsigned* arrived, int* out) {
    if (threadIdx.x % 32 == 0) atomicAdd(arrived, 1);
    const unsigned warps = gridDim.x * (blockDim.x / 32);
    while (__any_sync(0xffffffffu, atomicAdd(arrived, 0) != warps)) {
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

TEST("a grid barrier at which warps vote") {
    Buffer<unsigned> arrived(1);
    Buffer<int> out(16 * 64);
    LAUNCH(voting_grid_barrier, 16, 64)(arrived.get(), out.get());
    CHECK(test::take_fault() == 0);
    for (size_t i = 0; i < 16 * 64; ++i)
        CHECK(out[i] == 1);
}

TEST("preemption keeps the registers of the threads") {
    Buffer<int> flag(1);
    Buffer<double> out(33, -1.0);
    LAUNCH(preempt_main, 1, 32)(flag.get(), out.get());
    for (size_t i = 0; i < 31; ++i)
        CHECK(out[i] == 0.0);
    CHECK(out[31] > 0);
}

void own_chain(int* turns, int* order, bool numbered) {
    // Each block waits for the one before it: by its index, or by the order in which
    // blocks have begun.
    const int me = numbered ? atomicAdd(turns + 1, 1) : static_cast<int>(blockIdx.x);
    while (atomicAdd(turns, 0) != me) {
    }
    order[me] = static_cast<int>(blockIdx.x);
    atomicAdd(turns, 1);
}

/// Launches 9 blocks that wait for one another.
void run_chain(bool numbered, Buffer<int>& order) {
    Buffer<int> turns(2);
    LAUNCH(own_chain, 9, 1)(turns.get(), order.get(), numbered);
}

TEST("a block that waits for one that cannot begin is told so") {
    Buffer<int> order(9);
    run_chain(false, order);
    CHECK(test::take_fault() == 0);
    simt::set_backwards(true);
    run_chain(false, order);  // room is made for all
    CHECK(test::take_fault() == 0);
    simt::set_resident_blocks(9);
    run_chain(false, order);  // there is room for all
    CHECK(test::take_fault() == 0);
    simt::set_resident_blocks(8);
    run_chain(false, order);
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    CHECK(test::report_contains("room for\n    8 at a time"));
    CHECK(test::report_contains("and 1 of 9 have not begun"));
    simt::set_resident_blocks(1);
    run_chain(true, order);
    CHECK(test::take_fault() == 0);
    for (size_t i = 0; i < 9; ++i)
        CHECK(order[i] == static_cast<int>(8 - i));
    simt::set_backwards(false);
    run_chain(false, order);  // 0 begins first, and waits for nobody
    CHECK(test::take_fault() == 0);
    simt::set_resident_blocks(0);
}

TEST("with a seed, blocks of which few have room take turns in any order") {
    Buffer<int> order(9);
    for (const unsigned resident : {1u, 2u, 5u})
        for (const unsigned seed : {1u, 2u, 3u}) {
            simt::set_resident_blocks(resident);
            simt::set_seed(seed);
            run_chain(true, order);
            CHECK(test::take_fault() == 0);
            if (resident > 1) continue;  // with more room, they may be lucky
            run_chain(false, order);
            CHECK(test::take_fault() == cudaErrorLaunchTimeout);
        }
    simt::set_seed(0);
    simt::set_resident_blocks(0);
}

void vote_chain(int* turns) {
    while (__any_sync(0xffffffffu, atomicAdd(turns, 0) != int(blockIdx.x))) {
    }
    if (threadIdx.x == 0) atomicAdd(turns, 1);
}

TEST("a warp that waits and votes is no less stuck") {
    Buffer<int> turns(1);
    simt::set_backwards(true);
    simt::set_resident_blocks(3);
    LAUNCH(vote_chain, 4, 32)(turns.get());
    CHECK(test::take_fault() == cudaErrorLaunchTimeout);
    simt::set_resident_blocks(4);
    LAUNCH(vote_chain, 4, 32)(turns.get());
    CHECK(test::take_fault() == 0);
    simt::set_resident_blocks(0);
    simt::set_backwards(false);
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
