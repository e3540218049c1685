/// calls.h: given with this exercise: what the contract refuses, and what kernels are
/// told of a call. There is nothing to write here.
#pragma once

#include <wb/arguments.h>
#include <wb/device.h>

#include "../03-mma-sync/tiles.h"
#include "fused_epilogue.h"

/// The product under an epilogue: of chapter 03, in bf16. Its C is written by versions
/// that are not fused, and null for others.
using Product = Problem<__nv_bfloat16>;

// #region gate
/// An activation in numbers: act(z) = z sigmoid(s), s = z (a + b z^2). So one kernel
/// serves all of them.
struct Gate {
    bool is_none;
    float a;
    float b;

    static Gate of(Activation activation) {
        constexpr float kTwoC = 1.5957691216057308f;  // 2 sqrt(2 / pi)
        switch (activation) {
            case Activation::none:
                return {true, 0.0f, 0.0f};
            case Activation::silu:
                return {false, 1.0f, 0.0f};
            case Activation::gelu:
                break;
        }
        return {false, kTwoC, kTwoC * 0.044715f};
    }

    /// Where sigmoids are 0 or 1, and no power of z is too large.
    static constexpr float kFar = 64.0f;

    /// z, but at least -kFar; NaN stays NaN, as it would not with fmaxf().
    static __device__ __forceinline__ float not_below(float z) {
        return z < -kFar ? -kFar : z;
    }
    /// z, but between -kFar and kFar; NaN stays NaN.
    static __device__ __forceinline__ float near(float z) {
        return z > kFar ? kFar : not_below(z);
    }
};
// #endregion gate

/// Whether a matrix, if there is one, begins at a multiple of kElements of its
/// elements, and each row as well.
template <int kElements, class T>
bool rows_begin_at(const T* first, int64_t ld) {
    if (first == nullptr) return true;
    return reinterpret_cast<uintptr_t>(first) % (kElements * sizeof(T)) == 0 &&
           ld % kElements == 0;
}

/// What the contract refuses.
class Checks {
 public:
    explicit Checks(const char* function) : arguments_(function) {}

    /// A layer's inputs; false if it has no outputs.
    bool of_linear(const LinearInput& in) const {
        const LinearShape& s = in.shape;
        of_shape(s);
        of_activation(in.activation);
        if (s.M == 0 || s.N == 0) return false;
        arguments_.device("x", in.x, elements(s.M, s.K, s.ldx))
            .device("w", in.w, elements(s.N, s.K, s.ldw))
            .device("bias", in.bias, in.bias == nullptr ? 0 : s.N)
            .device("residual",
                    in.residual,
                    in.residual == nullptr ? 0 : elements(s.M, s.N, s.ldy));
        of_gpu();
        return true;
    }

    /// linear_act().
    bool has_work(const LinearInput& in,
                  const __nv_bfloat16* y,
                  const __nv_bfloat16* z) const {
        if (!of_linear(in)) return false;
        const LinearShape& s = in.shape;
        const int64_t outputs = elements(s.M, s.N, s.ldy);
        arguments_.device("y", y, outputs).device("z", z, z == nullptr ? 0 : outputs);
        arguments_.apart({{"x", in.x, 2 * elements(s.M, s.K, s.ldx), false},
                          {"w", in.w, 2 * elements(s.N, s.K, s.ldw), false},
                          {"bias", in.bias, 2 * s.N, false},
                          residual_beside(in, y),
                          {"y", y, 2 * outputs, true},
                          {"z", z, 2 * outputs, true}});
        return true;
    }

    /// linear_act_fp8().
    bool has_work(const LinearInput& in,
                  const float* scale,
                  const __nv_fp8_e4m3* y,
                  const float* amax) const {
        if (!of_linear(in)) return false;
        const LinearShape& s = in.shape;
        const int64_t outputs = elements(s.M, s.N, s.ldy);
        arguments_.device("scale", scale, 1)
            .device("y", y, outputs)
            .device("amax", amax, 1);
        arguments_.apart({{"x", in.x, 2 * elements(s.M, s.K, s.ldx), false},
                          {"w", in.w, 2 * elements(s.N, s.K, s.ldw), false},
                          {"bias", in.bias, 2 * s.N, false},
                          residual_beside(in, nullptr),
                          {"scale", scale, 4, false},
                          {"y", y, outputs, true},
                          {"amax", amax, 4, true}});
        return true;
    }

    /// linear_act_backward().
    bool has_work(const LinearGradient& in,
                  const __nv_bfloat16* dz,
                  const float* dbias) const {
        const LinearShape& s = in.shape;
        of_shape(s);
        of_activation(in.activation);
        if (s.M == 0 || s.K == 0) return false;
        const int64_t of_dy = elements(s.M, s.N, s.ldy);
        const int64_t of_w = s.N == 0 ? 0 : elements(s.N, s.K, s.ldw);
        const int64_t of_dz = elements(s.M, s.K, s.ldx);
        arguments_.device("dy", in.dy, of_dy)
            .device("w", in.w, of_w)
            .device("z", in.z, of_dz)
            .device("dz", dz, of_dz)
            .device("dbias", dbias, dbias == nullptr ? 0 : s.K);
        arguments_.apart({{"dy", in.dy, 2 * of_dy, false},
                          {"w", in.w, 2 * of_w, false},
                          {"z", in.z, 2 * of_dz, false},
                          {"dz", dz, 2 * of_dz, true},
                          {"dbias", dbias, 4 * s.K, true}});
        of_gpu();
        return true;
    }

    /// mlp().
    bool has_work(const MlpInput& in, const __nv_bfloat16* y) const {
        of_size("M", in.M);
        of_size("K", in.K);
        of_size("H", in.H);
        of_size("N", in.N);
        of_activation(in.activation);
        if (in.M == 0 || in.N == 0) return false;
        const bool reads_x = in.H > 0;
        const int64_t of_x = reads_x ? in.M * in.K : 0;
        const int64_t of_w1 = in.H * in.K;
        const int64_t of_w2 = in.N * in.H;
        const int64_t of_y = in.M * in.N;
        arguments_.device("x", in.x, of_x)
            .device("w1", in.w1, of_w1)
            .device("bias1", in.bias1, in.bias1 == nullptr ? 0 : in.H)
            .device("w2", in.w2, of_w2)
            .device("bias2", in.bias2, in.bias2 == nullptr ? 0 : in.N)
            .device("residual", in.residual, in.residual == nullptr ? 0 : of_y)
            .device("y", y, of_y);
        const auto residual = in.residual == y ? nullptr : in.residual;
        arguments_.apart({{"x", in.x, 2 * of_x, false},
                          {"w1", in.w1, 2 * of_w1, false},
                          {"bias1", in.bias1, 2 * in.H, false},
                          {"w2", in.w2, 2 * of_w2, false},
                          {"bias2", in.bias2, 2 * in.N, false},
                          {"residual", residual, 2 * of_y, false},
                          {"y", y, 2 * of_y, true}});
        of_gpu();
        return true;
    }

 private:
    static int64_t elements(int64_t rows, int64_t columns, int64_t ld) {
        return rows == 0 || columns == 0 ? 0 : (rows - 1) * ld + columns;
    }

    /// The residual, unless it is y itself, which each element is read from before it
    /// is written to.
    static wb::NamedArray residual_beside(const LinearInput& in, const void* y) {
        const LinearShape& s = in.shape;
        const void* residual = in.residual == y ? nullptr : in.residual;
        return {"residual", residual, 2 * elements(s.M, s.N, s.ldy), false};
    }

    void of_size(const char* name, int64_t size) const {
        constexpr int64_t kMost = int64_t{1} << 30;
        arguments_.size(name, size)
            .require(size <= kMost, name, size, "must be <= 2^30");
    }

    void of_ld(const char* name, int64_t ld, int64_t columns, int64_t rows) const {
        arguments_.require(ld >= columns,
                           name,
                           ld,
                           "must be at least the length of the matrix's rows");
        arguments_.product("rows * leading dimension * bytes", {rows, ld, 2});
    }

    void of_shape(const LinearShape& s) const {
        of_size("shape.M", s.M);
        of_size("shape.N", s.N);
        of_size("shape.K", s.K);
        of_ld("shape.ldx", s.ldx, s.K, s.M);
        of_ld("shape.ldw", s.ldw, s.K, s.N);
        of_ld("shape.ldy", s.ldy, s.N, s.M);
    }

    void of_activation(Activation activation) const {
        arguments_.require(activation == Activation::none ||
                               activation == Activation::silu ||
                               activation == Activation::gelu,
                           "activation",
                           static_cast<int64_t>(activation),
                           "must be none, silu or gelu");
    }

    void of_gpu() const {
        arguments_.require(wb::compute_capability() >= 80,
                           "the GPU's compute capability, times 10",
                           wb::compute_capability(),
                           "must be 80 or more: mma.m16n8k16 came with sm_80");
    }

    wb::Arguments arguments_;
};

/// x w^T, as kernels take it.
inline wb::GemmShape forward_shape(const LinearShape& s) {
    return {s.M, s.N, s.K, false, true, s.ldx, s.ldw, s.ldy};
}

/// dy w.
inline wb::GemmShape backward_shape(const LinearShape& s) {
    return {s.M, s.K, s.N, false, false, s.ldy, s.ldw, s.ldx};
}
