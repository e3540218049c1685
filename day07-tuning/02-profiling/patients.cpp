// patients.cpp: all six kernels, one after the other, as something to look at with a
// profiler. Each stands in an NVTX range of its name.
//
//     build/<preset>/day07_patients                     mystery_a … mystery_f
//     build/<preset>/day07_patients mended              yours
//     build/<preset>/day07_patients mystery bd          only b and d
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <wb/check.h>
#include <wb/errors.h>
#include <wb/exercise.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "profiling.h"

namespace {

#ifdef SIMT_CPU
constexpr int64_t kElements = 1 << 16;
#else
constexpr int64_t kElements = 1 << 22;
#endif
constexpr int64_t kEdge = kElements == 1 << 22 ? 2048 : 256;  // kEdge^2 = kElements
constexpr int64_t kBatch = kElements >> 12;

// #region nvtx
/// A named stretch of the host's timeline, from here to the end of the scope. What is
/// launched in it can be found by this name; without a profiler it does nothing.
class Range {
 public:
    explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
    ~Range() { nvtxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};
// #endregion nvtx

/// Device memory, filled with small numbers.
class Floats {
 public:
    explicit Floats(int64_t count) {
        std::vector<float> values(static_cast<size_t>(count));
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<float>(i % 17) - 8.0f;
        const size_t bytes = values.size() * sizeof(float);
        CUDA_CHECK(cudaMalloc(&data_, bytes));
        CUDA_CHECK(cudaMemcpy(data_, values.data(), bytes, cudaMemcpyHostToDevice));
    }
    ~Floats() { cudaFree(data_); }
    Floats(const Floats&) = delete;
    Floats& operator=(const Floats&) = delete;
    operator float*() const { return static_cast<float*>(data_); }

 private:
    void* data_ = nullptr;
};

struct Patient {
    std::string name;
    std::function<void()> launch;
};

/// All six on arrays of kElements, or a little more.
std::vector<Patient> patients(bool mended, const float* x, float* y) {
    const std::string name = mended ? "mended_" : "mystery_";
    auto* const a = mended ? mended_a : mystery_a;
    auto* const b = mended ? mended_b : mystery_b;
    auto* const c = mended ? mended_c : mystery_c;
    auto* const d = mended ? mended_d : mystery_d;
    auto* const e = mended ? mended_e : mystery_e;
    auto* const f = mended ? mended_f : mystery_f;
    constexpr cudaStream_t kStream = nullptr;
    return {
        {name + "a", [=] { a(kElements / 4, 64, x, y, kStream); }},
        {name + "b", [=] { b(kElements, 8, x, y, kStream); }},
        {name + "c", [=] { c(kEdge, kEdge, x, x, y, kStream); }},
        {name + "d", [=] { d(kBatch, kElements / kBatch, x, y, kStream); }},
        {name + "e", [=] { e(kElements, false, x, y, kStream); }},
        {name + "f", [=] { f(kElements / 32, 32, 0.5f, x, y, kStream); }},
    };
}

/// Launches one of them twice, outside of its range and in it, for the first launch of
/// a kernel also loads its code; false if it is not written yet.
bool run(const Patient& patient) {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    float ms = 0.0f;
    try {
        patient.launch();
        CUDA_CHECK(cudaDeviceSynchronize());
        const Range range(patient.name);
        CUDA_CHECK(cudaEventRecord(begin));
        patient.launch();
        CUDA_CHECK(cudaEventRecord(end));
        CUDA_CHECK(cudaEventSynchronize(end));
        CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    } catch (const wb::NotSolved&) {
        std::printf("%-10s is not written yet\n", patient.name.c_str());
        return false;
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
#ifdef SIMT_CPU
    std::printf("%-10s ran; times are a GPU's\n", patient.name.c_str());
#else
    std::printf("%-10s %9.1f us\n", patient.name.c_str(), 1000.0f * ms);
#endif
    return true;
}

int usage() {
    std::fputs("usage: day07_patients [mystery|mended] [letters of a to f]\n", stderr);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string which = argc > 1 ? argv[1] : "mystery";
    const std::string letters = argc > 2 ? argv[2] : "abcdef";
    const bool known = letters.find_first_not_of("abcdef") == std::string::npos;
    if (argc > 3 || !known || (which != "mystery" && which != "mended")) return usage();
    try {
        const Floats x(kElements + kWindow);
        const Floats y(kElements);
        bool all = true;
        for (const Patient& patient : patients(which == "mended", x, y))
            if (letters.find(patient.name.back()) != std::string::npos)
                all = run(patient) && all;
        return all ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
