// Atomics: what they return, how they wrap, which types they know.
#include "conformance.h"

#include <cuda_fp16.h>

using namespace conformance;

CONFORMANCE(atomic_add_counts_every_thread) {
    const auto got =
        run<int>(100, 256, 1, [] __device__(int* out) { atomicAdd(out, 2); });
    expect_equal(got[0], 51200);
}

CONFORMANCE(atomic_add_returns_the_old_value) {
    const auto got = run<int>(1, 64, 65, [] __device__(int* out) {
        const int old = atomicAdd(&out[64], 1);
        out[old] = 1;  // every ticket is given out once
    });
    for (int i = 0; i < 64; ++i)
        expect_equal(got[i], 1);
}

CONFORMANCE(atomic_add_on_float_and_double) {
    const auto f =
        run<float>(4, 64, 1, [] __device__(float* out) { atomicAdd(out, 0.5f); });
    expect_equal(f[0], 128.0f);
    const auto d =
        run<double>(4, 64, 1, [] __device__(double* out) { atomicAdd(out, 0.25); });
    expect_equal(d[0], 64.0);
}

// Each member is added in one step of its own; for memory that is not shared.
CONFORMANCE(atomic_add_on_float2_and_float4) {
    const auto pairs = run<float>(4, 64, 4, [] __device__(float* out) {
        auto* pair = reinterpret_cast<float2*>(out);
        const float2 old = atomicAdd(pair, make_float2(0.5f, 2.0f));
        if (old.x == 0) atomicAdd(&out[2], 1.0f);
        if (old.y == 510) atomicAdd(&out[3], 1.0f);
    });
    const float want[] = {128, 512, 1, 1};
    for (int i = 0; i < 4; ++i)
        expect_equal(pairs[i], want[i]);
    const auto fours = run<float>(4, 64, 4, [] __device__(float* out) {
        atomicAdd(reinterpret_cast<float4*>(out), make_float4(1, 2, 3, 4));
    });
    for (int i = 0; i < 4; ++i)
        expect_equal(fours[i], 256.0f * (i + 1));
}

CONFORMANCE(atomic_add_on_64_bits) {
    using Long = unsigned long long;
    const auto got =
        run<Long>(1, 32, 1, [] __device__(Long * out) { atomicAdd(out, 1ull << 33); });
    expect_equal(got[0], 32ull << 33);
}

CONFORMANCE(atomic_sub_wraps) {
    const auto got =
        run<unsigned>(1, 3, 1, [] __device__(unsigned* out) { atomicSub(out, 1u); });
    expect_equal(got[0], 0xfffffffdu);
}

CONFORMANCE(atomic_min_and_max_signed) {
    const auto got = run<int>(1, 64, 2, [] __device__(int* out) {
        atomicMin(&out[0], int(threadIdx.x) - 40);
        atomicMax(&out[1], int(threadIdx.x) - 40);
    });
    expect_equal(got[0], -40);
    expect_equal(got[1], 23);
}

CONFORMANCE(atomic_min_and_max_unsigned) {
    const auto got = run<unsigned>(1, 4, 2, [] __device__(unsigned* out) {
        atomicMin(&out[0], 0u - threadIdx.x);
        atomicMax(&out[1], 0u - threadIdx.x);
    });
    expect_equal(got[0], 0u);
    expect_equal(got[1], 0xffffffffu);
}

CONFORMANCE(atomic_max_on_64_bits_signed) {
    const auto got = run<long long>(1, 32, 1, [] __device__(long long* out) {
        atomicMax(out, (1LL << 40) + threadIdx.x);
    });
    expect_equal(got[0], (1LL << 40) + 31);
}

CONFORMANCE(atomic_inc_wraps_at_the_limit) {
    const auto got =
        run<unsigned>(1, 10, 1, [] __device__(unsigned* out) { atomicInc(out, 3u); });
    expect_equal(got[0], 2u);  // 0 1 2 3 0 1 2 3 0 1 -> 2
}

CONFORMANCE(atomic_dec_wraps_to_the_limit) {
    const auto got =
        run<unsigned>(1, 3, 1, [] __device__(unsigned* out) { atomicDec(out, 9u); });
    expect_equal(got[0], 7u);  // 0 -> 9 -> 8 -> 7
}

CONFORMANCE(atomic_exchange_hands_values_on) {
    const auto got = run<int>(1, 1, 2, [] __device__(int* out) {
        out[1] = atomicExch(&out[0], 5) * 100 + atomicExch(&out[0], 6);
    });
    expect_equal(got[0], 6);
    expect_equal(got[1], 5);
}

CONFORMANCE(atomic_exchange_of_floats) {
    const auto got = run<float>(
        1, 1, 2, [] __device__(float* out) { out[1] = atomicExch(&out[0], 2.5f); });
    expect_equal(got[0], 2.5f);
    expect_equal(got[1], 0.0f);
}

CONFORMANCE(compare_and_swap_returns_what_was_there) {
    const auto got = run<int>(1, 1, 3, [] __device__(int* out) {
        out[1] = atomicCAS(&out[0], 0, 7);
        out[2] = atomicCAS(&out[0], 0, 8);
    });
    expect_equal(got[0], 7);
    expect_equal(got[1], 0);
    expect_equal(got[2], 7);
}

CONFORMANCE(float_maximum_by_compare_and_swap) {
    const auto got = run<int>(2, 64, 1, [] __device__(int* out) {
        const float mine = 0.5f * threadIdx.x;
        int seen = *const_cast<volatile int*>(out);
        while (__int_as_float(seen) < mine) {
            const int before = atomicCAS(out, seen, __float_as_int(mine));
            if (before == seen) break;
            seen = before;
        }
    });
    expect_equal(got[0], int(0x41fc0000));  // 31.5f
}

CONFORMANCE(compare_and_swap_on_64_and_16_bits) {
    using Long = unsigned long long;
    const auto wide = run<Long>(
        1, 1, 1, [] __device__(Long * out) { atomicCAS(out, 0ull, 1ull << 50); });
    expect_equal(wide[0], 1ull << 50);
    using Short = unsigned short;
    const auto narrow = run<Short>(1, 1, 2, [] __device__(Short * out) {
        const Short zero = 0;
        const Short value = 77;
        atomicCAS(&out[1], zero, value);
    });
    expect_equal(narrow[0], Short{0});
    expect_equal(narrow[1], Short{77});
}

CONFORMANCE(atomic_bit_operations) {
    const auto got = run<unsigned>(1, 32, 3, [] __device__(unsigned* out) {
        atomicOr(&out[0], 1u << threadIdx.x);
        atomicXor(&out[1], 1u << (threadIdx.x / 2));
        __syncthreads();
        atomicAnd(&out[0], ~(1u << (threadIdx.x & ~1u)));
    });
    expect_equal(got[0], 0xaaaaaaaau);
    expect_equal(got[1], 0u);
}

CONFORMANCE(atomics_in_shared_memory) {
    const auto got = run<int>(4, 128, 4 * 16, [] __device__(int* out) {
        __shared__ int bins[16];
        if (threadIdx.x < 16) bins[threadIdx.x] = 0;
        __syncthreads();
        atomicAdd(&bins[threadIdx.x % 16], 1);
        __syncthreads();
        if (threadIdx.x < 16) out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
    });
    expect_each(got, [](int) { return 8; });
}

CONFORMANCE(block_scoped_atomics) {
    const auto got =
        run<int>(1, 64, 1, [] __device__(int* out) { atomicAdd_block(out, 1); });
    expect_equal(got[0], 64);
}

CONFORMANCE(atomic_add_on_half2) {
    const auto got = run<float>(1, 32, 2, [] __device__(float* out) {
        __shared__ __half2 sum;
        if (threadIdx.x == 0) sum = __floats2half2_rn(0.0f, 0.0f);
        __syncthreads();
        atomicAdd(&sum, __floats2half2_rn(1.0f, 0.5f));
        __syncthreads();
        if (threadIdx.x == 0) out[0] = __low2float(sum), out[1] = __high2float(sum);
    });
    expect_equal(got[0], 32.0f);
    expect_equal(got[1], 16.0f);
}

CONFORMANCE(atomics_on_managed_memory_meet_the_host) {
    int* counter = nullptr;
    ok(cudaMallocManaged(&counter, sizeof(int)));
    *counter = 1000;
    auto body = [] __device__(int* out) { atomicAdd(out, 1); };
    run_kernel<<<4, 32>>>(counter, body);
    ok(cudaDeviceSynchronize());
    expect_equal(*counter, 1128);
    ok(cudaFree(counter));
}
