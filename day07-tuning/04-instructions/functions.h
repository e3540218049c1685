/// functions.h: the functions whose error is looked for, each beside the correctly
/// rounded one: computed in double, and rounded once. (A double is so much finer that
/// this is the nearest float, but for one argument in some hundred million, whose
/// result lies as good as in the middle between two.)
#pragma once

#include <cuda_runtime.h>
#include <wb/ptx/exp2.h>

#include <stdexcept>

#include "elementwise.h"
#include "given.h"

/// exact(x) of each family.
struct Exp {
    static __device__ float exact(float x) {
        return static_cast<float>(exp(static_cast<double>(x)));
    }
};
struct Exp2 {
    static __device__ float exact(float x) {
        return static_cast<float>(exp2(static_cast<double>(x)));
    }
};
struct Log {
    static __device__ float exact(float x) {
        return static_cast<float>(log(static_cast<double>(x)));
    }
};
struct Sin {
    static __device__ float exact(float x) {
        return static_cast<float>(sin(static_cast<double>(x)));
    }
};
struct Reciprocal {
    static __device__ float exact(float x) {
        return static_cast<float>(1.0 / static_cast<double>(x));
    }
};
struct Rsqrt {
    static __device__ float exact(float x) {
        return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
    }
};
struct Identity {
    static __device__ float exact(float x) { return x; }
};

/// value(x), as kernels call it.
struct AccurateExp : Exp {
    static __device__ float value(float x) { return expf(x); }
};
struct FastExp : Exp {
    static __device__ float value(float x) { return __expf(x); }
};
struct OwnExp : Exp {
    static __device__ float value(float x) { return quick_exp(x); }
};
struct AccurateExp2 : Exp2 {
    static __device__ float value(float x) { return exp2f(x); }
};
struct FastExp2 : Exp2 {
    static __device__ float value(float x) { return wb::ptx::exp2_approx(x); }
};
struct AccurateLog : Log {
    static __device__ float value(float x) { return logf(x); }
};
struct FastLog : Log {
    static __device__ float value(float x) { return __logf(x); }
};
struct AccurateSin : Sin {
    static __device__ float value(float x) { return sinf(x); }
};
struct FastSin : Sin {
    static __device__ float value(float x) { return __sinf(x); }
};
struct AccurateReciprocal : Reciprocal {
    static __device__ float value(float x) { return 1.0f / x; }
};
struct FastReciprocal : Reciprocal {
    static __device__ float value(float x) { return __fdividef(1.0f, x); }
};
struct AccurateRsqrt : Rsqrt {
    static __device__ float value(float x) { return 1.0f / sqrtf(x); }
};
struct FastRsqrt : Rsqrt {
    static __device__ float value(float x) { return rsqrtf(x); }
};

/// A bad function whose error is known: it drops the last eight bits of its argument.
struct Coarse : Identity {
    static __device__ float value(float x) {
        return __uint_as_float(__float_as_uint(x) & ~0xFFu);
    }
};

/// launch(FastExp{}) for Function::fast_exp, and so on.
template <class Launch>
void with_function(Function function, Launch launch) {
    switch (function) {
        case Function::accurate_exp:
            return launch(AccurateExp{});
        case Function::fast_exp:
            return launch(FastExp{});
        case Function::own_exp:
            return launch(OwnExp{});
        case Function::accurate_exp2:
            return launch(AccurateExp2{});
        case Function::fast_exp2:
            return launch(FastExp2{});
        case Function::accurate_log:
            return launch(AccurateLog{});
        case Function::fast_log:
            return launch(FastLog{});
        case Function::accurate_sin:
            return launch(AccurateSin{});
        case Function::fast_sin:
            return launch(FastSin{});
        case Function::accurate_reciprocal:
            return launch(AccurateReciprocal{});
        case Function::fast_reciprocal:
            return launch(FastReciprocal{});
        case Function::accurate_rsqrt:
            return launch(AccurateRsqrt{});
        case Function::fast_rsqrt:
            return launch(FastRsqrt{});
        case Function::coarse:
            return launch(Coarse{});
    }
    throw std::logic_error("with_function: no such function");
}
