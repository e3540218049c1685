// flash_limits.h: tensors of more than 2^31 elements, for a GPU with room for them.
#pragma once
#include "flash_attention.h"

#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/scratch.h>
#include <wb/testing/attention.h>
#include <wb/testing/bounds.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <utility>
#include <vector>

namespace flash_limits {

using wb::testing::Grader;
using wb::testing::plain_attention;

/// Many heads, of which the last three are looked at.
inline void grade_last_heads() {
    // 2^25 + 3 heads of one query and one key each: o is v. All arrays are zeros but
    // for the last heads of v.
    constexpr int64_t kHeads = (int64_t{1} << 25) + 3;
    const auto shape = plain_attention(1, kHeads, 1, 1, 64);
    const size_t bytes = static_cast<size_t>(shape.query_elements()) * sizeof(float);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 3 * bytes + (size_t{1} << 30)) {
        WB_SKIP("needs 27 GB of free GPU memory");
    }
    const wb::Scratch<float> zeros(shape.query_elements(), nullptr);  // q and k
    const wb::Scratch<float> v(shape.query_elements(), nullptr);
    const wb::Scratch<float> o(shape.query_elements(), nullptr);
    CUDA_CHECK(cudaMemset(zeros.data(), 0, bytes));
    CUDA_CHECK(cudaMemset(v.data(), 0, bytes));
    std::vector<float> last(3 * 64);
    for (size_t i = 0; i < last.size(); ++i)
        last[i] = static_cast<float>(i + 1);
    const int64_t place = shape.query_elements() - int64_t(last.size());
    CUDA_CHECK(cudaMemcpy(v.data() + place,
                          last.data(),
                          last.size() * sizeof(float),
                          cudaMemcpyHostToDevice));
    for (const auto& [name, idea, attention] :
         wb::implementations("flash_attention", flash_attention)) {
        Grader grade(name, describe(shape) + ", the last three heads");
        float* d_o = grade.output<float>("o", {3, 64});
        CUDA_CHECK(cudaMemset(o.data(), 0xFF, bytes));
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(
                shape, zeros.data(), zeros.data(), v.data(), o.data(), nullptr, s);
            CUDA_CHECK(cudaMemcpyAsync(d_o,
                                       o.data() + place,
                                       last.size() * sizeof(float),
                                       cudaMemcpyDeviceToDevice,
                                       s));
        });
        grade.expect("o", {last.begin(), last.end()}, [](int64_t) { return 0.0; });
    }
}

/// One head of many keys, of which the last has all the weight.
inline void grade_last_key() {
    // All is zero but for the last key, which takes all the weight: o is its value.
    // Of 132 multiprocessors, each with two blocks, every one has 1024 steps, and more.
    constexpr int64_t kKeys = (int64_t{1} << 23) + (1 << 19) + 5;
    constexpr size_t kDim = 256;
    const auto shape = plain_attention(1, 1, 1, kKeys, kDim);
    const size_t bytes = static_cast<size_t>(shape.kv_elements()) * sizeof(float);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < 2 * bytes + (size_t{1} << 30))
        WB_SKIP("needs 20 GB of free GPU memory");
    const wb::Scratch<float> k(shape.kv_elements(), nullptr);
    const wb::Scratch<float> v(shape.kv_elements(), nullptr);
    std::vector<float> query(kDim, 0.0f);
    std::vector<float> key(kDim, 0.0f);
    std::vector<float> value(kDim);
    query[0] = 1.0f / shape.scale;
    key[0] = 200.0f;
    for (size_t d = 0; d < kDim; ++d)
        value[d] = static_cast<float>(d + 1);
    const size_t row = kDim * sizeof(float);
    const int64_t last = shape.kv_elements() - int64_t{kDim};
    for (const auto& [array, numbers] :
         {std::pair{k.data(), &key}, std::pair{v.data(), &value}}) {
        CUDA_CHECK(cudaMemset(array, 0, bytes));
        CUDA_CHECK(
            cudaMemcpy(array + last, numbers->data(), row, cudaMemcpyHostToDevice));
    }
    for (const auto& [name, idea, attention] :
         wb::implementations("flash_attention", flash_attention)) {
        // These have one warp, or less, for one query: half a minute.
        if (name.ends_with("_v1") || name.ends_with("_v2")) continue;
        Grader grade(name, describe(shape) + ", the last key has all the weight");
        const float* d_q = grade.input("q", query);
        float* d_o = grade.output<float>("o", {int64_t{kDim}});
        grade.run([&, attention = attention](cudaStream_t s) {
            attention(shape, d_q, k.data(), v.data(), d_o, nullptr, s);
        });
        grade.expect("o", {value.begin(), value.end()}, [&](int64_t i) {
            return wb::testing::float_bound(3, double{value[static_cast<size_t>(i)]});
        });
    }
}

}  // namespace flash_limits
