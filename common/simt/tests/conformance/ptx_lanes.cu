// Inline PTX: predicates, registers, lanes, memory.
#include "conformance.h"

#include <limits>

#include "ptx.h"

using namespace conformance;

CONFORMANCE(ptx_predicates_choose) {
    const auto choose =
        S32("{\n\t"
            ".reg .pred p, q;\n\t"
            "setp.lt.s32 p, %1, %2;\n\t"
            "setp.gt.and.s32 q, %3, 0, p;\n\t"
            "selp.s32 %0, 10, 20, p;\n\t"
            "@q add.s32 %0, %0, 1;\n\t"
            "@!p add.s32 %0, %0, 2;\n\t"
            "}");
    expect_equal(apply<int>(choose, 1, 2, 3), 11);
    expect_equal(apply<int>(choose, 1, 2, -3), 10);
    expect_equal(apply<int>(choose, 5, 2, 3), 22);
}

CONFORMANCE(ptx_comparisons_know_nan) {
    const auto flags = [] __device__(float a, float b, float) {
        unsigned d;
        asm volatile(
            "{\n\t"
            ".reg .pred p, q;\n\t"
            ".reg .u32 r;\n\t"
            "setp.ne.f32 p, %1, %2;\n\t"
            "selp.u32 %0, 1, 0, p;\n\t"
            "setp.neu.f32 p|q, %1, %2;\n\t"
            "selp.u32 r, 2, 0, p;\n\t"
            "add.u32 %0, %0, r;\n\t"
            "selp.u32 r, 4, 0, q;\n\t"
            "add.u32 %0, %0, r;\n\t"
            "set.nan.u32.f32 r, %1, %2;\n\t"
            "and.b32 r, r, 8;\n\t"
            "add.u32 %0, %0, r;\n\t"
            "}"
            : "=r"(d)
            : "f"(a), "f"(b));
        return d;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expect_equal(apply<unsigned>(flags, nan, 1.0f), 2u + 8u);
    expect_equal(apply<unsigned>(flags, 2.0f, 1.0f), 1u + 2u);
    expect_equal(apply<unsigned>(flags, 1.0f, 1.0f), 4u);
}

CONFORMANCE(ptx_registers_are_packed_and_unpacked) {
    const auto got = run<unsigned>(1, 1, 3, [] __device__(unsigned* out) {
        const volatile unsigned low = 7, high = 9;
        unsigned long long whole;
        asm("mov.b64 %0, {%1, %2};" : "=l"(whole) : "r"(low), "r"(high));
        asm("mov.b64 {%0, %1}, %2;" : "=r"(out[0]), "=r"(out[1]) : "l"(whole));
        asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, a}; }"
            : "=r"(out[2])
            : "r"(0x12345678u));
    });
    expect_equal(got, std::vector<unsigned>{7, 9, 0x56781234u});
}

CONFORMANCE(ptx_votes_and_matches) {
    const auto got = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        const unsigned lane = threadIdx.x;
        unsigned ballot, same, uniform;
        asm volatile(
            "{ .reg .pred p, q;\n\t"
            "setp.lt.u32 p, %3, 8;\n\t"
            "vote.sync.ballot.b32 %0, p, 0xffffffff;\n\t"
            "vote.sync.uni.pred q, !p, 0xffffffff;\n\t"
            "selp.u32 %2, 1, 0, q;\n\t"
            "match.any.sync.b32 %1, %4, 0xffffffff; }"
            : "=r"(ballot), "=r"(same), "=r"(uniform)
            : "r"(lane), "r"(lane % 2));
        out[lane] = ballot == 0xffu && uniform == 0 ? same : 0;
    });
    expect_each(got, [](int i) { return i % 2 ? 0xaaaaaaaau : 0x55555555u; });
}

CONFORMANCE(ptx_shuffles_within_segments) {
    const auto got = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        const unsigned lane = threadIdx.x;
        unsigned below, inside, other;
        asm volatile(
            "{ .reg .pred p;\n\t"
            // segments of 8 lanes: 24 << 8
            "shfl.sync.up.b32 %0|p, %3, 1, 0x1800, 0xffffffff;\n\t"
            "selp.u32 %1, 1, 0, p;\n\t"
            "shfl.sync.bfly.b32 %2, %3, 3, 0x1f, 0xffffffff; }"
            : "=r"(below), "=r"(inside), "=r"(other)
            : "r"(lane));
        out[lane] = below + 100 * inside + 1000 * other;
    });
    expect_each(got, [](int i) {
        const bool inside = i % 8 != 0;
        return (inside ? i - 1 : i) + 100 * inside + 1000 * (i ^ 3);
    });
}

CONFORMANCE(ptx_reductions_of_a_warp) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        const int lane = static_cast<int>(threadIdx.x);
        int sum, least;
        asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(lane));
        asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;"
                     : "=r"(least)
                     : "r"(-lane));
        out[lane] = sum + least;
    });
    expect_each(got, [](int) { return 496 - 31; });
}

CONFORMANCE(ptx_atomics_and_reductions_to_memory) {
    const auto got = run<int>(1, 64, 4, [] __device__(int* out) {
        int old;
        asm volatile("atom.global.add.u32 %0, [%1], 1;"
                     : "=r"(old)
                     : "l"(out)
                     : "memory");
        asm volatile("red.relaxed.gpu.global.max.s32 [%0+4], %1;" ::"l"(out), "r"(old)
                     : "memory");
        asm volatile("red.global.or.b32 [%0], %1;" ::"l"(out + 2), "r"(1 << (old % 8))
                     : "memory");
        if (old == 0)
            asm volatile("atom.global.exch.b32 %0, [%1], 42;"
                         : "=r"(old)
                         : "l"(out + 3)
                         : "memory");
    });
    expect_equal(got, std::vector<int>{64, 63, 255, 42});
}

CONFORMANCE(ptx_special_registers) {
    const auto got = run<unsigned>(2, 64, 128, [] __device__(unsigned* out) {
        unsigned lane, thread, block, below, sm;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        asm("mov.u32 %0, %%tid.x;" : "=r"(thread));
        asm("mov.u32 %0, %%ctaid.x;" : "=r"(block));
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        unsigned long long before, after;
        asm volatile("mov.u64 %0, %%clock64;" : "=l"(before));
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
        const bool right =
            below == (1u << lane) - 1 && sm < 1024 && before != 0 && after != 0;
        out[block * 64 + thread] = right ? lane : 99;
    });
    expect_each(got, [](int i) { return i % 32; });
}

CONFORMANCE(ptx_loads_and_stores_with_hints) {
    const auto got = run<float>(1, 1, 8, [] __device__(float* out) {
        asm volatile("st.global.wb.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(out),
                     "f"(1.0f),
                     "f"(2.0f),
                     "f"(3.0f),
                     "f"(4.0f)
                     : "memory");
        float2 x;
        asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2+8];"
                     : "=f"(x.x), "=f"(x.y)
                     : "l"(out)
                     : "memory");
        unsigned y;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                     : "=r"(y)
                     : "l"(out)
                     : "memory");
        asm volatile("st.global.cs.f32 [%0], 0f40A00000;" ::"l"(out + 4) : "memory");
        out[5] = x.x + x.y;
        out[6] = __uint_as_float(y);
    });
    expect_equal(got, std::vector<float>{1, 2, 3, 4, 5, 7, 1, 0});
}
