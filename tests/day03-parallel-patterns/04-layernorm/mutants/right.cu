// The right functions that the .diff files edit. Functions of checks.h stand in
// parentheses: they are the ones of this text, also where a mutant has a copy of it.
#include "layernorm.h"

#include <wb/check.h>
#include <wb/scratch.h>

#include <algorithm>
#include <type_traits>

#include "checks.h"
#include "numbers.h"
#include "rows.h"

/// The type of the elements is looked at while the kernel runs: one kernel for all
/// three compiles faster.
enum class Type { f32, fp16, bf16 };

template <class T>
constexpr Type kType = sizeof(T) == 4            ? Type::f32
                       : std::is_same_v<T, Half> ? Type::fp16
                                                 : Type::bf16;

__device__ inline float rounded(Type type, float value) {
    if (type == Type::fp16) return to_float(to_element<Half>(value));
    if (type == Type::bf16) return to_float(to_element<Bf16>(value));
    return value;
}
__device__ inline float get(Type type, const void* array, int64_t i) {
    if (type == Type::fp16) return to_float(static_cast<const Half*>(array)[i]);
    if (type == Type::bf16) return to_float(static_cast<const Bf16*>(array)[i]);
    return static_cast<const float*>(array)[i];
}
__device__ inline float get_or(float otherwise,
                               Type type,
                               const void* array,
                               int64_t i) {
    return array == nullptr ? otherwise : get(type, array, i);
}
__device__ inline void set(Type type, void* array, int64_t i, float value) {
    if (type == Type::fp16)
        static_cast<Half*>(array)[i] = to_element<Half>(value);
    else if (type == Type::bf16)
        static_cast<Bf16*>(array)[i] = to_element<Bf16>(value);
    else
        static_cast<float*>(array)[i] = value;
}

__global__ void norm_kernel(Norm<void> norm, Type type, bool is_centered) {
    __shared__ float s_warps[kWarps];
    const int tid = threadIdx.x;
    const auto count = static_cast<float>(norm.columns);
    for (int64_t row = blockIdx.x; row < norm.rows; row += gridDim.x) {
        const int64_t first = row * norm.columns;
        float sum = 0.0f;
        for (int64_t col = tid; col < norm.columns; col += kThreads)
            sum += get(type, norm.x, first + col);
        const float mean = is_centered ? block_sum(sum, s_warps) / count : 0.0f;
        float squares = 0.0f;
        for (int64_t col = tid; col < norm.columns; col += kThreads) {
            const float distance = get(type, norm.x, first + col) - mean;
            squares += distance * distance;
        }
        const float variance = block_sum(squares, s_warps) / count;
        const float rstd = 1.0f / sqrtf(variance + norm.eps);
        for (int64_t col = tid; col < norm.columns; col += kThreads) {
            const float h = (get(type, norm.x, first + col) - mean) * rstd;
            const float gamma = get_or(1.0f, type, norm.gamma, col);
            const float beta = get_or(0.0f, type, norm.beta, col);
            set(type, norm.y, first + col, h * gamma + beta);
        }
        if (tid == 0) keep(norm, row, mean, rstd);
    }
}

__device__ inline float g_at(const NormGradient<void>& norm,
                             Type type,
                             int64_t row,
                             int64_t col) {
    const float dy = get(type, norm.dy, row * norm.columns + col);
    return dy * get_or(1.0f, type, norm.gamma, col);
}
__device__ inline float h_at(const NormGradient<void>& norm,
                             Type type,
                             int64_t row,
                             int64_t col) {
    const float mean = norm.mean == nullptr ? 0.0f : norm.mean[row];
    return (get(type, norm.x, row * norm.columns + col) - mean) * norm.rstd[row];
}

__global__ void dx_kernel(NormGradient<void> norm, Type type, bool is_centered) {
    __shared__ float s_warps[kWarps];
    const int64_t row = blockIdx.x;
    const auto count = static_cast<float>(norm.columns);
    float sum_g = 0.0f;
    float sum_gh = 0.0f;
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float g = g_at(norm, type, row, col);
        sum_g += g;
        sum_gh += g * h_at(norm, type, row, col);
    }
    const float mean_g = is_centered ? block_sum(sum_g, s_warps) / count : 0.0f;
    const float mean_gh = block_sum(sum_gh, s_warps) / count;
    for (int64_t col = threadIdx.x; col < norm.columns; col += kThreads) {
        const float g = g_at(norm, type, row, col);
        const float h = h_at(norm, type, row, col);
        const float dx = norm.rstd[row] * (g - mean_g - h * mean_gh);
        set(type, norm.dx, row * norm.columns + col, dx);
    }
}

/// [2, gridDim.y, columns]
__global__ void columns_kernel(NormGradient<void> norm, Type type, float* partial) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    for (int64_t row = blockIdx.y; row < norm.rows; row += gridDim.y) {
        const float dy = get(type, norm.dy, row * norm.columns + col);
        dgamma += dy * h_at(norm, type, row, col);
        dbeta += dy;
    }
    const int64_t parts = gridDim.y;
    partial[blockIdx.y * norm.columns + col] = dgamma;
    partial[(parts + blockIdx.y) * norm.columns + col] = dbeta;
}

__global__ void parts_kernel(NormGradient<void> norm,
                             Type type,
                             const float* partial,
                             int64_t parts) {
    const int64_t col = int64_t{blockIdx.x} * kThreads + threadIdx.x;
    if (col >= norm.columns) return;
    float dgamma = 0.0f;
    float dbeta = 0.0f;
    for (int64_t part = 0; part < parts; ++part) {
        dgamma += partial[part * norm.columns + col];
        dbeta += partial[(parts + part) * norm.columns + col];
    }
    if (norm.dgamma != nullptr) set(type, norm.dgamma, col, dgamma);
    if (norm.dbeta != nullptr) set(type, norm.dbeta, col, dbeta);
}

void launch(const Norm<void>& norm, Type type, bool is_centered, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(std::min<int64_t>(norm.rows, 512));
    norm_kernel<<<blocks, kThreads, 0, stream>>>(norm, type, is_centered);
    CUDA_CHECK_LAUNCH();
}

void launch(const NormGradient<void>& norm,
            Type type,
            bool is_centered,
            cudaStream_t stream) {
    if (norm.dx != nullptr) {
        const auto rows = static_cast<unsigned>(norm.rows);
        dx_kernel<<<rows, kThreads, 0, stream>>>(norm, type, is_centered);
        CUDA_CHECK_LAUNCH();
    }
    if (norm.dgamma == nullptr && norm.dbeta == nullptr) return;
    const int64_t parts = std::min<int64_t>(wb::ceil_div<int64_t>(norm.rows, 16), 64);
    const wb::Scratch<float> partial(2 * parts * norm.columns, stream);
    const unsigned blocks = wb::grid_size(norm.columns, kThreads);
    const dim3 grid(blocks, static_cast<unsigned>(parts));
    columns_kernel<<<grid, kThreads, 0, stream>>>(norm, type, partial.data());
    CUDA_CHECK_LAUNCH();
    parts_kernel<<<blocks, kThreads, 0, stream>>>(norm, type, partial.data(), parts);
    CUDA_CHECK_LAUNCH();
}

template <class T, bool kIsCentered>
void forward(const char* function, const Norm<T>& norm, cudaStream_t stream) {
    const auto& [x, gamma, beta, y, mean, rstd, rows, columns, eps] = norm;
    const Norm<void> any = {x, gamma, beta, y, mean, rstd, rows, columns, eps};
    if ((check_norm)(function, norm, kIsCentered))
        launch(any, kType<T>, kIsCentered, stream);
}

template <class T, bool kIsCentered>
void backward(const char* function, const NormGradient<T>& norm, cudaStream_t stream) {
    const auto& [dy, x, gamma, mean, rstd, dx, dgamma, dbeta, rows, columns] = norm;
    const NormGradient<void> any = {
        dy, x, gamma, mean, rstd, dx, dgamma, dbeta, rows, columns};
    if (!(check_norm)(function, norm, kIsCentered)) return;
    if (norm.rows == 0) return (clear_sums)(norm, stream);
    launch(any, kType<T>, kIsCentered, stream);
}

void layer_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, true>("layer_norm", norm, stream);
}
void rms_norm(const Norm<float>& norm, cudaStream_t stream) {
    forward<float, false>("rms_norm", norm, stream);
}
void layer_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, true>("layer_norm_backward", norm, stream);
}
void rms_norm_backward(const NormGradient<float>& norm, cudaStream_t stream) {
    backward<float, false>("rms_norm_backward", norm, stream);
}

#include "sixteen_bits.h"
