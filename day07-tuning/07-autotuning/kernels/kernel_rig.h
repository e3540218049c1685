/// kernel_rig.h: a test rig with kernels behind it, on the GPU at hand.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "autotuning.h"
#include "families.h"

/// Device 0.
Gpu describe_gpu();

/// Launches a trial consists of.
inline constexpr int kSamplesATrial = 5;

/// A family on one matrix. The arrays are the caller's, and outlive it; the results of
/// a check() are compared on the device, with the matrix itself (transpose) or with a
/// sum in double (gemv), within the bound of gemv.cu.
///
/// Each sample is one launch between two events, after the L2 cache was written over.
class KernelRig : public Rig {
 public:
    KernelRig(const Family& family,
              int64_t rows,
              int64_t cols,
              const float* matrix,
              const float* x,
              float* out);
    ~KernelRig() override;

    const Gpu& gpu() const override { return gpu_; }
    const Problem& problem() const override { return problem_; }
    int count() const override { return static_cast<int>(family_.table.size()); }
    std::string name(int config) const override { return at(config).name; }
    std::vector<int> parameters(int config) const override {
        return at(config).parameters;
    }
    Footprint footprint(int config) const override {
        return at(config).footprint(problem_.rows, problem_.cols);
    }
    bool check(int config) override;
    std::vector<double> trial(int config) override;

    /// Launches one, on a stream. Throws what its launcher throws.
    void launch(int config, cudaStream_t stream) const;

 private:
    struct Clock;

    const Configuration& at(int config) const {
        return family_.table.at(static_cast<size_t>(config));
    }
    bool result_is_right() const;

    const Family& family_;
    Gpu gpu_;
    Problem problem_;
    const float* matrix_;
    const float* x_;
    float* out_;
    std::unique_ptr<Clock> clock_;
};
