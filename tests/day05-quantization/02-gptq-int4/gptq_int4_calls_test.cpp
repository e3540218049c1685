// Grades day05-quantization/02-gptq-int4: arguments, streams, large matrices.
#include "grading.h"

#include <wb/testing/large.h>

#include <cstring>

using namespace gptq_grading;

namespace {

/// Right arguments of all functions: x of 4 x 64 numbers, W of 64 x 24 in two groups.
struct Arguments {
    GptqShape shape = {4, 24, 64, 32, true};
    GptqTensors tensors;
    const uint4* packed;
    uint4* packed_to;
    const __half* x;
    __half* y;
    __half* w;
    unsigned long long* bad_rows;
};

/// Memory for them. qweight has 192 words, qzeros 6, scales 48, g_idx 64.
struct Memory {
    Grader grade;
    Arguments right;

    explicit Memory(const char* function) : grade(function, "wrong arguments") {
        const std::vector<int32_t> words(512);
        right.tensors = {grade.input("qweight", words),
                         grade.input("qzeros", words),
                         grade.input("scales", std::vector<__half>(512)),
                         grade.input("g_idx", words),
                         192,
                         6,
                         48,
                         64};
        auto* const d = grade.output<float>("d", {16384});
        right.packed = reinterpret_cast<const uint4*>(d);
        right.packed_to = reinterpret_cast<uint4*>(d);
        right.x = reinterpret_cast<const __half*>(d + 4096);
        right.y = reinterpret_cast<__half*>(d + 8192);
        right.w = reinterpret_cast<__half*>(d + 12288);
        right.bad_rows = bad_counter(grade);
    }
};

void call_dequantize(const Arguments& a, cudaStream_t stream) {
    gptq_dequantize(a.shape, a.tensors, a.w, a.bad_rows, stream);
}
void call_repack(const Arguments& a, cudaStream_t stream) {
    gptq_repack(a.shape, a.tensors, a.packed_to, a.bad_rows, stream);
}
void call_matmul(const Arguments& a, cudaStream_t stream) {
    gptq_matmul(a.shape, a.tensors, a.packed, a.x, a.y, stream);
}

using Refuses = wb::testing::Refuses<Arguments>;

/// What all of them refuse.
void refuse_shapes_and_tensors(const Refuses& refuse) {
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1; });
    refuse("shape.N is -8", [](auto& a) { a.shape.N = -8; });
    refuse("shape.K is -8", [](auto& a) { a.shape.K = -8; });
    refuse("shape.M is 1073741832", [](auto& a) { a.shape.M = (1 << 30) + 8; });
    refuse("shape.N is 1073741832", [](auto& a) { a.shape.N = (1 << 30) + 8; });
    refuse("shape.K is 33554440", [](auto& a) { a.shape.K = (1 << 25) + 8; });
    refuse("shape.N is 20", [](auto& a) { a.shape.N = 20; });
    refuse("shape.K is 60", [](auto& a) { a.shape.K = 60; });
    refuse("shape.group is 96", [](auto& a) { a.shape.group = 96; });
    // Nor is anything wrong right because there is nothing to do.
    refuse("shape.K is 60", [](auto& a) { a.shape.M = 0, a.shape.K = 60; });
    refuse("shape.K is 60", [](auto& a) { a.shape.N = 0, a.shape.K = 60; });
    refuse("shape.N is 20", [](auto& a) { a.shape.M = 0, a.shape.N = 20; });
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1, a.shape.N = 0; });
    refuse("shape.K is 64, but must be a multiple of shape.group",
           [](auto& a) { a.shape.group = 128; });
    refuse("tensors.qzeros_words is 8", [](auto& a) { a.tensors.qzeros_words = 8; });
    refuse_groups_and_tensors(refuse);
}

}  // namespace

TEST_CASE("dequantise: wrong arguments are refused by name") {
    Memory memory("gptq_dequantize");
    const Refuses refuse = {"gptq_dequantize", call_dequantize, memory.right};
    refuse_shapes_and_tensors(refuse);
    refuse_counters(refuse);
    refuse("w is a null pointer", [](auto& a) { a.w = nullptr; });
    refuse("w is not aligned", [](auto& a) { a.w = misaligned(a.w); });
    refuse("w is", [](auto& a) { a.w += 1; });
    __half host[64 * 24];
    refuse("w is a host pointer", [&](auto& a) { a.w = host; });
    refuse("w - tensors.qweight in bytes is 752", [](auto& a) {
        a.w = reinterpret_cast<__half*>(writable(a.tensors.qweight + 188));
    });
    refuse("w - tensors.qzeros in bytes is 16", [](auto& a) {
        a.w = reinterpret_cast<__half*>(writable(a.tensors.qzeros + 4));
    });
    refuse("w - tensors.scales in bytes is 80",
           [](auto& a) { a.w = writable(a.tensors.scales + 40); });
    refuse("w - tensors.g_idx in bytes is 240", [](auto& a) {
        a.w = reinterpret_cast<__half*>(writable(a.tensors.g_idx + 60));
    });
    refuse("bad_rows - w in bytes is 3064", [](auto& a) {
        a.bad_rows = reinterpret_cast<unsigned long long*>(a.w + 1532);
    });
    refuse("bad_rows - tensors.g_idx in bytes is 248", [](auto& a) {
        a.bad_rows =
            reinterpret_cast<unsigned long long*>(writable(a.tensors.g_idx + 62));
    });
}

TEST_CASE("repack: wrong arguments are refused by name") {
    grade_whole({1, 8, 8});  // what is packed is of use
    Memory memory("gptq_repack");
    const Refuses refuse = {"gptq_repack", call_repack, memory.right};
    refuse_shapes_and_tensors(refuse);
    refuse_counters(refuse);
    refuse_packed(refuse);
    refuse("packed - tensors.qweight in bytes is -2832", [](auto& a) {
        a.tensors.qweight = reinterpret_cast<const int32_t*>(a.packed_to + 177);
    });
    refuse("packed - tensors.qweight in bytes is 752", [](auto& a) {
        a.packed_to = reinterpret_cast<uint4*>(writable(a.tensors.qweight + 188));
    });
}

TEST_CASE("product: wrong arguments are refused by name") {
    grade_whole({1, 8, 8});  // what was read then does not count any more
    Memory memory("gptq_matmul");
    const Refuses refuse = {"gptq_matmul", call_matmul, memory.right};
    refuse.older_gpu();
    refuse_shapes_and_tensors(refuse);
    refuse("packed is a null pointer", [](auto& a) { a.packed = nullptr; });
    refuse("x is a null pointer", [](auto& a) { a.x = nullptr; });
    refuse("y is a null pointer", [](auto& a) { a.y = nullptr; });
    refuse("packed is not aligned", [](auto& a) { a.packed = misaligned(a.packed); });
    refuse("x is not aligned", [](auto& a) { a.x = misaligned(a.x); });
    refuse("y is not aligned", [](auto& a) { a.y = misaligned(a.y); });
    refuse("x is", [](auto& a) { a.x += 4; });
    refuse("y is", [](auto& a) { a.y += 4; });
    __half host[4 * 64];
    std::vector<uint4> host_packed(512);
    refuse("packed is a host pointer", [&](auto& a) { a.packed = host_packed.data(); });
    refuse("x is a host pointer", [&](auto& a) { a.x = host; });
    refuse("y is a host pointer", [&](auto& a) { a.y = host; });
    // y's first element on the last of what is read, and the other way round.
    refuse("y - packed in bytes is 2832", [](auto& a) {
        a.y = reinterpret_cast<__half*>(const_cast<uint4*>(a.packed) + 177);
    });
    refuse("y - x in bytes is 16512", [](auto& a) {
        a.shape.M = 130;
        a.y = writable(a.x + 129 * 64);
    });
    refuse("y - x in bytes is 496", [](auto& a) { a.y = writable(a.x + 248); });
    refuse("y - x in bytes is -176", [](auto& a) { a.x = a.y + 88; });
    refuse("y - packed in bytes is -176",
           [](auto& a) { a.packed = reinterpret_cast<const uint4*>(a.y + 88); });
    refuse("y - tensors.qweight in bytes is 752", [](auto& a) {
        a.y = reinterpret_cast<__half*>(writable(a.tensors.qweight + 188));
    });
}

TEST_CASE("the size of packed memory: wrong shapes are refused by name") {
    grade_whole({1, 8, 8});
    const auto refuse = [](const char* part, const GptqShape& shape) {
        wb::testing::expect_refused("gptq_packed_vectors", part, part, [&] {
            (void)gptq_packed_vectors(shape, false);
        });
    };
    refuse("shape.N is 20", {1, 20, 64, 32});
    refuse("shape.group is 0", {1, 24, 64, 0});
    CHECK(gptq_packed_vectors({1, 0, 64, 32}, true) == 0);
    CHECK(gptq_packed_vectors({1, 8, 0, 32}, true) == 0);
    // A tile, and its factors; with g_idx 65 words more in two tiles.
    CHECK(gptq_packed_vectors({1, 8, 8, -1}, false) == 32 + 8);
    CHECK(gptq_packed_vectors({1, 8, 8, -1}, true) == 2 * 32 + 8 + 17);
}

TEST_CASE("nothing to do: nothing is launched") {
    Grader grade("gptq_matmul", "M = 0, N = 0 or K = 0");
    const GptqTensors empty = {};
    unsigned long long* const none = nullptr;
    Memory memory("gptq_matmul");
    GptqTensors tensors = memory.right.tensors;
    grade.expect_no_work([&](cudaStream_t stream) {
        gptq_matmul({0, 24, 64, 32}, tensors, nullptr, nullptr, nullptr, stream);
        gptq_matmul({3, 0, 64, 32}, empty, nullptr, nullptr, nullptr, stream);
        gptq_dequantize({3, 0, 64, 32}, empty, nullptr, none, stream);
        gptq_dequantize({3, 8, 0, -1}, empty, nullptr, none, stream);
        gptq_repack({3, 0, 64, 32}, empty, nullptr, none, stream);
        gptq_repack({3, 8, 0, -1}, empty, nullptr, none, stream);
    });
}

TEST_CASE("arrays without a gap between them are allowed") {
    // x, y and W as GPTQ stores it, one behind the other.
    const Call c{2, 8, 32, 32};
    const GptqWeights w = exact_weights(c, 1);
    const auto x = whole_x(c);
    const auto packed = packed_of(c, w);
    const Expected expected = expected_of(c, w, x, true);
    Grader grade("gptq_matmul", "y between x and qweight, without a gap");
    GptqTensors tensors = tensors_of(grade, w);
    std::vector<uint16_t> memory(at(c.M * c.K + c.M * c.N) + 2 * w.qweight.size());
    std::memcpy(memory.data(), x.data(), x.size() * 2);
    std::memcpy(
        memory.data() + c.M * c.K + c.M * c.N, w.qweight.data(), w.qweight.size() * 4);
    std::vector<double> all(memory.begin(), memory.end());
    for (int64_t i = 0; i < c.M * c.N; ++i) {
        const auto y = static_cast<__half>(static_cast<float>(expected.y[at(i)]));
        uint16_t bits = 0;
        std::memcpy(&bits, &y, 2);
        all[at(c.M * c.K + i)] = bits == 0x8000 ? 0.0 : static_cast<double>(bits);
    }
    auto* const d =
        grade.in_out("x, y and qweight", {static_cast<int64_t>(memory.size())}, memory);
    auto* const d_x = reinterpret_cast<__half*>(d);
    tensors.qweight = reinterpret_cast<const int32_t*>(d + c.M * c.K + c.M * c.N);
    const uint4* const d_packed = grade.input("packed", packed);
    grade.run([&](cudaStream_t stream) {
        gptq_matmul(c.shape(), tensors, d_packed, d_x, d_x + c.M * c.K, stream);
    });
    grade.expect("x, y and qweight", all, [](int64_t) { return 0.0; });
}

TEST_CASE("w of more than 2^31 elements", "[large][serial]") {
    grade_dequantize({1, 8, 8}, random_weights({1, 8, 8}, 1), "");
#ifdef SIMT_CPU
    WB_SKIP("2^31 weights are too much for the simulator");
#else
    // All numbers and zeros are 0 but for one word, which is 1: w is -scale there or,
    // as zeros are stored minus one, -scale everywhere, and 0 in one place.
    constexpr int64_t kN = int64_t{1} << 15;
    constexpr int64_t kK = (int64_t{1} << 16) + 128;
    const GptqShape shape = {1, kN, kK, 128, true};
    const int64_t words = kK / 8 * kN;
    const int64_t zeros = shape.groups() * (kN / 8);
    const int64_t scales = shape.groups() * kN;
    wb::testing::LargeArrays large(words + zeros + scales / 2, kK * kN / 2);
    if (!large.has_memory()) WB_SKIP("needs 8 GB of free GPU memory");
    auto* const d_words = reinterpret_cast<int32_t*>(large.x);
    auto* const d_scales = reinterpret_cast<__half*>(large.x + words + zeros);
    const uint32_t ones =
        0x3C003C00u;  // two halves of 1: of the last columns, last group
    const int32_t one = 1;
    CUDA_CHECK(
        cudaMemcpy(d_scales + scales - 2, &ones, sizeof ones, cudaMemcpyHostToDevice));
    CUDA_CHECK(
        cudaMemcpy(d_words + words - 2, &one, sizeof one, cudaMemcpyHostToDevice));
    const GptqTensors tensors = {
        d_words, d_words + words, d_scales, nullptr, words, zeros, scales, 0};
    // Pairs of halves, read as floats: the last two columns of some rows.
    const auto pair = [](uint32_t bits) {
        float value = 0.0f;
        std::memcpy(&value, &bits, sizeof value);
        return double{value};
    };
    const auto place = [](int64_t k) { return (k * kN + kN - 2) / 2; };
    for (const auto& [name, idea, launcher] :
         wb::implementations("gptq_dequantize", gptq_dequantize))
        large.expect(name,
                     "2^31 weights and more",
                     {place(kK - 8), place(kK - 7), place(kK - 129)},
                     {pair(0xBC000000u), pair(0xBC00BC00u), pair(0x80008000u)},
                     [&, launcher = launcher](auto stream) {
                         launcher(shape,
                                  tensors,
                                  reinterpret_cast<__half*>(large.y),
                                  nullptr,
                                  stream);
                     });
#endif
}

TEST_CASE("y of more than 2^31 elements", "[large][serial]") {
    grade_whole({1, 8, 8});
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // W is 3 in row 2 of two columns, and 0 elsewhere; x is 0 but in a few rows.
    const Call c{(int64_t{1} << 16) + 16, (int64_t{1} << 15) + 16, 8, -1, false};
    GptqWeights w = exact_weights(c, 1);
    std::fill(w.qweight.begin(), w.qweight.end(), 0);
    std::fill(w.qzeros.begin(), w.qzeros.end(), 0);
    std::fill(w.scales.begin(), w.scales.end(), static_cast<__half>(1.0f));
    for (const int64_t n : {int64_t{1}, c.N - 1})
        w.set_number(2, n, 3);
    Grader weights("gptq_matmul", c.text());
    const GptqTensors tensors = tensors_of(weights, w);
    const uint4* const d_packed = weights.input("packed", packed_of(c, w));
    wb::testing::LargeArrays large(c.M * c.K / 2, c.M * c.N / 2);
    if (!large.has_memory()) WB_SKIP("needs 6 GB of free GPU memory");
    auto* const d_x = reinterpret_cast<__half*>(large.x);
    const std::vector<int64_t> rows = {0, (int64_t{1} << 16) + 3, c.M - 1};
    // Pairs of halves, read as floats: columns 0 and 1, 2 and 3, and the last two.
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : rows) {
        const auto x = static_cast<__half>(static_cast<float>(m % 128 + 1));
        CUDA_CHECK(cudaMemcpy(d_x + m * c.K + 2, &x, sizeof x, cudaMemcpyHostToDevice));
        const auto y = static_cast<__half>(static_cast<float>(3 * (m % 128 + 1)));
        uint16_t bits = 0;
        std::memcpy(&bits, &y, sizeof bits);
        const uint32_t pair = uint32_t{bits} << 16;
        float as_float = 0.0f;
        std::memcpy(&as_float, &pair, sizeof as_float);
        for (const int64_t n : {int64_t{0}, int64_t{2}, c.N - 2}) {
            places.push_back((m * c.N + n) / 2);
            expected.push_back(n == 2 ? 0.0 : double{as_float});
        }
    }
    for (const auto& [name, idea, launcher] :
         wb::implementations("gptq_matmul", gptq_matmul))
        large.expect(name,
                     "2^31 sums and more",
                     places,
                     expected,
                     [&, launcher = launcher](auto stream) {
                         launcher(c.shape(),
                                  tensors,
                                  d_packed,
                                  d_x,
                                  reinterpret_cast<__half*>(large.y),
                                  stream);
                     });
#endif
}
