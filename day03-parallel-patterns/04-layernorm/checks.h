/// checks.h: given with this exercise: what the functions of the contract refuse.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/check.h>

#include <cstdint>

#include "layernorm.h"

/// Refuses sizes. Returns the bytes of a matrix.
inline int64_t check_sizes(const wb::Arguments& arguments,
                           int64_t rows,
                           int64_t columns,
                           int64_t element_bytes) {
    constexpr int64_t kLimit = int64_t{1} << 31;
    arguments.size("rows", rows)
        .size("columns", columns)
        .require(rows < kLimit, "rows", rows, "must be below 2^31")
        .require(columns < kLimit, "columns", columns, "must be below 2^31");
    return arguments.product("rows * columns * bytes of an element",
                             {rows, columns, element_bytes});
}

/// Refuses wrong arguments of a forward pass. Returns whether there is anything to do.
///
/// @param is_centered  false: of an RMSNorm, which has no mean
template <class T>
inline bool check_norm(const char* function, const Norm<T>& norm, bool is_centered) {
    const wb::Arguments arguments(function);
    const int64_t bytes = check_sizes(arguments, norm.rows, norm.columns, sizeof(T));
    arguments.not_negative("eps", norm.eps)
        .require(is_centered || norm.mean == nullptr,
                 "mean given",
                 1,
                 "must be null: an RMSNorm has no mean");
    if (bytes == 0) return false;
    const int64_t count = norm.rows * norm.columns;
    arguments.device("x", norm.x, count).device("y", norm.y, count);
    const auto device = [&](const char* name, const auto* array, int64_t elements) {
        if (array != nullptr) arguments.device(name, array, elements);
    };
    device("gamma", norm.gamma, norm.columns);
    device("beta", norm.beta, norm.columns);
    device("mean", norm.mean, norm.rows);
    device("rstd", norm.rstd, norm.rows);
    const int64_t row_bytes = norm.columns * int64_t{sizeof(T)};
    const void* const x = norm.y == norm.x ? nullptr : norm.x;  // they may be the same
    arguments.apart({{"x", x, bytes, false},
                     {"gamma", norm.gamma, row_bytes, false},
                     {"beta", norm.beta, row_bytes, false},
                     {"y", norm.y, bytes, true},
                     {"mean", norm.mean, norm.rows * 4, true},
                     {"rstd", norm.rstd, norm.rows * 4, true}});
    return true;
}

/// The same of a backward pass. Without rows, there are still sums to be set to 0.
template <class T>
inline bool check_norm(const char* function,
                       const NormGradient<T>& norm,
                       bool is_centered) {
    const wb::Arguments arguments(function);
    const int64_t bytes = check_sizes(arguments, norm.rows, norm.columns, sizeof(T));
    arguments.require(is_centered || norm.mean == nullptr,
                      "mean given",
                      1,
                      "must be null: an RMSNorm has no mean");
    if (norm.columns == 0) return false;
    const int64_t count = norm.rows * norm.columns;
    arguments.device("dy", norm.dy, count).device("x", norm.x, count);
    if (is_centered) arguments.device("mean", norm.mean, norm.rows);
    arguments.device("rstd", norm.rstd, norm.rows);
    const auto device = [&](const char* name, const T* array, int64_t elements) {
        if (array != nullptr) arguments.device(name, array, elements);
    };
    device("gamma", norm.gamma, norm.columns);
    device("dx", norm.dx, count);
    device("dgamma", norm.dgamma, norm.columns);
    device("dbeta", norm.dbeta, norm.columns);
    const int64_t row_bytes = norm.columns * int64_t{sizeof(T)};
    arguments.apart({{"dy", norm.dy, bytes, false},
                     {"x", norm.x, bytes, false},
                     {"gamma", norm.gamma, row_bytes, false},
                     {"mean", norm.mean, norm.rows * 4, false},
                     {"rstd", norm.rstd, norm.rows * 4, false},
                     {"dx", norm.dx, bytes, true},
                     {"dgamma", norm.dgamma, row_bytes, true},
                     {"dbeta", norm.dbeta, row_bytes, true}});
    return true;
}

/// The sums of no rows.
template <class T>
inline void clear_sums(const NormGradient<T>& norm, cudaStream_t stream) {
    const auto bytes = static_cast<size_t>(norm.columns) * sizeof(T);
    T* const both[] = {norm.dgamma, norm.dbeta};
    for (T* const sums : both)
        if (sums != nullptr) CUDA_CHECK(cudaMemsetAsync(sums, 0, bytes, stream));
}
