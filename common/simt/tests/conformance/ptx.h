/// ptx.h: an inline PTX instruction as a check's function.
#pragma once

#include "conformance.h"

namespace conformance {

/// One instruction with up to three operands of one type; inputs come from memory, so
/// that no compiler computes them.
template <class Out, class In, class F>
Out apply(F f, In a, In b = In(), In c = In()) {
    In* in = nullptr;
    ok(cudaMallocManaged(&in, 3 * sizeof(In)));
    in[0] = a;
    in[1] = b;
    in[2] = c;
    const Out result =
        run_one<Out>([=] __device__(Out * out) { *out = f(in[0], in[1], in[2]); });
    ok(cudaFree(in));
    return result;
}

}  // namespace conformance

#define INSTRUCTION(Out, In, text, out, in)                \
    [] __device__(In a, In b, In c) {                      \
        Out d;                                             \
        asm volatile(text : out(d) : in(a), in(b), in(c)); \
        return d;                                          \
    }
#define U32(text) INSTRUCTION(unsigned, unsigned, text, "=r", "r")
#define S32(text) INSTRUCTION(int, int, text, "=r", "r")
#define F32(text) INSTRUCTION(float, float, text, "=f", "f")
