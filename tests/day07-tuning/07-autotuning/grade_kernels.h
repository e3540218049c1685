/// grade_kernels.h: the given kernels, and searches among them.
#pragma once

#include <wb/arguments.h>
#include <wb/check.h>
#include <wb/testing/bounds.h>
#include <wb/testing/grader.h>
#include <wb/testing/random.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "grade.h"
#include "kernels/families.h"
#include "kernels/kernel_rig.h"

/// What a family has to compute, and how far from it a result may be.
struct Reference {
    std::vector<double> values;
    std::vector<double> bounds;
};

/// In double: gemv's sums may be off by any order of `cols` fused multiply-adds, a
/// transpose by nothing.
inline Reference reference_of(const std::string& family,
                              const std::vector<float>& matrix,
                              const std::vector<float>& x,
                              int64_t rows,
                              int64_t cols) {
    Reference result;
    const auto at = [&](int64_t row, int64_t col) {
        return double{matrix[static_cast<size_t>(row * cols + col)]};
    };
    if (family == "transpose") {
        for (int64_t col = 0; col < cols; ++col)
            for (int64_t row = 0; row < rows; ++row)
                result.values.push_back(at(row, col));
        result.bounds.assign(result.values.size(), 0.0);
        return result;
    }
    for (int64_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        double magnitude = 0.0;
        for (int64_t col = 0; col < cols; ++col) {
            const double product = at(row, col) * x[static_cast<size_t>(col)];
            sum += product;
            magnitude += std::abs(product);
        }
        result.values.push_back(sum);
        result.bounds.push_back(
            wb::testing::float_bound(static_cast<double>(cols), magnitude));
    }
    return result;
}

/// Small whole numbers: floats hold all sums of their products exactly, so that one
/// element that is left out of thousands shows.
inline std::vector<float> whole_numbers(int64_t count, std::uint64_t seed) {
    wb::testing::Random random(seed);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values)
        value = static_cast<float>(random.below(5) - 2);
    return values;
}

/// All configurations of a family on one size: those that predict() lets run are right,
/// the others are refused.
inline void grade_family(const Family& family, int64_t rows, int64_t cols) {
    const Gpu gpu = describe_gpu();
    const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
    for (const bool exact : {false, true}) {
        const auto matrix = exact ? whole_numbers(rows * cols, 1)
                                  : wb::testing::random_normal(rows * cols, 1);
        const auto x =
            exact ? whole_numbers(cols, 2) : wb::testing::random_normal(cols, 2);
        const Reference wanted = reference_of(family.name, matrix, x, rows, cols);
        // One set of arrays for all: hundreds of allocations take a busy GPU minutes.
        wb::testing::Grader grade(
            family.name, size + (exact ? ", whole numbers" : ", random numbers"));
        const float* d_matrix = grade.input("matrix", matrix);
        const float* d_x = grade.input("x", x);
        const int64_t results = family.results(rows, cols);
        float* d_out = grade.output<float>("out", {results});
        for (const Configuration& c : family.table) {
            const double us = result_of(
                "predict", [&] { return predict(c.footprint(rows, cols), gpu); });
            grade.is_now(family.name + ", " + c.name);
            const auto launch = [&](cudaStream_t stream) {
                c.launch(d_matrix, d_x, d_out, rows, cols, stream);
            };
            if (us == std::numeric_limits<double>::infinity()) {
                bool refused = false;
                try {
                    launch(nullptr);
                } catch (const wb::InvalidArgument&) {
                    refused = true;
                } catch (const wb::CudaError&) {
                    refused = true;
                }
                expect(refused || results == 0,
                       family.name + ", " + c.name + ", " + size +
                           ": predict() says that it cannot run, but it can");
            } else if (results == 0) {
                grade.expect_no_work(launch);
            } else {
                grade.run(launch);
                grade.expect("out", wanted.values, [&](int64_t i) {
                    return exact ? 0.0 : wanted.bounds[static_cast<size_t>(i)];
                });
            }
        }
    }
}

/// Device memory for a rig.
class RigMemory {
 public:
    RigMemory(const Family& family, int64_t rows, int64_t cols) {
        const auto fill = [](float** memory, int64_t count, std::uint64_t seed) {
            const size_t bytes = static_cast<size_t>(count) * sizeof(float);
            CUDA_CHECK(cudaMalloc(memory, bytes));
            wb::testing::Random random(seed);
            std::vector<float> values(static_cast<size_t>(count));
            for (float& value : values)
                value = static_cast<float>(2.0 * random.uniform() - 1.0);
            CUDA_CHECK(
                cudaMemcpy(*memory, values.data(), bytes, cudaMemcpyHostToDevice));
        };
        fill(&matrix, rows * cols, 1);
        fill(&x, cols, 2);
        fill(&out, family.results(rows, cols), 3);
    }
    ~RigMemory() {
        (void)cudaFree(matrix);
        (void)cudaFree(x);
        (void)cudaFree(out);
    }
    RigMemory(const RigMemory&) = delete;
    RigMemory& operator=(const RigMemory&) = delete;

    float* matrix = nullptr;
    float* x = nullptr;
    float* out = nullptr;
};

/// Launches nothing: as fast as can be.
inline void launch_lazily(
    const float*, const float*, float*, int64_t, int64_t, cudaStream_t) {}

/// A family whose first two configurations would win: one does nothing, one is refused.
/// The rig itself must see that.
inline void grade_broken_kernels() {
    constexpr int64_t kRows = 65;
    constexpr int64_t kCols = 33;
    for (const Family* whole : {&transpose_family(), &gemv_family()}) {
        Family family = *whole;
        family.table.resize(3);
        for (size_t i = 0; i < 3; ++i)  // those that take any shape
            family.table[i] = whole->table[0];
        family.table[0].launch = launch_lazily;
        family.table[1].launch =
            [](const float*, const float*, float*, int64_t, int64_t, cudaStream_t) {
                throw wb::CudaError(cudaErrorInvalidConfiguration, "too many threads");
            };
        const RigMemory memory(family, kRows, kCols);
        KernelRig rig(family, kRows, kCols, memory.matrix, memory.x, memory.out);
        const Choice choice = result_of("tune", [&] { return tune(rig, 5); });
        expect(choice.config == 2,
               "tune chooses a " + family.name + " that " +
                   (choice.config == 0 ? "computes nothing" : "cannot be launched"));
    }
}

#ifndef SIMT_CPU

/// Both, in turns, many times: how many times as long as `best` does `found` take?
inline double compared(KernelRig& rig, int found, int best) {
    constexpr int kRounds = 9;
    std::vector<double> of_found;
    std::vector<double> of_best;
    for (int round = 0; round < kRounds; ++round) {
        for (const double us : rig.trial(found))
            of_found.push_back(us);
        for (const double us : rig.trial(best))
            of_best.push_back(us);
    }
    return median(of_found) / median(of_best);
}

/// The contract on the GPU at hand.
inline void grade_on_gpu(const std::string& name,
                         Choice (*tuner)(Rig&, int),
                         const Family& family,
                         int64_t rows,
                         int64_t cols) {
    const RigMemory memory(family, rows, cols);
    KernelRig rig(family, rows, cols, memory.matrix, memory.x, memory.out);
    const Choice best = exhaustive_search(rig).best();
    const int allowed = quarter_of(best.trials);
    const Choice found = result_of(name, [&] { return tuner(rig, allowed); });
    const double loss = compared(rig, found.config, best.config);
    const std::string size =
        family.name + " " + std::to_string(rows) + " x " + std::to_string(cols);
    std::printf("%s, %s: %s, %.4g us, after %d trials; of %d: %s, %.4g us; x %.3f\n",
                name.c_str(),
                size.c_str(),
                rig.name(found.config).c_str(),
                found.us,
                found.trials,
                best.trials,
                rig.name(best.config).c_str(),
                best.us,
                loss);
    expect(found.trials <= allowed,
           name + ", " + size + ": " + std::to_string(found.trials) +
               " trials, allowed are " + std::to_string(allowed));
    expect(loss <= kWithin,
           name + ", " + size + ": what it finds takes " + percent(loss - 1.0) +
               " longer than what exhaustive search has found");
}

#endif
