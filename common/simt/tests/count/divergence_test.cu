// Lanes that go different ways: how the simulator puts what they did one after another
// into the instructions of a warp. Each count follows from "lanes meet again at the end
// of each branch and loop".
#include "count_test.h"

namespace {

/// 8 lanes load, then all.
__global__ void after_if(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    if (i < 8) v = in[i];
    out[i] = v;
}

/// Lane l goes round l + 1 times.
__global__ void loop_by_lane(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    for (int k = 0; k <= i; ++k)
        v += in[k];
    out[i] = v;
}

/// In each round the even lanes load from one place, the odd ones from another, and
/// which are which changes; 4 rounds.
__global__ void branch_in_loop(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    for (int k = 0; k < 4; ++k) {
        if ((i + k) % 2 == 0)
            v += in[i];
        else
            v -= in[i + 64];
    }
    out[i] = v;
}

/// Half of the lanes return; the others leave a loop by break or go on by continue.
__global__ void jumps(const float* in, float* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= n) return;
    float v = 0;
    for (int k = 0; k < 8; ++k) {
        if (k == 4 && i % 2 == 0) break;  // 8 of 16 lanes make 4 rounds, 8 make 8
        if (k % 2 == 0) continue;         // rounds 1, 3, 5 and 7 load
        v += in[i + k];
    }
    out[i] = v;
}

__device__ __noinline__ float fetch(const float* p) {
    return *p * 2;
}

/// The same function called by lanes in different branches: two calls for the warp.
__global__ void calls(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v;
    if (i % 4 == 0)
        v = fetch(in + i);
    else
        v = 1 + fetch(in + 64 + i);
    v += fetch(in + 128 + i);  // all lanes together
    out[i] = v;
}

/// Loops in a loop: 32 lanes, lane l with l % 4 + 1 inner rounds, twice.
__global__ void nested(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b <= i % 4; ++b)
            v += in[b * 32 + i];
        v += in[i];
    }
    out[i] = v;
}

__global__ void switched(const float* in, float* out) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    switch (i % 3) {
        case 0:
            v = in[i];
            break;
        case 1:
            v = in[i + 64];
            [[fallthrough]];
        default:
            v += in[i + 128];
    }
    out[i] = v;
}

/// Every thread writes more than a trace holds before the others may catch up.
__global__ void long_loop(const float* in, float* out, int n) {
    const int i = static_cast<int>(threadIdx.x);
    float v = 0;
    for (int k = 0; k < n + i / 16; ++k)
        v += in[k % 8 * 32 + i];
    __syncthreads();
    out[i] = v;
}

struct Expected {
    double requests, lanes, sectors;
};

template <class... A>
void expect_cost(
    const char* name, void (*kernel)(A...), int block, Expected e, A... args) {
    const Section section(name);
    kernel<<<1, block>>>(args...);
    const Counters c = section.counters("");
    EXPECT(c.global_load.requests, e.requests);
    EXPECT(c.global_load.lanes, e.lanes);
    EXPECT(c.global_load.sectors, e.sectors);
    // The store at the end: all lanes are together again.
    EXPECT(c.global_store.requests, (block + 31) / 32);
}

}  // namespace

int main() {
    const Buffer<float> in(1024), out(64);
    const float* const i = in.get();
    float* const o = out.get();
    expect_cost("after_if", after_if, 32, {1, 8, 1}, i, o);
    // 32 rounds; in the k-th (from 0) 32 - k lanes load the same element.
    expect_cost("loop_by_lane", loop_by_lane, 32, {32, 32 * 33 / 2, 32}, i, o);
    // 4 rounds of two loads by 16 lanes; the lanes lie in all 4 sectors.
    expect_cost("branch_in_loop", branch_in_loop, 32, {8, 4 * 32, 8 * 4}, i, o);
    // Rounds 1 and 3 with 16 lanes, 5 and 7 with 8. Lanes 0 to 15 begin at element k:
    // 16 floats from 1, 3: 3 sectors; odd lanes, 6 to 20 and 8 to 22: 3 and 2 sectors.
    expect_cost("jumps", jumps, 32, {4, 48, 3 + 3 + 3 + 2}, i, o, 16);
    // 8, 24 and 32 lanes.
    expect_cost("calls", calls, 32, {3, 64, 3 * 4}, i, o);
    // Each outer round: 4 inner ones, of 32, 24, 16 and 8 lanes, and a load by all.
    expect_cost("nested", nested, 32, {10, 2 * (80 + 32), 10 * 4}, i, o);
    // 11, 11 and 21 lanes.
    expect_cost("switched", switched, 32, {3, 43, 3 * 4}, i, o);
    // Two warps; in each, half of the lanes make one round more.
    const int n = 40000;
    const double rounds = n + 1 + n + 3;
    const double halves = 2;
    expect_cost("long_loop",
                long_loop,
                64,
                {rounds, 32 * rounds - 16 * halves, 4 * rounds - 2 * halves},
                i,
                o,
                n);

    // Half of the lanes are in the loop's body all the time: the kernel's average lies
    // between 16 and 32.
    const Section section("average");
    branch_in_loop<<<1, 32>>>(i, o);
    const Counters c = section.counters("branch_in_loop");
    EXPECT(c.average_lanes > 16 && c.average_lanes < 32, true);
    return verdict();
}
