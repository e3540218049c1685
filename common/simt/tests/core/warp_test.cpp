// Warp operations.
#include "harness.h"

namespace {

using test::Buffer;

struct Half {
    unsigned short bits;
};

void shuffles(int* out) {
    const int lane = simt::detail::lane();
    int* mine = out + threadIdx.x * 8;
    mine[0] = __shfl_sync(~0u, lane * 10, 3);
    mine[1] = __shfl_sync(~0u, lane * 10, 3, 8);
    mine[2] = __shfl_up_sync(~0u, lane, 2, 16);
    mine[3] = __shfl_down_sync(~0u, lane, 3u, 8);
    mine[4] = __shfl_xor_sync(~0u, lane, 5);
    mine[5] = static_cast<int>(__shfl_sync(~0u, lane * 0.5, lane ^ 1) * 2);
    mine[6] = static_cast<int>(__shfl_sync(~0u, lane * 0x100000001ll, 7) >> 32);
    mine[7] = __shfl_xor_sync(~0u, Half{static_cast<unsigned short>(lane)}, 4).bits;
}

TEST("shuffles read the lanes that CUDA's formulas name") {
    Buffer<int> out(64 * 8);
    LAUNCH(shuffles, 1, dim3(8, 8))(out.get());
    LAUNCH(shuffles, 1, 64)(out.get());
    for (int t = 0; t < 64; ++t) {
        const int lane = t % 32;
        const int* mine = &out[static_cast<size_t>(t) * 8];
        CHECK(mine[0] == 30);
        CHECK(mine[1] == ((lane & ~7) + 3) * 10);
        CHECK(mine[2] == (lane % 16 < 2 ? lane : lane - 2));
        CHECK(mine[3] == (lane % 8 > 4 ? lane : lane + 3));
        CHECK(mine[4] == (lane ^ 5));
        CHECK(mine[5] == (lane ^ 1));
        CHECK(mine[6] == 7);
        CHECK(mine[7] == (lane ^ 4));
    }
}

void votes(unsigned* out) {
    const int lane = simt::detail::lane();
    unsigned* mine = out + threadIdx.x * 8;
    mine[0] = __ballot_sync(~0u, lane % 3 == 0);
    mine[1] = static_cast<unsigned>(__any_sync(~0u, lane == 31));
    mine[2] = static_cast<unsigned>(__all_sync(~0u, lane != 31));
    mine[3] = __match_any_sync(~0u, lane / 5);
    int all = -1;
    mine[4] = __match_all_sync(~0u, 42, &all);
    mine[5] = static_cast<unsigned>(all);
    mine[6] = __match_all_sync(~0u, lane == 9, &all);
    mine[7] = static_cast<unsigned>(all);
}

TEST("votes and matches") {
    Buffer<unsigned> out(32 * 8);
    LAUNCH(votes, 1, 32)(out.get());
    for (unsigned t = 0; t < 32; ++t) {
        const unsigned* mine = &out[t * 8];
        CHECK(mine[0] == 0x49249249u);
        CHECK(mine[1] == 1u);
        CHECK(mine[2] == 0u);
        unsigned same = 0;
        for (unsigned i = 0; i < 32; ++i)
            same |= unsigned{i / 5 == t / 5} << i;
        CHECK(mine[3] == same);
        CHECK(mine[4] == ~0u);
        CHECK(mine[5] == 1u);
        CHECK(mine[6] == 0u);
        CHECK(mine[7] == 0u);
    }
}

void reductions(int* out) {
    const int lane = simt::detail::lane();
    const auto bits = static_cast<unsigned>(lane);
    out[0] = __reduce_add_sync(~0u, lane - 100);
    out[1] = __reduce_min_sync(~0u, lane - 100);
    out[2] = __reduce_max_sync(~0u, lane - 100);
    out[3] = static_cast<int>(__reduce_max_sync(~0u, 0x80000000u + bits) - 0x80000000u);
    out[4] = static_cast<int>(__reduce_and_sync(~0u, bits | 64u));
    out[5] = static_cast<int>(__reduce_or_sync(~0u, bits));
    out[6] = static_cast<int>(__reduce_xor_sync(~0u, bits | 32u));
    out[7] = static_cast<int>(__reduce_min_sync(~0u, 0x80000000u - bits) - 0x7fffffe1u);
}

TEST("reductions, signed and unsigned") {
    Buffer<int> out(8);
    LAUNCH(reductions, 1, 32)(out.get());
    const int expected[] = {496 - 3200, -100, -69, 31, 64, 31, 0, 0};
    for (size_t i = 0; i < 8; ++i)
        CHECK(out[i] == expected[i]);
}

void halves(int* out) {
    const int lane = simt::detail::lane();
    int v = lane;
    if (lane < 16)
        v += __shfl_xor_sync(0x0000ffffu, v, 1);
    else
        v += __shfl_down_sync(0xffff0000u, v, 1, 16);
    __syncwarp();
    out[threadIdx.x] = v;
}

TEST("disjoint masks in the branches of an if, then a whole-warp barrier") {
    for (unsigned seed = 0; seed < 5; ++seed) {
        simt::set_seed(seed);
        Buffer<int> out(64);
        LAUNCH(halves, 1, 64)(out.get());
        simt::set_seed(0);
        CHECK(test::take_fault() == 0);
        for (int i = 0; i < 64; ++i) {
            const int lane = i % 32;
            const int other = lane < 16 ? (lane ^ 1) : (lane == 31 ? lane : lane + 1);
            CHECK(out[static_cast<size_t>(i)] == lane + other);
        }
    }
}

void exited_lanes(int* out, unsigned n) {
    if (threadIdx.x >= n) return;
    out[threadIdx.x] = static_cast<int>(__ballot_sync(~0u, 1));
}

TEST("lanes that returned, or that never existed, count as arrived") {
    Buffer<int> out(32);
    LAUNCH(exited_lanes, 1, 32)(out.get(), 20u);
    CHECK(out[0] == 0xfffff);
    LAUNCH(exited_lanes, 1, 8)(out.get(), 8u);
    CHECK(out[0] == 0xff);
    CHECK(test::take_fault() == 0);
}

void active(unsigned* out) {
    const unsigned lane = threadIdx.x % 32;
    unsigned mask;
    if (lane % 4 == 1)
        mask = __activemask();
    else
        mask = __activemask();
    out[threadIdx.x] = mask;
    out[64 + threadIdx.x] = __activemask();
}

TEST("the active mask holds the lanes of the same branch") {
    Buffer<unsigned> out(128);
    LAUNCH(active, 1, 64)(out.get());
    for (unsigned i = 0; i < 64; ++i) {
        CHECK(out[i] == (i % 4 == 1 ? 0x22222222u : 0xddddddddu));
        CHECK(out[64 + i] == 0xffffffffu);
    }
}

void aggregated(int* counter, int n) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += 32) {
        if (i % 3 == 0) continue;
        const unsigned mask = __activemask();
        const int leader = __builtin_ctz(mask);
        if (simt::detail::lane() == leader)
            atomicAdd(counter, __builtin_popcount(mask));
        __syncwarp(mask);
    }
}

TEST("opportunistic warp aggregation counts every lane once") {
    Buffer<int> counter(1);
    LAUNCH(aggregated, 4, 32)(counter.get(), 100);
    CHECK(counter[0] == 4 * 66);
}

void old_style_sum(volatile int* s, int* out) {
    const unsigned t = threadIdx.x;
    if (t < 32) {
        s[t] = s[t] + s[t + 32];
        simt::detail::lockstep();
        s[t] = s[t] + s[t + 16];
        simt::detail::lockstep();
        s[t] = s[t] + s[t + 8];
        simt::detail::lockstep();
        s[t] = s[t] + s[t + 4];
        simt::detail::lockstep();
        s[t] = s[t] + s[t + 2];
        simt::detail::lockstep();
        s[t] = s[t] + s[t + 1];
    }
    if (t == 0) *out = s[0];
}

TEST("a reduction that relies on lockstep, with what the rewriter adds") {
    Buffer<int> s(64), out(1);
    for (int i = 0; i < 64; ++i)
        s[static_cast<size_t>(i)] = i;
    LAUNCH(old_style_sum, 1, 64)(s.get(), out.get());
    CHECK(out[0] == 2016);
}

void custom_sum(simt::detail::WarpArg* const* lanes, uint32_t mask) {
    uint64_t sum = 0;
    for (int l = 0; l < 32; ++l)
        if (mask >> l & 1) sum += lanes[l]->in;
    for (int l = 0; l < 32; ++l)
        if (lanes[l]) lanes[l]->out = sum;
}

void custom(unsigned* out) {
    simt::detail::WarpArg arg{threadIdx.x, 0, 0, nullptr, custom_sum};
    if (threadIdx.x % 2)
        simt::detail::warp_op(simt::detail::WarpOp::custom,
                              0xaaaaaaaau,
                              arg,
                              "custom",
                              __FILE__,
                              __LINE__);
    out[threadIdx.x] = static_cast<unsigned>(arg.out);
}

TEST("a custom operation sees the lanes in its mask") {
    Buffer<unsigned> out(32);
    LAUNCH(custom, 1, 32)(out.get());
    CHECK(out[0] == 0);
    CHECK(out[1] == 256);
}

void partial_sum(float* out) {
    float v = 1.0f;
    if (threadIdx.x < 8)
        for (unsigned o = 4; o > 0; o /= 2)
            v += __shfl_down_sync(0xffu, v, o);
    out[threadIdx.x] = v;
}

TEST("a shuffle from outside the mask gives 0 and a warning") {
    Buffer<float> out(32);
    LAUNCH(partial_sum, 1, 32)(out.get());
    CHECK(test::take_fault() == 0);
    CHECK(out[0] == 8.0f);
    CHECK(out[7] == 1.0f);
}

TEST("strict: a shuffle from outside the mask is a fault") {
    simt::set_strict(true);
    Buffer<float> out(32);
    LAUNCH(partial_sum, 1, 32)(out.get());
    simt::set_strict(false);
    CHECK(test::take_fault() == cudaErrorLaunchFailure);
    CHECK(test::report_contains("lane 4 reads lane 8"));
    CHECK(test::report_contains("0x000000ff"));
    CHECK(test::report_contains("at warp_test.cpp:"));
}

}  // namespace
