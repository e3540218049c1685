/// wb/ptx/wgmma_shapes.h: the text of wgmma.mma_async for each N, for wgmma.h.
///
/// Inline assembly names every register: %0 to %(N / 2 - 1) are the accumulators, then
/// come the operands. Text cannot be computed, so the lists below grow by eight names a
/// line, and each shape names its operands' numbers.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "wb/ptx/hopper.h"

#if defined(WB_HOPPER_DEVICE)

// clang-format off
#define WB_WGMMA_TEXT_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define WB_WGMMA_TEXT_16 WB_WGMMA_TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WB_WGMMA_TEXT_24 WB_WGMMA_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WB_WGMMA_TEXT_32 WB_WGMMA_TEXT_24 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define WB_WGMMA_TEXT_40 WB_WGMMA_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WB_WGMMA_TEXT_48 WB_WGMMA_TEXT_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WB_WGMMA_TEXT_56 WB_WGMMA_TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WB_WGMMA_TEXT_64 WB_WGMMA_TEXT_56 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define WB_WGMMA_TEXT_72 WB_WGMMA_TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WB_WGMMA_TEXT_80 WB_WGMMA_TEXT_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define WB_WGMMA_TEXT_88 WB_WGMMA_TEXT_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WB_WGMMA_TEXT_96 WB_WGMMA_TEXT_88 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define WB_WGMMA_TEXT_104 WB_WGMMA_TEXT_96                                             \
    ", %96, %97, %98, %99, %100, %101, %102, %103"
#define WB_WGMMA_TEXT_112 WB_WGMMA_TEXT_104                                            \
    ", %104, %105, %106, %107, %108, %109, %110, %111"
#define WB_WGMMA_TEXT_120 WB_WGMMA_TEXT_112                                            \
    ", %112, %113, %114, %115, %116, %117, %118, %119"
#define WB_WGMMA_TEXT_128 WB_WGMMA_TEXT_120                                            \
    ", %120, %121, %122, %123, %124, %125, %126, %127"

#define WB_WGMMA_EIGHT(c, d, i)                                                  \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]),    \
    c(d[i + 6]), c(d[i + 7])
#define WB_WGMMA_REGS_8(c, d) WB_WGMMA_EIGHT(c, d, 0)
#define WB_WGMMA_REGS_16(c, d) WB_WGMMA_REGS_8(c, d), WB_WGMMA_EIGHT(c, d, 8)
#define WB_WGMMA_REGS_24(c, d) WB_WGMMA_REGS_16(c, d), WB_WGMMA_EIGHT(c, d, 16)
#define WB_WGMMA_REGS_32(c, d) WB_WGMMA_REGS_24(c, d), WB_WGMMA_EIGHT(c, d, 24)
#define WB_WGMMA_REGS_40(c, d) WB_WGMMA_REGS_32(c, d), WB_WGMMA_EIGHT(c, d, 32)
#define WB_WGMMA_REGS_48(c, d) WB_WGMMA_REGS_40(c, d), WB_WGMMA_EIGHT(c, d, 40)
#define WB_WGMMA_REGS_56(c, d) WB_WGMMA_REGS_48(c, d), WB_WGMMA_EIGHT(c, d, 48)
#define WB_WGMMA_REGS_64(c, d) WB_WGMMA_REGS_56(c, d), WB_WGMMA_EIGHT(c, d, 56)
#define WB_WGMMA_REGS_72(c, d) WB_WGMMA_REGS_64(c, d), WB_WGMMA_EIGHT(c, d, 64)
#define WB_WGMMA_REGS_80(c, d) WB_WGMMA_REGS_72(c, d), WB_WGMMA_EIGHT(c, d, 72)
#define WB_WGMMA_REGS_88(c, d) WB_WGMMA_REGS_80(c, d), WB_WGMMA_EIGHT(c, d, 80)
#define WB_WGMMA_REGS_96(c, d) WB_WGMMA_REGS_88(c, d), WB_WGMMA_EIGHT(c, d, 88)
#define WB_WGMMA_REGS_104(c, d) WB_WGMMA_REGS_96(c, d), WB_WGMMA_EIGHT(c, d, 96)
#define WB_WGMMA_REGS_112(c, d) WB_WGMMA_REGS_104(c, d), WB_WGMMA_EIGHT(c, d, 104)
#define WB_WGMMA_REGS_120(c, d) WB_WGMMA_REGS_112(c, d), WB_WGMMA_EIGHT(c, d, 112)
#define WB_WGMMA_REGS_128(c, d) WB_WGMMA_REGS_120(c, d), WB_WGMMA_EIGHT(c, d, 120)
// clang-format on

/// One instruction. `end` are the immediates after the predicate: scales of a and b
/// (1, 1) and, for 16-bit types, which matrices in shared memory are transposed.
#define WB_WGMMA_SS(n, count, type, p0, p1, p2, end)                                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p2                             \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n type                    \
                 " {" WB_WGMMA_TEXT_##count "}, %" #p0 ", %" #p1 ", p, " end ";\n}\n" \
                 : WB_WGMMA_REGS_##count("+f", d)                                     \
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))

/// The same of bytes, whose sums are whole numbers: nothing stands after the predicate.
#define WB_WGMMA_SS_S8(n, count, p0, p1, p2)                                 \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p2                    \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n                \
                 "k32.s32.s8.s8"                                             \
                 " {" WB_WGMMA_TEXT_##count "}, %" #p0 ", %" #p1 ", p;\n}\n" \
                 : WB_WGMMA_REGS_##count("+r", d)                            \
                 : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))

#define WB_WGMMA_RS(n, count, type, p0, p1, p2, p3, p4, p5, end)                      \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p5                             \
                 ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n type                    \
                 " {" WB_WGMMA_TEXT_##count "}, {%" #p0 ", %" #p1 ", %" #p2 ", %" #p3 \
                                            "}, %" #p4 ", p, " end ";\n}\n"           \
                 : WB_WGMMA_REGS_##count("+f", d)                                     \
                 : "r"(a[0]),                                                         \
                   "r"(a[1]),                                                         \
                   "r"(a[2]),                                                         \
                   "r"(a[3]),                                                         \
                   "l"(b),                                                            \
                   "r"(static_cast<int>(accumulate)))

namespace wb::ptx::detail {

/// The instructions of one N; see wgmma.h.
template <int kN>
struct Wgmma;

}  // namespace wb::ptx::detail

/// count = n / 2; p0 to p5 are count to count + 5.
#define WB_WGMMA_SHAPE(n, count, p0, p1, p2, p3, p4, p5)                               \
    template <>                                                                        \
    struct wb::ptx::detail::Wgmma<n> {                                                 \
        template <class T, bool kTransposeB>                                           \
        static __device__ __forceinline__ void ss(float (&d)[count],                   \
                                                  uint64_t a,                          \
                                                  uint64_t b,                          \
                                                  bool accumulate) {                   \
            if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {                          \
                static_assert(!kTransposeB, "FP8 matrices are K-major");               \
                WB_WGMMA_SS(n, count, "k32.f32.e4m3.e4m3", p0, p1, p2, "1, 1");        \
            } else if constexpr (std::is_same_v<T, __half> && kTransposeB) {           \
                WB_WGMMA_SS(n, count, "k16.f32.f16.f16", p0, p1, p2, "1, 1, 0, 1");    \
            } else if constexpr (std::is_same_v<T, __half>) {                          \
                WB_WGMMA_SS(n, count, "k16.f32.f16.f16", p0, p1, p2, "1, 1, 0, 0");    \
            } else if constexpr (kTransposeB) {                                        \
                WB_WGMMA_SS(n, count, "k16.f32.bf16.bf16", p0, p1, p2, "1, 1, 0, 1");  \
            } else {                                                                   \
                WB_WGMMA_SS(n, count, "k16.f32.bf16.bf16", p0, p1, p2, "1, 1, 0, 0");  \
            }                                                                          \
        }                                                                              \
        static __device__ __forceinline__ void ss_s8(int32_t (&d)[count],              \
                                                     uint64_t a,                       \
                                                     uint64_t b,                       \
                                                     bool accumulate) {                \
            WB_WGMMA_SS_S8(n, count, p0, p1, p2);                                      \
        }                                                                              \
        template <class T, bool kTransposeB>                                           \
        static __device__ __forceinline__ void rs(float (&d)[count],                   \
                                                  const uint32_t (&a)[4],              \
                                                  uint64_t b,                          \
                                                  bool accumulate) {                   \
            if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {                          \
                static_assert(!kTransposeB, "FP8 matrices are K-major");               \
                WB_WGMMA_RS(                                                           \
                    n, count, "k32.f32.e4m3.e4m3", p0, p1, p2, p3, p4, p5, "1, 1");    \
            } else if constexpr (std::is_same_v<T, __half> && kTransposeB) {           \
                WB_WGMMA_RS(                                                           \
                    n, count, "k16.f32.f16.f16", p0, p1, p2, p3, p4, p5, "1, 1, 1");   \
            } else if constexpr (std::is_same_v<T, __half>) {                          \
                WB_WGMMA_RS(                                                           \
                    n, count, "k16.f32.f16.f16", p0, p1, p2, p3, p4, p5, "1, 1, 0");   \
            } else if constexpr (kTransposeB) {                                        \
                WB_WGMMA_RS(                                                           \
                    n, count, "k16.f32.bf16.bf16", p0, p1, p2, p3, p4, p5, "1, 1, 1"); \
            } else {                                                                   \
                WB_WGMMA_RS(                                                           \
                    n, count, "k16.f32.bf16.bf16", p0, p1, p2, p3, p4, p5, "1, 1, 0"); \
            }                                                                          \
        }                                                                              \
    }

WB_WGMMA_SHAPE(64, 32, 32, 33, 34, 35, 36, 37);
WB_WGMMA_SHAPE(80, 40, 40, 41, 42, 43, 44, 45);
WB_WGMMA_SHAPE(96, 48, 48, 49, 50, 51, 52, 53);
WB_WGMMA_SHAPE(112, 56, 56, 57, 58, 59, 60, 61);
WB_WGMMA_SHAPE(128, 64, 64, 65, 66, 67, 68, 69);
WB_WGMMA_SHAPE(144, 72, 72, 73, 74, 75, 76, 77);
WB_WGMMA_SHAPE(160, 80, 80, 81, 82, 83, 84, 85);
WB_WGMMA_SHAPE(176, 88, 88, 89, 90, 91, 92, 93);
WB_WGMMA_SHAPE(192, 96, 96, 97, 98, 99, 100, 101);
WB_WGMMA_SHAPE(208, 104, 104, 105, 106, 107, 108, 109);
WB_WGMMA_SHAPE(224, 112, 112, 113, 114, 115, 116, 117);
WB_WGMMA_SHAPE(256, 128, 128, 129, 130, 131, 132, 133);

#undef WB_WGMMA_SHAPE
#undef WB_WGMMA_SS
#undef WB_WGMMA_SS_S8
#undef WB_WGMMA_RS

#endif  // WB_HOPPER_DEVICE
