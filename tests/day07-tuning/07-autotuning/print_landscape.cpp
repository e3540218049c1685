// day07_autotuning_landscape: all configurations on some sizes, timed, as a table:
//
//     family rows cols configuration outcome threads shared blocks_per_sm blocks
//     bytes bytes_in_flight shared_passes five quantiles of the samples (us)
//
// with tabs between, and a first line: the GPU, and what the model knows of it.
#include <wb/check.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <vector>

#include "exhaustive.h"
#include "kernels/families.h"
#include "kernels/kernel_rig.h"

namespace {

constexpr int kTrials = 5;  // of each configuration, in rounds

struct Size {
    const Family& family;
    int64_t rows, cols;
};

/// Device memory with numbers that are neither zero nor all the same.
class Floats {
 public:
    explicit Floats(int64_t count) {
        std::vector<float> values(static_cast<size_t>(count));
        unsigned state = 1;
        for (float& value : values) {
            state = state * 1664525u + 1013904223u;
            value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
        }
        CUDA_CHECK(cudaMalloc(&memory_, values.size() * sizeof(float)));
        CUDA_CHECK(cudaMemcpy(memory_,
                              values.data(),
                              values.size() * sizeof(float),
                              cudaMemcpyHostToDevice));
    }
    ~Floats() { (void)cudaFree(memory_); }
    Floats(const Floats&) = delete;
    Floats& operator=(const Floats&) = delete;
    float* data() const { return memory_; }

 private:
    float* memory_ = nullptr;
};

void print_size(const Size& size, const Floats& numbers, const Floats& out) {
    KernelRig rig(
        size.family, size.rows, size.cols, numbers.data(), numbers.data(), out.data());
    std::vector<std::vector<double>> samples(static_cast<size_t>(rig.count()));
    std::vector<int> right;
    for (int config = 0; config < rig.count(); ++config)
        if (rig.check(config)) right.push_back(config);
    for (int round = 0; round < kTrials; ++round)
        for (const int config : right)
            for (const double us : rig.trial(config))
                samples[static_cast<size_t>(config)].push_back(us);
    for (int config = 0; config < rig.count(); ++config) {
        const Footprint f = rig.footprint(config);
        std::vector<double>& all = samples[static_cast<size_t>(config)];
        std::sort(all.begin(), all.end());
        const bool fits = f.takes_shape && f.blocks_per_sm > 0;
        std::printf("%s\t%lld\t%lld\t%s\t%s\t%d\t%d\t%d\t%lld\t%.0f\t%.0f\t%.0f",
                    size.family.name.c_str(),
                    static_cast<long long>(size.rows),
                    static_cast<long long>(size.cols),
                    rig.name(config).c_str(),
                    !all.empty() ? "right" : (fits ? "WRONG" : "refused"),
                    f.threads,
                    f.shared_bytes,
                    f.blocks_per_sm,
                    static_cast<long long>(f.blocks),
                    f.bytes,
                    f.bytes_in_flight,
                    f.shared_passes);
        for (size_t i = 0; i < 5 && !all.empty(); ++i)
            std::printf("\t%.4g", all[i * (all.size() - 1) / 4]);
        std::printf("\n");
    }
    std::fflush(stdout);
}

int print_all() {
    const Gpu gpu = describe_gpu();
    std::printf("# %s\t%s\t%s\t%s\t%d\t%d\t%d\t%.6g\t%.6g\t%.6g\n",
                gpu.name.c_str(),
                gpu.capability.c_str(),
                gpu.driver.c_str(),
                gpu.toolkit.c_str(),
                gpu.sms,
                gpu.max_threads,
                gpu.max_shared_bytes,
                gpu.bytes_per_us,
                gpu.passes_per_us,
                gpu.latency_us);
    const Family& transpose = transpose_family();
    const Family& gemv = gemv_family();
    const std::vector<Size> sizes = {{transpose, 1024, 1024},
                                     {transpose, 8192, 8192},
                                     {transpose, 2048, 16384},
                                     {transpose, 1 << 20, 32},
                                     {transpose, 4099, 4099},
                                     {gemv, 1024, 1024},
                                     {gemv, 8192, 8192},
                                     {gemv, 64, 1 << 18},
                                     {gemv, 1 << 20, 32},
                                     {gemv, 8191, 4099}};
    int64_t largest = 0;
    for (const Size& size : sizes)
        largest = std::max(largest, size.rows * size.cols);
    const Floats numbers(largest);
    const Floats out(largest);
    for (const Size& size : sizes)
        print_size(size, numbers, out);
    return 0;
}

}  // namespace

int main() {
#ifdef SIMT_CPU
    std::fputs("times are measured on a GPU, and there is none here\n", stderr);
    return 1;
#endif
    try {
        return print_all();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
