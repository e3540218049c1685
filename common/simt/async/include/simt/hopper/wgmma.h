/// simt/hopper/wgmma.h: matrix products by the 128 threads of a warpgroup.
///
/// A product is computed when the last thread waits for its group. Until then the
/// accumulator holds NaN, and what has been written into it is a fault; so is an
/// operand in shared memory that differs from what it was at the issue. The threads
/// need not meet at each instruction, but all 128 must execute the same ones.
///
/// wgmma_fence is demanded before the first product and before the first one after a
/// wait; PTX allows to leave it out after a wait if no register was accessed since.
/// Sums are made in float, one after the other; the hardware's order differs.
///
/// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <type_traits>

#include "simt/core.h"
#include "simt/formats.h"

namespace simt::ptx {

namespace detail {

enum class WgmmaFormat : uint8_t { bfloat16, binary16, e4m3, s8 };

template <class T>
constexpr WgmmaFormat wgmma_format() {
    using Format = typename FormatOf<T>::type;
    if constexpr (std::is_same_v<Format, Bfloat16>) {
        return WgmmaFormat::bfloat16;
    } else if constexpr (std::is_same_v<Format, Binary16>) {
        return WgmmaFormat::binary16;
    } else {
        static_assert(std::is_same_v<Format, E4m3>,
                      "wgmma is emulated for half, bfloat16 and e4m3");
        return WgmmaFormat::e4m3;
    }
}

/// One wgmma.mma_async of 64 rows, as the instruction has it.
struct WgmmaCall {
    uint64_t a;  // descriptors
    uint64_t b;
    int n;
    WgmmaFormat format;
    bool accumulate;
    bool registers;  // a comes from registers
    bool transpose_a;
    bool transpose_b;
};
/// @param d  the thread's n / 2 accumulators, which must live until the wait: floats,
///           or the bits of int32_t
/// @param a  its four registers of a, or null
void wgmma(
    const WgmmaCall& call, float* d, const uint32_t* a, const char* file, int line);

template <class T, int kCount>
constexpr WgmmaCall wgmma_call(uint64_t a, uint64_t b, bool accumulate) {
    static_assert(kCount % 4 == 0 && kCount <= 128, "N is a multiple of 8 up to 256");
    return {a, b, kCount * 2, wgmma_format<T>(), accumulate, false, false, false};
}

}  // namespace detail

/// d = a * b (+ d), both in shared memory.
template <class T, bool kTransposeB = false, int kCount>
void wgmma_ss(
    float (&d)[kCount], uint64_t a, uint64_t b, bool accumulate, SIMT_OWN_SITE) {
    auto call = detail::wgmma_call<T, kCount>(a, b, accumulate);
    call.transpose_b = kTransposeB;
    detail::wgmma(call, d, nullptr, file, line);
}
/// The same of signed bytes. Sums of 32 bits wrap.
template <int kCount>
void wgmma_ss_s8(
    int32_t (&d)[kCount], uint64_t a, uint64_t b, bool accumulate, SIMT_OWN_SITE) {
    static_assert(kCount % 8 == 0 && kCount <= 128, "N is a multiple of 16 up to 256");
    const detail::WgmmaCall call = {
        a, b, kCount * 2, detail::WgmmaFormat::s8, accumulate, false, false, false};
    detail::wgmma(call, reinterpret_cast<float*>(d), nullptr, file, line);
}
/// d = a * b (+ d) with a in registers.
template <class T, bool kTransposeB = false, int kCount>
void wgmma_rs(float (&d)[kCount],
              const uint32_t (&a)[4],
              uint64_t b,
              bool accumulate,
              SIMT_OWN_SITE) {
    auto call = detail::wgmma_call<T, kCount>(0, b, accumulate);
    call.transpose_b = kTransposeB;
    call.registers = true;
    detail::wgmma(call, d, a, file, line);
}

/// Registers written before may be used by the products that follow.
void wgmma_fence(SIMT_OWN_SITE);
/// Closes a group of products.
void wgmma_commit(SIMT_OWN_SITE);
/// Waits until at most `pending` of the newest groups are running.
void wgmma_wait(int pending, SIMT_OWN_SITE);

}  // namespace simt::ptx
