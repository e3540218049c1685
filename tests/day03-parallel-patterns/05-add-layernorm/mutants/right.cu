// The right functions that the .diff files edit. Functions of given headers stand in
// parentheses: they are the ones of this text, also where a mutant has a copy of it.
#include "add_layernorm.h"

#include <wb/check.h>
#include <wb/row_sums.h>
#include <wb/scratch.h>

#include <algorithm>
#include <type_traits>

#include "checks.h"
#include "given.h"

Fusion fusion_of(const Node* nodes, int count, int first, int second) {
    (check_nodes)(nodes, count, first, second);
    const Node& a = nodes[first];
    const Node& b = nodes[second];
    if (b.a != first && b.b != first) return Fusion::none;
    if (a.op == Op::add && b.op == Op::norm) return Fusion::add_then_norm;
    if (a.op != Op::norm || b.op != Op::add) return Fusion::none;
    if (b.a == b.b) return Fusion::none;
    if (a.is_wanted) return Fusion::none;
    for (int i = 0; i < count; ++i)
        if (i != second && (nodes[i].a == first || nodes[i].b == first))
            return Fusion::none;
    return Fusion::norm_then_add;
}

/// The type of the elements is looked at while the kernel runs: one kernel for all
/// three compiles faster.
enum class Type { f32, fp16, bf16 };

template <class T>
constexpr Type kType = sizeof(T) == 4            ? Type::f32
                       : std::is_same_v<T, Half> ? Type::fp16
                                                 : Type::bf16;

/// A matrix, or an array of columns as one with a single row.
struct Any {
    const void* data;
    int64_t row_stride;
    Type type;

    __device__ float get(int64_t row, int64_t col) const {
        const int64_t i = row * row_stride + col;
        if (type == Type::fp16) return to_float(static_cast<const Half*>(data)[i]);
        if (type == Type::bf16) return to_float(static_cast<const Bf16*>(data)[i]);
        return static_cast<const float*>(data)[i];
    }
    __device__ float get(int64_t col) const { return get(0, col); }
    __device__ void set(int64_t row, int64_t col, float value) const {
        void* const to = const_cast<void*>(data);
        const int64_t i = row * row_stride + col;
        if (type == Type::fp16)
            static_cast<Half*>(to)[i] = to_element<Half>(value);
        else if (type == Type::bf16)
            static_cast<Bf16*>(to)[i] = to_element<Bf16>(value);
        else
            static_cast<float*>(to)[i] = value;
    }
};

template <class T>
Any any(const Rows<T>& rows) {
    return {rows.data, rows.row_stride, kType<std::remove_const_t<T>>};
}
template <class T>
Any any(const T* array) {
    return {array, 0, kType<T>};
}

struct AnyNorm {
    Any x, other, gamma, beta, h, y;
    float* mean;
    float* rstd;
    int64_t rows, columns;
    float eps;
    Mask mask;
    Kind kind;
};

__device__ inline float factor_at(const Mask& mask, int64_t row, int64_t col) {
    const wb::Words4 words = words_of(mask, row, col / 4);
    return words.word[col % 4] < mask.threshold ? 0.0f : mask.scale;
}

__global__ void norm_kernel(AnyNorm norm) {
    __shared__ wb::Moments s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    Any x = norm.x;
    if (norm.kind == Kind::add_norm) {
        for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads)
            norm.h.set(row, col, x.get(row, col) + norm.other.get(row, col));
        x = norm.h;
    }
    const auto element = [&](int64_t col) { return x.get(row, col); };
    const Statistics known = measure_row(norm.columns, norm.eps, s_warps, element);
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float gamma = norm.gamma.get(col);
        const float beta = norm.beta.get(col);
        float y = (x.get(row, col) - known.mean) * known.rstd * gamma + beta;
        if (norm.kind == Kind::norm_add) y += norm.other.get(row, col);
        if (norm.kind == Kind::norm_mul) {
            const float factor = factor_at(norm.mask, row, col);
            y *= norm.other.get(row, col) * factor;
            if (factor == 0.0f) y = 0.0f;
        }
        norm.y.set(row, col, y);
    }
    if (threadIdx.x != 0) return;
    if (norm.mean != nullptr) norm.mean[row] = known.mean;
    if (norm.rstd != nullptr) norm.rstd[row] = known.rstd;
}

struct AnyGradient {
    Any dy, x, mul, gamma, beta, dx, dmul;
    const float* mean;
    const float* rstd;
    int64_t rows, columns;
    Mask mask;
};

__device__ inline Terms terms_at(const AnyGradient& norm, int64_t row, int64_t col) {
    const float factor = factor_at(norm.mask, row, col);
    const float h = (norm.x.get(row, col) - norm.mean[row]) * norm.rstd[row];
    if (factor == 0.0f) return {h, 0.0f, 0.0f};
    const float e = norm.dy.get(row, col) * factor;
    const float y = h * norm.gamma.get(col) + norm.beta.get(col);
    return {h, e * norm.mul.get(row, col), e * y};
}

__global__ void dx_kernel(AnyGradient norm) {
    __shared__ wb::Pair s_warps[wb::kWarpSize];
    const int64_t row = blockIdx.x;
    wb::Pair sums = {};
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const Terms terms = terms_at(norm, row, col);
        const float g = terms.n * norm.gamma.get(col);
        norm.dmul.set(row, col, terms.dmul);
        sums.g += g;
        sums.gh += g * terms.h;
    }
    sums = wb::sum_of_row(sums, wb::Group(kThreads), s_warps);
    const auto count = static_cast<float>(norm.columns);
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const Terms terms = terms_at(norm, row, col);
        const float g = terms.n * norm.gamma.get(col);
        const float inner = g - sums.g / count - terms.h * (sums.gh / count);
        norm.dx.set(row, col, norm.rstd[row] * inner);
    }
}

/// [2, gridDim.y, columns]
__global__ void columns_kernel(AnyGradient norm, float* partial) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    for (int64_t row = blockIdx.y; row < norm.rows; row += gridDim.y) {
        const Terms terms = terms_at(norm, row, col);
        dgamma += terms.n * terms.h;
        dbeta += terms.n;
    }
    const int64_t parts = gridDim.y;
    partial[blockIdx.y * norm.columns + col] = dgamma;
    partial[(parts + blockIdx.y) * norm.columns + col] = dbeta;
}

void launch(const AnyNorm& norm, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(norm.rows);
    norm_kernel<<<blocks, kThreads, 0, stream>>>(norm);
    CUDA_CHECK_LAUNCH();
}

/// Returns the parts that there are to add.
int64_t launch(const AnyGradient& norm, float* partial, cudaStream_t stream) {
    const int64_t parts = std::min<int64_t>(wb::ceil_div<int64_t>(norm.rows, 16), 64);
    const dim3 grid(wb::grid_size(norm.columns, kThreads),
                    static_cast<unsigned>(parts));
    columns_kernel<<<grid, kThreads, 0, stream>>>(norm, partial);
    CUDA_CHECK_LAUNCH();
    return parts;
}

void launch(const AnyGradient& norm, cudaStream_t stream) {
    const auto rows = static_cast<unsigned>(norm.rows);
    dx_kernel<<<rows, kThreads, 0, stream>>>(norm);
    CUDA_CHECK_LAUNCH();
}

template <Kind kKind, class T>
void forward(const char* function, const FusedNorm<T>& norm, cudaStream_t stream) {
    if (!(check_norm)(function, kKind, norm)) return;
    launch(AnyNorm{any(norm.x),
                   any(norm.other),
                   any(norm.gamma),
                   any(norm.beta),
                   any(norm.h),
                   any(norm.y),
                   norm.mean,
                   norm.rstd,
                   norm.rows,
                   norm.columns,
                   norm.eps,
                   (mask_of)(norm.dropout),
                   kKind},
           stream);
}

template <class T>
void backward(const char* function,
              const FusedNormGradient<T>& norm,
              cudaStream_t stream) {
    if (!(check_gradient)(function, norm)) return;
    if (norm.rows == 0) return (clear_sums)(norm, stream);
    const AnyGradient all = {any(norm.dy),
                             any(norm.x),
                             any(norm.mul),
                             any(norm.gamma),
                             any(norm.beta),
                             any(norm.dx),
                             any(norm.dmul),
                             norm.mean,
                             norm.rstd,
                             norm.rows,
                             norm.columns,
                             (mask_of)(norm.dropout)};
    launch(all, stream);
    if (norm.dgamma == nullptr && norm.dbeta == nullptr) return;
    const wb::Scratch<float> partial(2 * 64 * norm.columns, stream);
    const int64_t parts = launch(all, partial.data(), stream);
    const dim3 sums(wb::grid_size(norm.columns, wb::kWarpSize), 2);
    wb::part_sums_kernel<<<sums, dim3(wb::kWarpSize, wb::kWarpSize), 0, stream>>>(
        partial.data(), parts, norm.columns, norm.dgamma, norm.dbeta);
    CUDA_CHECK_LAUNCH();
}

#include "contract.h"
