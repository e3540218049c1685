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

/// Two 16-bit numbers, the first in the lower half.
__device__ unsigned both(unsigned low, unsigned high) {
    return low | high << 16;
}

CONFORMANCE(ptx_ldmatrix_of_four_and_transposed) {
    const auto got = run<unsigned>(1, 32, 6 * 32, [] __device__(unsigned* out) {
        __shared__ __align__(16) unsigned short s_numbers[256];
        const unsigned lane = threadIdx.x;
        for (unsigned i = lane; i < 256; i += 32)
            s_numbers[i] = i;
        __syncwarp();
        const auto row =
            static_cast<unsigned>(__cvta_generic_to_shared(&s_numbers[8 * lane]));
        unsigned r[6];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(row)
                     : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(r[4]), "=r"(r[5])
                     : "r"(row)
                     : "memory");
        for (int i = 0; i < 6; ++i)
            out[i * 32 + lane] = r[i];
    });
    expect_each(got, [](int i) {
        const unsigned lane = i % 32, matrix = i / 32;
        const unsigned major = lane / 4, minor = lane % 4 * 2;
        const unsigned first = matrix < 4 ? 64 * matrix + 8 * major + minor
                                          : 64 * (matrix - 4) + 8 * minor + major;
        return first | (first + (matrix < 4 ? 1 : 8)) << 16;
    });
}

CONFORMANCE(ptx_mma_of_half_and_bfloat16) {
    const auto got = run<float>(1, 32, 2 * 128, [] __device__(float* out) {
        const unsigned group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
        for (int bf16 = 0; bf16 < 2; ++bf16) {
            const unsigned one = bf16 ? 0x3f80 : 0x3c00, two = 0x4000;
            // a: 2 on the diagonal, 1 beside it; b[k][n]: 1 if k = n, 2 if k = n + 8.
            const auto a = [&](unsigned row, unsigned col) {
                return row == col ? two : row + 1 == col ? one : 0;
            };
            const auto b = [&](unsigned row, unsigned col) {
                return row == col ? one : row == col + 8 ? two : 0;
            };
            unsigned ra[4], rb[2];
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned row = group + i % 2 * 8, col = pair + i / 2 * 8;
                ra[i] = both(a(row, col), a(row, col + 1));
                if (i < 2)
                    rb[i] = both(b(pair + 8 * i, group), b(pair + 8 * i + 1, group));
            }
            float c0 = 10, c1 = 20, c2 = 30, c3 = 40;
            if (bf16)
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                    : "r"(ra[0]),
                      "r"(ra[1]),
                      "r"(ra[2]),
                      "r"(ra[3]),
                      "r"(rb[0]),
                      "r"(rb[1]));
            else
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                    : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                    : "r"(ra[0]),
                      "r"(ra[1]),
                      "r"(ra[2]),
                      "r"(ra[3]),
                      "r"(rb[0]),
                      "r"(rb[1]));
            float* const d = out + 128 * bf16;
            d[8 * group + pair] = c0, d[8 * group + pair + 1] = c1;
            d[8 * (group + 8) + pair] = c2, d[8 * (group + 8) + pair + 1] = c3;
        }
    });
    expect_each(got, [](int i) {
        const int row = i % 128 / 8, col = i % 8;
        const auto a = [&](int k) { return row == k ? 2 : row + 1 == k ? 1 : 0; };
        return 10 + 10 * (col % 2) + 20 * (row / 8) + a(col) + 2 * a(col + 8);
    });
}

CONFORMANCE(ptx_mma_of_bytes) {
    // a[m][k] = 3 m + k - 64, b[k][n] = 5 n - 7 k + 127 mod 256, signed.
    const auto a = [] __host__ __device__(int m, int k) { return 3 * m + k - 64; };
    const auto b = [] __host__ __device__(int k, int n) {
        return static_cast<int>(static_cast<signed char>(5 * n - 7 * k + 127));
    };
    const auto got = run<int>(1, 32, 128, [a, b] __device__(int* out) {
        const int group = static_cast<int>(threadIdx.x) / 4;
        const int first = static_cast<int>(threadIdx.x) % 4 * 4;
        unsigned ra[4] = {}, rb[2] = {};
        for (int r = 0; r < 4; ++r)
            for (int i = 0; i < 4; ++i) {
                const int of_a = a(group + r % 2 * 8, first + i + r / 2 * 16);
                ra[r] |= (static_cast<unsigned>(of_a) & 0xff) << 8 * i;
                const int of_b = b(first + i + r % 2 * 16, group);
                if (r < 2) rb[r] |= (static_cast<unsigned>(of_b) & 0xff) << 8 * i;
            }
        int c0 = 1000, c1 = 2000, c2 = 3000, c3 = 4000;
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(c0), "+r"(c1), "+r"(c2), "+r"(c3)
            : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
        const int col = first / 2;
        out[8 * group + col] = c0, out[8 * group + col + 1] = c1;
        out[8 * (group + 8) + col] = c2, out[8 * (group + 8) + col + 1] = c3;
    });
    expect_each(got, [&](int i) {
        const int row = i / 8, col = i % 8;
        int sum = 1000 + 1000 * (col % 2) + 2000 * (row / 8);
        for (int k = 0; k < 32; ++k)
            sum += a(row, k) * b(k, col);
        return sum;
    });
}

CONFORMANCE(ptx_mma_of_half_the_depth) {
    const auto got = run<float>(1, 32, 256, [] __device__(float* out) {
        const unsigned group = threadIdx.x / 4, q = threadIdx.x % 4, k = 2 * q;
        // a[row][k] = row + 20 k, b[k][col] = 1 + k if k = col, else 0.
        const auto a = [&](unsigned k, unsigned i) {
            return group + 8 * i + 20.0f * k;
        };
        const auto b = [&](unsigned k) { return k == group ? 1.0f + k : 0.0f; };
        // A float of which TF32 ignores the lower 13 bits.
        const auto tf32 = [](float x) { return __float_as_uint(x) | 0x1fffu; };
        const auto f16 = [](float low, float high) {
            unsigned pair;
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
            return pair;
        };
        float c[2][4] = {};
        // clang-format off
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3])
            : "r"(tf32(a(q, 0))), "r"(tf32(a(q, 1))), "r"(tf32(a(q + 4, 0))),
              "r"(tf32(a(q + 4, 1))), "r"(tf32(b(q))), "r"(tf32(b(q + 4))));
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(c[1][0]), "+f"(c[1][1]), "+f"(c[1][2]), "+f"(c[1][3])
            : "r"(f16(a(k, 0), a(k + 1, 0))), "r"(f16(a(k, 1), a(k + 1, 1))),
              "r"(f16(b(k), b(k + 1))));
        // clang-format on
        for (int i = 0; i < 8; ++i)
            out[128 * (i / 4) + 8 * (group + i / 2 % 2 * 8) + k + i % 2] =
                c[i / 4][i % 4];
    });
    expect_each(got, [](int i) {
        const int row = i % 128 / 8, col = i % 8;
        return (row + 20.0f * col) * (1.0f + col);
    });
}
