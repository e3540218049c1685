// Tests v6 of Hopper attention, on e4m3 numbers, and says how large its error is.
#include "fp8_attention.h"

#include <wb/testing/attention_grade.h>

#include <wb/scratch.h>

#include <cstdio>

#include "../hopper_grading.h"

namespace {

using namespace hopper_grading;
using T = __nv_bfloat16;

/// Root of the mean square of the error, divided by that of the result.
double relative_error(const std::vector<double>& got,
                      const std::vector<double>& exact) {
    double error = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < exact.size(); ++i) {
        error += (got[i] - exact[i]) * (got[i] - exact[i]);
        size += exact[i] * exact[i];
    }
    return std::sqrt(error / size);
}

struct Result {
    std::vector<double> o;
    std::vector<double> lse;
    AttentionExpected expected;
    std::string why_not;  ///< why it cannot run here
};

Result run(const AttentionShape& shape, const AttentionInputs& inputs) {
    Result result;
    const auto stored = as_stored<T>(inputs);
    result.expected = expect_half<T>(shape, stored);
    Grader grade("hopper_attention_fp8", describe(shape));
    const T* q = grade.input("q", rounded<T>(stored.q));
    const T* k = grade.input("k", rounded<T>(stored.k));
    const T* v = grade.input("v", rounded<T>(stored.v));
    T* o = grade.output<T>(
        "o", {shape.batch, shape.query_heads, shape.queries, shape.head_dim});
    float* lse =
        grade.output<float>("lse", {shape.batch, shape.query_heads, shape.queries});
    grade.run([&](cudaStream_t stream) {
        try {
            hopper_attention_fp8(shape, q, k, v, o, lse, stream);
        } catch (const wb::InvalidArgument& error) {
            result.why_not = error.what();
            if (result.why_not.find("capability") == std::string::npos) throw;
        }
    });
    result.o = grade.read("o");
    result.lse = grade.read("lse");
    return result;
}

/// Numbers that e4m3 holds exactly, whose scores are so far apart that one key takes
/// all the weight: then nothing is rounded but o.
AttentionInputs one_key_each(const AttentionShape& shape) {
    AttentionInputs inputs = random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i) {
        const auto row = static_cast<int64_t>(i / 128) % shape.queries;
        inputs.q[i] = static_cast<int64_t>(i % 128) == row % 128 ? 448.0f : 0.0f;
    }
    for (size_t i = 0; i < inputs.k.size(); ++i) {
        const auto key = static_cast<int64_t>(i / 128) % shape.keys;
        inputs.k[i] = static_cast<int64_t>(i % 128) == key % 128 ? 448.0f : -448.0f;
    }
    for (size_t i = 0; i < inputs.v.size(); ++i)
        inputs.v[i] = static_cast<float>(static_cast<int>(i * 7 % 15) - 7) * 64.0f;
    return inputs;
}

}  // namespace

TEST_CASE("e4m3: one key takes all the weight, and o is its value") {
    // Row i sees only the key i: which number of v goes where shows.
    const auto shape = plain_attention(1, 1, 128, 128, 128);
    const auto result = run(shape, one_key_each(shape));
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    for (size_t i = 0; i < result.o.size(); ++i) {
        INFO("row " << i / 128 << ", column " << i % 128);
        REQUIRE(result.o[i] == result.expected.o[i]);
    }
}

TEST_CASE("e4m3: errors of a few percent, whatever the shape") {
    struct Case {
        AttentionShape shape;
        const char* name;
    };
    const std::vector<Case> cases = {
        {plain_attention(1, 1, 200, 130, 128), "N 200, 130 keys"},
        {plain_attention(1, 2, 333, 333, 128, true), "causal, N 333"},
        {grouped(plain_attention(2, 4, 70, 70, 128), 2), "two heads share keys"},
        {plain_attention(1, 1, 65, 1000, 128), "1000 keys"},
        {plain_attention(1, 2, 3, 5003, 128), "5003 keys"},
        {plain_attention(1, 1, 5003, 3, 128), "5003 queries"},
    };
    for (const auto& [shape, name] : cases) {
        const auto result = run(shape, random_attention(shape, 1));
        if (!result.why_not.empty()) WB_SKIP(result.why_not);
        const double error = relative_error(result.o, result.expected.o);
        std::printf(
            "%-24s error of o %.4f (root mean square, relative)\n", name, error);
        INFO(name << ": relative error " << error);
        // A number is rounded by up to 2^-4, in the mean by 0.026. Weights are products
        // of rounded q and k, then rounded themselves, and so is v: errors of that size
        // from each.
        CHECK(error < 0.12);
        CHECK(error > 0.005);  // else it is not e4m3
        double lse_error = 0.0;
        for (size_t i = 0; i < result.lse.size(); ++i)
            lse_error =
                std::max(lse_error, std::abs(result.lse[i] - result.expected.lse[i]));
        CHECK(lse_error < 0.5);
    }
}

TEST_CASE("e4m3: rows that see no key") {
    const auto shape = plain_attention(1, 1, 150, 40, 128, true);
    const auto result = run(shape, random_attention(shape, 1));
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    for (size_t row = 0; row < 110; ++row) {
        REQUIRE(result.lse[row] == -std::numeric_limits<double>::infinity());
        for (size_t d = 0; d < 128; ++d)
            REQUIRE(result.o[row * 128 + d] == 0.0);
    }
}

TEST_CASE("e4m3: scales follow the numbers, block by block") {
    // Keys and queries whose sizes differ by 1000 from block to block: one scale for
    // all would lose the small ones.
    const auto shape = plain_attention(1, 1, 128, 256, 128);
    auto inputs = random_attention(shape, 1);
    for (size_t i = 0; i < inputs.q.size(); ++i)
        inputs.q[i] *= i / 128 < 64 ? 1000.0f : 0.001f;
    for (size_t i = 0; i < inputs.k.size(); ++i)
        inputs.k[i] *= i / 128 < 128 ? 0.001f : 0.002f;
    const auto result = run(shape, inputs);
    if (!result.why_not.empty()) WB_SKIP(result.why_not);
    CHECK(relative_error(result.o, result.expected.o) < 0.12);
}

TEST_CASE("e4m3: how fast", "[.][speed]") {
#ifdef SIMT_CPU
    WB_SKIP("a simulator's time says nothing");
#else
    const auto shape = plain_attention(1, 16, 8192, 8192, 128);
    const wb::Scratch<T> q(shape.query_elements(), nullptr);
    const wb::Scratch<T> k(shape.kv_elements(), nullptr);
    const wb::Scratch<T> v(shape.kv_elements(), nullptr);
    const wb::Scratch<T> o(shape.query_elements(), nullptr);
    const auto numbers = random_attention(plain_attention(1, 1, 8192, 8192, 128), 1);
    for (const auto& [to, from] : {std::pair(q.data(), &numbers.q),
                                   std::pair(k.data(), &numbers.k),
                                   std::pair(v.data(), &numbers.v)}) {
        const auto values = rounded<T>(*from);
        for (int64_t head = 0; head < 16; ++head)
            CUDA_CHECK(cudaMemcpy(to + head * static_cast<int64_t>(values.size()),
                                  values.data(),
                                  values.size() * sizeof(T),
                                  cudaMemcpyHostToDevice));
    }
    std::vector<cudaEvent_t> events(21);
    for (cudaEvent_t& event : events)
        CUDA_CHECK(cudaEventCreate(&event));
    for (cudaEvent_t& event : events) {
        CUDA_CHECK(cudaEventRecord(event, nullptr));
        hopper_attention_fp8(
            shape, q.data(), k.data(), v.data(), o.data(), nullptr, nullptr);
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    std::vector<float> ms(events.size() - 1);
    for (size_t i = 0; i < ms.size(); ++i)
        CUDA_CHECK(cudaEventElapsedTime(&ms[i], events[i], events[i + 1]));
    std::sort(ms.begin(), ms.end());
    std::printf("%s: %.0f TFLOP/s, quantisation included\n",
                describe(shape).c_str(),
                attention_flop(shape) / ms[ms.size() / 2] * 1e-9);
    for (cudaEvent_t& event : events)
        CUDA_CHECK(cudaEventDestroy(event));
#endif
}
