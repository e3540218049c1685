/// checks.h: given with this exercise: what the functions of the contract refuse.
/// There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/arguments.h>
#include <wb/check.h>

#include <cstdint>
#include <string>

#include "add_layernorm.h"

/// Which of the three functions is called: layernorm_add(), add_layernorm() or
/// norm_mul_dropout().
enum class Kind { norm_add, add_norm, norm_mul };

/// Refuses a place that is none of a graph's.
inline void check_nodes(const Node* nodes, int count, int first, int second) {
    const wb::Arguments arguments("fusion_of");
    arguments.require(nodes != nullptr, "nodes", 0, "must be an array")
        .require(first >= 0 && first < count, "first", first, "must be in [0, count)")
        .require(
            second >= 0 && second < count, "second", second, "must be in [0, count)");
}

/// The checks of one call.
struct CallChecks {
    wb::Arguments arguments;
    int64_t rows;
    int64_t columns;

    bool has_elements() const { return rows > 0 && columns > 0; }

    void sizes() const {
        constexpr int64_t kLimit = int64_t{1} << 31;
        arguments.size("rows", rows)
            .size("columns", columns)
            .require(rows < kLimit, "rows", rows, "must be below 2^31")
            .require(columns < kLimit, "columns", columns, "must be below 2^31");
    }

    void dropout(const Dropout& dropout) const {
        arguments.not_negative("dropout.p", static_cast<double>(dropout.p))
            .require(dropout.p < 1.0f,
                     "dropout.p",
                     static_cast<int64_t>(dropout.p),
                     "must be below 1: something has to be left");
    }

    /// The bytes of all rows with what lies between them.
    int64_t room(const std::string& name,
                 int64_t row_stride,
                 int64_t element_bytes) const {
        const std::string names =
            "rows * " + name + ".row_stride * bytes of an element";
        return arguments.product(names.c_str(), {rows, row_stride, element_bytes});
    }

    /// One of the matrices: refuses its strides and its pointer. Returns the bytes from
    /// its first element to its last.
    template <class T>
    int64_t matrix(const std::string& name, const Rows<T>& matrix) const {
        arguments
            .require(matrix.column_stride == 1,
                     (name + ".column_stride").c_str(),
                     matrix.column_stride,
                     "must be 1: neighbouring columns are neighbours")
            .require(matrix.row_stride >= columns,
                     (name + ".row_stride").c_str(),
                     matrix.row_stride,
                     "must be >= columns: rows share no element");
        constexpr int64_t kBytes = sizeof(T);
        const int64_t bytes = room(name, matrix.row_stride, kBytes) -
                              (matrix.row_stride - columns) * kBytes;
        arguments.device(name.c_str(), matrix.data, bytes / kBytes);
        return bytes;
    }

    /// Whether a matrix that is written takes the place of one that is read.
    template <class T>
    static bool is_same(const Rows<T>& written, const Rows<const T>& read) {
        return written.data == read.data && written.row_stride == read.row_stride;
    }
};

/// Refuses wrong arguments of a forward pass. Returns whether there is anything to do.
template <class T>
bool check_norm(const char* function, Kind kind, const FusedNorm<T>& norm) {
    const CallChecks check = {wb::Arguments(function), norm.rows, norm.columns};
    const wb::Arguments& arguments = check.arguments;
    const bool has_h = kind == Kind::add_norm;
    check.sizes();
    arguments.not_negative("eps", static_cast<double>(norm.eps))
        .require(has_h || norm.h.data == nullptr,
                 "h given",
                 1,
                 "must be null: only add_layernorm() stores a sum");
    if (kind == Kind::norm_mul) check.dropout(norm.dropout);
    if (!check.has_elements()) return false;
    const int64_t x_bytes = check.matrix("x", norm.x);
    const int64_t other_bytes = check.matrix("other", norm.other);
    const int64_t h_bytes = has_h ? check.matrix("h", norm.h) : 0;
    const int64_t y_bytes = check.matrix("y", norm.y);
    const int64_t row_bytes = norm.columns * int64_t{sizeof(T)};
    arguments.device("gamma", norm.gamma, norm.columns)
        .device("beta", norm.beta, norm.columns);
    if (norm.mean != nullptr) arguments.device("mean", norm.mean, norm.rows);
    if (norm.rstd != nullptr) arguments.device("rstd", norm.rstd, norm.rows);
    // What is written in the place of x or of other counts once.
    const auto may_be = [&](const Rows<const T>& read) {
        return (has_h && check.is_same(norm.h, read)) ||
               (kind == Kind::norm_add && check.is_same(norm.y, read));
    };
    arguments.apart(
        {{"x", may_be(norm.x) ? nullptr : norm.x.data, x_bytes, false},
         {"other", may_be(norm.other) ? nullptr : norm.other.data, other_bytes, false},
         {"gamma", norm.gamma, row_bytes, false},
         {"beta", norm.beta, row_bytes, false},
         {"h", norm.h.data, h_bytes, true},
         {"y", norm.y.data, y_bytes, true},
         {"mean", norm.mean, norm.rows * 4, true},
         {"rstd", norm.rstd, norm.rows * 4, true}});
    return true;
}

/// The same of a backward pass. Without rows, there are still sums to be set to 0.
template <class T>
bool check_gradient(const char* function, const FusedNormGradient<T>& norm) {
    const CallChecks check = {wb::Arguments(function), norm.rows, norm.columns};
    const wb::Arguments& arguments = check.arguments;
    const bool has_elements = check.has_elements();
    check.sizes();
    check.dropout(norm.dropout);
    if (norm.columns == 0) return false;
    const auto bytes = [&](const char* name, const auto& matrix) {
        return has_elements ? check.matrix(name, matrix) : 0;
    };
    const int64_t dy_bytes = bytes("dy", norm.dy);
    const int64_t x_bytes = bytes("x", norm.x);
    const int64_t mul_bytes = bytes("mul", norm.mul);
    const int64_t dx_bytes = bytes("dx", norm.dx);
    const int64_t dmul_bytes = bytes("dmul", norm.dmul);
    const int64_t row_bytes = norm.columns * int64_t{sizeof(T)};
    arguments.device("gamma", norm.gamma, has_elements ? norm.columns : 0)
        .device("beta", norm.beta, has_elements ? norm.columns : 0)
        .device("mean", norm.mean, norm.rows)
        .device("rstd", norm.rstd, norm.rows);
    if (norm.dgamma != nullptr) arguments.device("dgamma", norm.dgamma, norm.columns);
    if (norm.dbeta != nullptr) arguments.device("dbeta", norm.dbeta, norm.columns);
    arguments.apart({{"dy", norm.dy.data, dy_bytes, false},
                     {"x", norm.x.data, x_bytes, false},
                     {"mul", norm.mul.data, mul_bytes, false},
                     {"gamma", norm.gamma, has_elements ? row_bytes : 0, false},
                     {"beta", norm.beta, has_elements ? row_bytes : 0, false},
                     {"mean", norm.mean, norm.rows * 4, false},
                     {"rstd", norm.rstd, norm.rows * 4, false},
                     {"dx", norm.dx.data, dx_bytes, true},
                     {"dmul", norm.dmul.data, dmul_bytes, true},
                     {"dgamma", norm.dgamma, row_bytes, true},
                     {"dbeta", norm.dbeta, row_bytes, true}});
    return true;
}

/// The sums of no rows.
template <class T>
void clear_sums(const FusedNormGradient<T>& norm, cudaStream_t stream) {
    const auto bytes = static_cast<size_t>(norm.columns) * sizeof(T);
    T* const both[] = {norm.dgamma, norm.dbeta};
    for (T* const sums : both)
        if (sums != nullptr) CUDA_CHECK(cudaMemsetAsync(sums, 0, bytes, stream));
}
