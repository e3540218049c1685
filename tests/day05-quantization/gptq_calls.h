// What tests of 02-gptq-int4 and 03-layernorm-gptq-qkv have in common: W's tensors as
// inputs of a launch, W packed, and what every function refuses of them.
#pragma once

#include <wb/check.h>
#include <wb/testing/gptq_weights.h>
#include <wb/testing/grader.h>
#include <wb/testing/refuses.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../02-gptq-int4/gptq_int4.h"

namespace gptq_calls {

using namespace wb::testing::gptq;
using wb::testing::Grader;
using wb::testing::misaligned;

/// What the counter of bad rows holds before a call, which adds to it: one less than 32
/// bits count, so that the first bad row is carried.
constexpr unsigned long long kBadBefore = 0xFFFFFFFFull;

/// The counter of bad rows, and what the grader expects of it.
inline unsigned long long* bad_counter(Grader& grade) {
    return grade.in_out("bad_rows", {1}, std::vector<unsigned long long>{kBadBefore});
}
inline void expect_bad(Grader& grade, const GptqWeights& w) {
    double bad = static_cast<double>(kBadBefore);
    for (int64_t k = 0; k < w.K; ++k)
        bad += w.has_group(k) ? 0.0 : 1.0;
    grade.expect("bad_rows", {bad}, [](int64_t) { return 0.0; });
}

/// W's tensors as inputs of a launch.
inline GptqTensors tensors_of(Grader& grade, const GptqWeights& w) {
    using wb::testing::Begin;
    return {grade.input("qweight", w.qweight, Begin::vectors),
            grade.input("qzeros", w.qzeros, Begin::anywhere),
            grade.input("scales", w.scales, Begin::vectors),
            w.g_idx.empty() ? nullptr : grade.input("g_idx", w.g_idx, Begin::anywhere),
            static_cast<int64_t>(w.qweight.size()),
            static_cast<int64_t>(w.qzeros.size()),
            static_cast<int64_t>(w.scales.size()),
            static_cast<int64_t>(w.g_idx.size())};
}

/// What a function makes of W that packs it.
///
/// @param vectors  that it writes, of 16 bytes
/// @param repack   (tensors, packed, bad_rows, stream)
template <class Repack>
std::vector<uint4> packed_by(const char* function,
                             const std::string& inputs,
                             const GptqWeights& w,
                             int64_t vectors,
                             const Repack& repack) {
    std::vector<uint4> packed(at(vectors));
    if (packed.empty()) return packed;
    Grader grade(function, inputs);
    const GptqTensors tensors = tensors_of(grade, w);
    auto* const d_packed = grade.output<uint32_t>("packed", {4 * vectors});
    unsigned long long* const d_bad = w.g_idx.empty() ? nullptr : bad_counter(grade);
    grade.run([&](cudaStream_t stream) {
        repack(tensors, reinterpret_cast<uint4*>(d_packed), d_bad, stream);
    });
    if (d_bad != nullptr) expect_bad(grade, w);
    CUDA_CHECK(cudaMemcpy(packed.data(),
                          d_packed,
                          packed.size() * sizeof(uint4),
                          cudaMemcpyDeviceToHost));
    return packed;
}

template <class T>
T* writable(const T* tensor) {
    return const_cast<T*>(tensor);
}

/// What a check of loaded weights says of right and of wrong numbers. It writes nothing
/// in either case.
///
/// @param right  with a g_idx
/// @param check  (tensors, stream)
template <class Check>
void grade_check(const char* function, const GptqWeights& right, const Check& check) {
    const auto run = [&](const GptqWeights& w, const std::string& said) {
        Grader grade(function, said.empty() ? "right weights" : said);
        const GptqTensors tensors = tensors_of(grade, w);
        grade.run_and_wait([&](cudaStream_t stream) {
            if (said.empty()) return check(tensors, stream);
            wb::testing::expect_refused(
                function, said, said, [&] { check(tensors, stream); });
        });
    };
    run(right, "");
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const struct {
        float scale;
        const char* said;
    } wrong[] = {{0.0f, "0, but"},
                 {-0.0f, "0, but"},
                 {kNan, "NaN, but"},
                 {kInfinity, "infinity, but"},
                 {-kInfinity, "-infinity, but"}};
    const std::size_t last = right.scales.size() - 1;
    for (const std::size_t place : {std::size_t{0}, last / 2, last})
        for (const auto& [scale, said] : wrong) {
            GptqWeights w = right;
            w.scales[place] = static_cast<__half>(scale);
            run(w, "tensors.scales[" + std::to_string(place) + "] is " + said);
        }
    for (const int64_t row : {int64_t{0}, right.K - 1})
        for (int64_t i = 0; i < 4; ++i) {
            GptqWeights w = right;
            w.g_idx[at(row)] = bad_group(i, right.groups());
            run(w,
                "tensors.g_idx[" + std::to_string(row) + "] is " +
                    std::to_string(w.g_idx[at(row)]) + ", but must be from 0 to " +
                    std::to_string(right.groups() - 1));
        }
}

/// What every function refuses of groups and of W's tensors. The right ones have 64
/// rows in two groups, and a g_idx.
///
/// @param refuse  a Refuses of Arguments with `shape` and `tensors`
template <class Refuses>
void refuse_groups_and_tensors(const Refuses& refuse) {
    const GptqTensors& right = refuse.right.tensors;
    const auto said = [](const char* name, int64_t value) {
        return "tensors." + (name + (" is " + std::to_string(value)));
    };
    refuse("shape.group is 0", [](auto& a) { a.shape.group = 0; });
    refuse("shape.group is -2", [](auto& a) { a.shape.group = -2; });
    refuse("shape.group is 16", [](auto& a) { a.shape.group = 16; });
    refuse(said("qweight_words", right.qweight_words - 1).c_str(),
           [](auto& a) { --a.tensors.qweight_words; });
    refuse(said("qweight_words", right.qweight_words * 8).c_str(),
           [](auto& a) { a.tensors.qweight_words *= 8; });
    refuse(said("num_scales", right.num_scales / 2).c_str(),
           [](auto& a) { a.tensors.num_scales /= 2; });
    refuse("tensors.g_idx_rows is 2", [](auto& a) { a.tensors.g_idx_rows = 2; });
    refuse("tensors.g_idx_rows is 64", [](auto& a) { a.tensors.g_idx = nullptr; });
    refuse("tensors.qweight is a null pointer",
           [](auto& a) { a.tensors.qweight = nullptr; });
    refuse("tensors.qzeros is a null pointer",
           [](auto& a) { a.tensors.qzeros = nullptr; });
    refuse("tensors.scales is a null pointer",
           [](auto& a) { a.tensors.scales = nullptr; });
    const std::vector<int32_t> host(at(right.qweight_words));
    const std::vector<__half> host_scales(at(right.num_scales));
    refuse("tensors.qweight is a host pointer",
           [&](auto& a) { a.tensors.qweight = host.data(); });
    refuse("tensors.qzeros is a host pointer",
           [&](auto& a) { a.tensors.qzeros = host.data(); });
    refuse("tensors.scales is a host pointer",
           [&](auto& a) { a.tensors.scales = host_scales.data(); });
    refuse("tensors.g_idx is a host pointer",
           [&](auto& a) { a.tensors.g_idx = host.data(); });
    refuse("tensors.qzeros is not aligned",
           [](auto& a) { a.tensors.qzeros = misaligned(a.tensors.qzeros); });
    refuse("tensors.qweight is",  // a multiple of 4, and not of 16
           [](auto& a) { a.tensors.qweight += 1; });
    refuse("tensors.scales is", [](auto& a) { a.tensors.scales += 4; });
}

/// What those refuse that write W: of the counter, which Arguments call `bad_rows`.
template <class Refuses>
void refuse_counters(const Refuses& refuse) {
    refuse("bad_rows is a null pointer", [](auto& a) { a.bad_rows = nullptr; });
    unsigned long long host = 0;
    refuse("bad_rows is a host pointer", [&](auto& a) { a.bad_rows = &host; });
    refuse("bad_rows is not aligned",
           [](auto& a) { a.bad_rows = misaligned(a.bad_rows); });
}

/// What those refuse that pack W: of `packed_to`.
template <class Refuses>
void refuse_packed(const Refuses& refuse) {
    refuse("packed is a null pointer", [](auto& a) { a.packed_to = nullptr; });
    refuse("packed is not aligned",
           [](auto& a) { a.packed_to = misaligned(a.packed_to); });
    std::vector<uint4> host(1024);
    refuse("packed is a host pointer", [&](auto& a) { a.packed_to = host.data(); });
}

}  // namespace gptq_calls
