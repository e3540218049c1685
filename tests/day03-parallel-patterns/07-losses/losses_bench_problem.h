/// losses_bench_problem.h: what the benchmark of this chapter runs on.
#pragma once

#include "losses.h"

#include <wb/bench/bench.h>
#include <wb/bench/cublas.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace wb::bench {

/// A matrix.
struct Rows {
    int64_t rows;
    int64_t columns;

    int64_t count() const { return rows * columns; }
    double bytes() const { return 4.0 * static_cast<double>(count()); }
    std::string text() const {
        return std::to_string(rows) + " x " + std::to_string(columns);
    }
    L2Shape shape() const { return {rows, columns, 1e-12f}; }
};

inline double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// These values on the device.
template <class T>
Array<T> uploaded(const std::vector<T>& values) {
    Array<T> array(static_cast<int64_t>(values.size()));
    array.upload(values);
    return array;
}

/// A sampled softmax on the device, with logits by cuBLAS, where there is one. A query
/// in four is room that is not used.
struct SampledProblem {
    SampledProblem(Bench& bench, const Rows& s)
        : size(s),
          positive(bench.random_normal(s.rows)),
          queries(bench.random_normal(s.rows * kDim)),
          items(bench.random_normal(s.columns * kDim)),
          negative(bench.random_normal(s.count())),
          log_q(bench.random_normal(s.columns)),
          positive_ids(uploaded(std::vector<int32_t>(static_cast<size_t>(s.rows), 7))),
          negative_ids(s.columns),
          offsets(uploaded<int64_t>({0, s.rows / 2, real()})) {
        draw_negatives(1, 0, negative_ids.data(), s.columns, 1000, nullptr);
#if WB_HAVE_CUBLAS
        make_logits(nullptr);
#endif
    }

#if WB_HAVE_CUBLAS
    // #region gemm
    /// negative = queries * items^T / sqrt(kDim). cuBLAS counts columns first: what is
    /// row-major for us, [columns, kDim], is for it a matrix of kDim rows.
    void make_logits(cudaStream_t stream) const {
        const float scale = 1.0f / std::sqrt(static_cast<float>(kDim));
        const float zero = 0.0f;
        CUBLAS_CHECK(cublasSgemm(blas.on(stream),
                                 CUBLAS_OP_T,
                                 CUBLAS_OP_N,
                                 static_cast<int>(size.columns),
                                 static_cast<int>(size.rows),
                                 kDim,
                                 &scale,
                                 items.data(),
                                 kDim,
                                 queries.data(),
                                 kDim,
                                 &zero,
                                 negative.data(),
                                 static_cast<int>(size.columns)));
    }
    // #endregion gemm
#endif

    int64_t real() const {
        return size.rows - size.rows / 4;
    }
    /// What must be read: the logits of the real queries.
    double bytes() const {
        return 4.0 * static_cast<double>(real() * size.columns);
    }
    SampledInput input() const {
        return {positive.data(),
                negative.data(),
                positive_ids.data(),
                negative_ids.data(),
                nullptr,
                log_q.data(),
                offsets.data(),
                2,
                size.rows,
                size.columns};
    }
    std::string text() const {
        return size.text() + ", 3 in 4 real";
    }

    double s(int64_t row, int64_t col) const {
        if (negative_ids.at(col) == 7) return -INFINITY;
        return double{negative.at(row * size.columns + col)} - double{log_q.at(col)};
    }
    double loss(int64_t row) const {
        if (row >= real()) return 0.0;
        const auto logits = negative.host(row * size.columns, size.columns);
        const auto ids = negative_ids.host();
        const auto q = log_q.host();
        double sum = 0.0;  // of logits of a few units: no maximum is needed in double
        for (size_t c = 0; c < logits.size(); ++c)
            if (ids[c] != 7) sum += std::exp(double{logits[c]} - double{q[c]});
        return softplus(std::log(sum) - positive.at(row));
    }

    static constexpr int kDim = 128;  ///< of an embedding

    Rows size;
    Array<float> positive;
    Array<float> queries;  // [rows, kDim]
    Array<float> items;    // [columns, kDim] the embeddings of the drawn items
    Array<float> negative;
    Array<float> log_q;
    Array<int32_t> positive_ids;
    Array<int32_t> negative_ids;
    Array<int64_t> offsets;
#if WB_HAVE_CUBLAS
    Cublas blas;
#endif
};

}  // namespace wb::bench
