// Lanes of a warp: shuffles, votes, matches, reductions, masks.
#include "conformance.h"

using namespace conformance;

CONFORMANCE(shuffle_broadcasts_a_lane) {
    const auto got = run<int>(1, 64, 64, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_sync(~0u, int(threadIdx.x) * 10, 5);
    });
    expect_each(got, [](int i) { return (i / 32 * 32 + 5) * 10; });
}

CONFORMANCE(shuffle_source_wraps_at_the_width) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_sync(~0u, int(threadIdx.x), 11, 8);
    });
    expect_each(got, [](int i) { return i / 8 * 8 + 3; });
}

CONFORMANCE(shuffle_with_a_negative_source_wraps) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_sync(~0u, int(threadIdx.x), -1);
    });
    expect_each(got, [](int) { return 31; });
}

CONFORMANCE(shuffle_down_keeps_the_value_at_the_end) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_down_sync(~0u, int(threadIdx.x), 4);
    });
    expect_each(got, [](int i) { return i + 4 < 32 ? i + 4 : i; });
}

CONFORMANCE(shuffle_down_in_groups_of_16) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_down_sync(~0u, int(threadIdx.x), 3, 16);
    });
    expect_each(got, [](int i) { return i % 16 + 3 < 16 ? i + 3 : i; });
}

CONFORMANCE(shuffle_up_keeps_the_value_at_the_start) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_up_sync(~0u, int(threadIdx.x), 2);
    });
    expect_each(got, [](int i) { return i >= 2 ? i - 2 : i; });
}

CONFORMANCE(shuffle_up_in_groups_of_4) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_up_sync(~0u, int(threadIdx.x), 1, 4);
    });
    expect_each(got, [](int i) { return i % 4 >= 1 ? i - 1 : i; });
}

CONFORMANCE(shuffle_xor_exchanges_neighbours) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_xor_sync(~0u, int(threadIdx.x), 1);
    });
    expect_each(got, [](int i) { return i ^ 1; });
}

CONFORMANCE(shuffle_xor_reads_lower_groups_but_not_higher_ones) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        out[threadIdx.x] = __shfl_xor_sync(~0u, int(threadIdx.x), 8, 8);
    });
    // A lane may read from an earlier group; a later one gives its own value.
    expect_each(got, [](int i) { return (i ^ 8) < i ? i ^ 8 : i; });
}

CONFORMANCE(shuffles_of_64_bit_values) {
    const auto got = run<double>(1, 32, 32, [] __device__(double* out) {
        out[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x + 0.125, 16);
    });
    expect_each(got, [](int i) { return (i ^ 16) + 0.125; });
    const auto longs = run<long long>(1, 32, 32, [] __device__(long long* out) {
        out[threadIdx.x] = __shfl_sync(~0u, (1LL << 40) + threadIdx.x, 31);
    });
    expect_each(longs, [](int) { return (1LL << 40) + 31; });
}

CONFORMANCE(shuffles_of_float_and_unsigned) {
    const auto got = run<float>(1, 32, 32, [] __device__(float* out) {
        out[threadIdx.x] = __shfl_down_sync(~0u, threadIdx.x * 0.5f, 1);
    });
    expect_each(got, [](int i) { return (i < 31 ? i + 1 : i) * 0.5f; });
    const auto bits = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        out[threadIdx.x] = __shfl_sync(~0u, 0x80000000u + threadIdx.x, 2);
    });
    expect_each(bits, [](int) { return 0x80000002u; });
}

CONFORMANCE(a_butterfly_sums_a_warp) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        int v = threadIdx.x;
        for (int offset = 16; offset > 0; offset /= 2)
            v += __shfl_xor_sync(~0u, v, offset);
        out[threadIdx.x] = v;
    });
    expect_each(got, [](int) { return 496; });
}

CONFORMANCE(half_warps_with_masks_of_their_own) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        int v = threadIdx.x;
        if (threadIdx.x < 16) {
            v = __shfl_sync(0x0000ffffu, v, 3);
        } else {
            v = __shfl_sync(0xffff0000u, v, 20);
        }
        __syncwarp();
        out[threadIdx.x] = v;
    });
    expect_each(got, [](int i) { return i < 16 ? 3 : 20; });
}

CONFORMANCE(ballot_counts_lanes) {
    const auto got = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        out[threadIdx.x] = __ballot_sync(~0u, threadIdx.x % 4 == 0);
    });
    expect_each(got, [](int) { return 0x11111111u; });
}

CONFORMANCE(ballot_leaves_lanes_outside_the_mask_at_zero) {
    const auto got = run<unsigned>(1, 32, 8, [] __device__(unsigned* out) {
        if (threadIdx.x < 8) out[threadIdx.x] = __ballot_sync(0xffu, 1);
    });
    expect_each(got, [](int) { return 0xffu; });
}

CONFORMANCE(any_and_all) {
    const auto got = run<int>(1, 32, 4, [] __device__(int* out) {
        const int any = __any_sync(~0u, threadIdx.x == 9);
        const int none = __any_sync(~0u, threadIdx.x == 99);
        const int all = __all_sync(~0u, threadIdx.x < 32);
        const int most = __all_sync(~0u, threadIdx.x < 31);
        if (threadIdx.x == 0) {
            out[0] = any != 0, out[1] = none != 0, out[2] = all != 0,
            out[3] = most != 0;
        }
    });
    expect_each(got, [](int i) { return i == 0 || i == 2; });
}

CONFORMANCE(activemask_of_a_full_warp) {
    const auto got = run<unsigned>(
        1, 32, 32, [] __device__(unsigned* out) { out[threadIdx.x] = __activemask(); });
    expect_each(got, [](int) { return ~0u; });
}

CONFORMANCE(a_block_of_40_has_a_second_warp_of_8_lanes) {
    const auto got = run<unsigned>(1, 40, 40, [] __device__(unsigned* out) {
        out[threadIdx.x] = __ballot_sync(threadIdx.x < 32 ? ~0u : 0xffu, 1);
    });
    expect_each(got, [](int i) { return i < 32 ? ~0u : 0xffu; });
}

CONFORMANCE(match_any_groups_equal_values) {
    const auto got = run<unsigned>(1, 32, 32, [] __device__(unsigned* out) {
        out[threadIdx.x] = __match_any_sync(~0u, threadIdx.x % 4);
    });
    expect_each(got, [](int i) { return 0x11111111u << (i % 4); });
}

CONFORMANCE(match_all_tells_whether_all_agree) {
    const auto got = run<unsigned>(1, 32, 4, [] __device__(unsigned* out) {
        int same = -1;
        int different = -1;
        const unsigned m1 = __match_all_sync(~0u, 7, &same);
        const unsigned m2 = __match_all_sync(~0u, threadIdx.x / 31, &different);
        if (threadIdx.x == 0)
            out[0] = m1, out[1] = same != 0, out[2] = m2, out[3] = different;
    });
    expect_equal(got[0], ~0u);
    expect_equal(got[1], 1u);
    expect_equal(got[2], 0u);
    expect_equal(got[3], 0u);
}

CONFORMANCE(reduce_sync_add_min_max) {
    const auto got = run<int>(1, 32, 5, [] __device__(int* out) {
        const int v = int(threadIdx.x) - 10;
        const int sum = __reduce_add_sync(~0u, v);
        const int least = __reduce_min_sync(~0u, v);
        const int most = __reduce_max_sync(~0u, v);
        const unsigned umin = __reduce_min_sync(~0u, unsigned(v));
        const unsigned umax = __reduce_max_sync(~0u, unsigned(v));
        if (threadIdx.x == 7) {
            out[0] = sum, out[1] = least, out[2] = most, out[3] = int(umin),
            out[4] = int(umax);
        }
    });
    const int expected[] = {176, -10, 21, 0, -1};
    expect_each(got, [&](int i) { return expected[i]; });
}

CONFORMANCE(reduce_sync_bits) {
    const auto got = run<unsigned>(1, 32, 3, [] __device__(unsigned* out) {
        const unsigned v = 1u << threadIdx.x;
        const unsigned all = __reduce_or_sync(~0u, v);
        const unsigned none = __reduce_and_sync(~0u, v);
        const unsigned parity = __reduce_xor_sync(~0u, 3u * v);
        if (threadIdx.x == 0) out[0] = all, out[1] = none, out[2] = parity;
    });
    expect_equal(got[0], ~0u);
    expect_equal(got[1], 0u);
    // Bit 0 is hit once, every other bit twice.
    expect_equal(got[2], 1u);
}

CONFORMANCE(shuffle_in_a_loop_where_lanes_leave) {
    const auto got = run<int>(1, 32, 32, [] __device__(int* out) {
        unsigned mask = ~0u;
        int sum = 0;
        for (int round = 0; round < 4; ++round) {
            const bool stays = int(threadIdx.x) >= round * 8;
            mask = __ballot_sync(mask, stays);
            if (!stays) break;
            sum += __shfl_sync(mask, 1, 31);
        }
        out[threadIdx.x] = sum;
    });
    expect_each(got, [](int i) { return i / 8 + 1; });
}
