// Atomic functions.
#include "harness.h"

namespace {

using test::Buffer;

struct HalfLike {
    unsigned short bits;
    friend HalfLike operator+(HalfLike a, HalfLike b) {
        return {static_cast<unsigned short>(a.bits + b.bits)};
    }
};
struct alignas(4) PairLike {
    HalfLike x, y;
};

template <class T>
void sum(T* total, T value) {
    atomicAdd(total, value);
}

template <class T>
T sum_of_ones() {
    Buffer<T> total(1);
    simt::kernel("sum", sum<T>)(16, 256)(total.get(), T(1));
    return total[0];
}

TEST("atomicAdd of every arithmetic type loses nothing") {
    CHECK(sum_of_ones<int>() == 4096);
    CHECK(sum_of_ones<unsigned>() == 4096);
    CHECK(sum_of_ones<long long>() == 4096);
    CHECK(sum_of_ones<unsigned long long>() == 4096);
    CHECK(sum_of_ones<float>() == 4096);
    CHECK(sum_of_ones<double>() == 4096);
}

void packed(PairLike* pair, HalfLike* half) {
    atomicAdd(pair, PairLike{{1}, {2}});
    atomicAdd(half, HalfLike{3});
}

TEST("atomicAdd of halves and pairs of halves") {
    Buffer<PairLike> pair(1);
    Buffer<HalfLike> half(2);
    LAUNCH(packed, 4, 64)(pair.get(), half.get() + 1);
    CHECK(pair[0].x.bits == 256);
    CHECK(pair[0].y.bits == 512);
    CHECK(half[1].bits == 768);
    CHECK(half[0].bits == 0);
}

void each(int* i, unsigned* u, unsigned long long* ull, long long* ll, float* f) {
    i[1] = atomicAdd(&i[0], 2);
    i[2] = atomicSub(&i[0], 5);
    i[3] = atomicMin(&i[0], -7);
    i[4] = atomicMax(&i[0], 12);
    i[5] = atomicExch(&i[0], 0xff);
    i[6] = atomicAnd(&i[0], 0x3c);
    i[7] = atomicOr(&i[0], 3);
    i[8] = atomicXor(&i[0], 1);
    i[9] = atomicCAS(&i[0], 0x3e, 77);
    i[10] = atomicCAS(&i[0], 0x3e, 78);
    u[1] = atomicInc(&u[0], 1);
    u[2] = atomicInc(&u[0], 1);
    u[3] = atomicDec(&u[0], 9);
    u[4] = atomicDec(&u[0], 9);
    ull[1] = atomicAdd(&ull[0], 1);  // an int is converted, as by CUDA's overloads
    ull[2] = atomicMax(&ull[0], 1ull << 60);
    ull[3] = atomicMin(&ull[0], 5);
    ull[4] = atomicCAS(&ull[0], 5ull, 6ull);
    ll[1] = atomicMin(&ll[0], -1ll << 60);
    f[1] = atomicExch(&f[0], 2.5f);
    atomicAdd_block(&f[0], 1.0f);
    atomicAdd_system(&ull[0], 10);
}

TEST("every function returns the old value and stores the new one") {
    Buffer<int> i(11);
    Buffer<unsigned> u(5);
    Buffer<unsigned long long> ull(5);
    Buffer<long long> ll(2);
    Buffer<float> f(2);
    LAUNCH(each, 1, 1)(i.get(), u.get(), ull.get(), ll.get(), f.get());
    const int expected_i[] = {77, 0, 2, -3, -7, 12, 0xff, 0x3c, 0x3f, 0x3e, 77};
    for (size_t k = 0; k < 11; ++k)
        CHECK(i[k] == expected_i[k]);
    const unsigned expected_u[] = {8, 0, 1, 0, 9};
    for (size_t k = 0; k < 5; ++k)
        CHECK(u[k] == expected_u[k]);
    const unsigned long long expected_ull[] = {16, 0, 1, 1ull << 60, 5};
    for (size_t k = 0; k < 5; ++k)
        CHECK(ull[k] == expected_ull[k]);
    CHECK(ll[0] == -1ll << 60);
    CHECK(f[0] == 3.5f);
    CHECK(f[1] == 0.0f);
}

void short_cas(unsigned short* p) {
    p[1] = atomicCAS(
        &p[0], static_cast<unsigned short>(7), static_cast<unsigned short>(8));
}

TEST("atomicCAS of 16 bits") {
    Buffer<unsigned short> p(2, 7);
    LAUNCH(short_cas, 1, 1)(p.get());
    CHECK(p[0] == 8);
    CHECK(p[1] == 7);
}

/// A program may define what CUDA lacks.
float atomicMax(float* address, float value) {
    auto* bits = reinterpret_cast<int*>(address);
    int old = *bits, assumed;
    do {
        assumed = old;
        float current;
        std::memcpy(&current, &assumed, 4);
        const float next = current < value ? value : current;
        int next_bits;
        std::memcpy(&next_bits, &next, 4);
        old = atomicCAS(bits, assumed, next_bits);
    } while (assumed != old);
    return 0;
}
void largest(float* out) {
    atomicMax(out, static_cast<float>((threadIdx.x * 37) % 101));
}

TEST("a program's own atomicMax(float*) does not meet ours") {
    Buffer<float> out(1);
    LAUNCH(largest, 4, 256)(out.get());
    CHECK(out[0] == 100.0f);
}

}  // namespace
