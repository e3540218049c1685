// Grades day05-quantization/03-layernorm-gptq-qkv: arguments, streams, large sizes.
#include "grading.h"

#include <wb/launch.h>
#include <wb/testing/large.h>

#include <cstring>
#include <utility>

using namespace qkv_grading;

namespace {

/// Right arguments of all functions: x of 2 x 3 x 64 numbers, W of 64 x 192 in two
/// groups.
struct Arguments {
    QkvShape shape = {2, 3, 64, 32, true};
    QkvNorm norm;
    GptqTensors tensors;
    const uint4* packed;
    uint4* packed_to;
    const __half* input;
    __half* qkv;
    unsigned long long* bad_rows;
};

/// Memory for them. qweight has 1536 words, qzeros 48, scales 384, g_idx 64; packed has
/// 920 vectors.
struct Memory {
    Grader grade;
    Arguments right;

    explicit Memory(const char* function) : grade(function, "wrong arguments") {
        const std::vector<int32_t> words(1536);
        right.tensors = {grade.input("qweight", words),
                         grade.input("qzeros", words),
                         grade.input("scales", std::vector<__half>(384)),
                         grade.input("g_idx", words),
                         1536,
                         48,
                         384,
                         64};
        right.norm = {grade.input("norm.weight", std::vector<__half>(64)),
                      grade.input("norm.bias", std::vector<__half>(64)),
                      1e-5f};
        auto* const d = grade.output<float>("d", {16384});
        right.packed = reinterpret_cast<const uint4*>(d);
        right.packed_to = reinterpret_cast<uint4*>(d);
        right.input = reinterpret_cast<const __half*>(d + 8192);
        right.qkv = reinterpret_cast<__half*>(d + 12288);
        right.bad_rows = bad_counter(grade);
    }
};

void call_repack(const Arguments& a, cudaStream_t stream) {
    qkv_repack(a.shape, a.tensors, a.packed_to, a.bad_rows, stream);
}
void call_qkv(const Arguments& a, cudaStream_t stream) {
    layernorm_gptq_qkv(a.shape, a.norm, a.tensors, a.packed, a.input, a.qkv, stream);
}

using Refuses = wb::testing::Refuses<Arguments>;

/// What both refuse.
void refuse_shapes_and_tensors(const Refuses& refuse) {
    refuse("shape.batch is -1", [](auto& a) { a.shape.batch = -1; });
    refuse("shape.seq is -1", [](auto& a) { a.shape.seq = -1; });
    refuse("shape.hidden is -8", [](auto& a) { a.shape.hidden = -8; });
    refuse("shape.batch * shape.seq is 1073741826", [](auto& a) {
        a.shape = {2, (1 << 29) + 1, 64, 32, true};
    });
    refuse("shape.batch * shape.seq",
           [](auto& a) { a.shape.batch = a.shape.seq = int64_t{1} << 40; });
    refuse("shape.hidden is 33554440", [](auto& a) { a.shape.hidden = (1 << 25) + 8; });
    refuse("shape.hidden is 60", [](auto& a) { a.shape.hidden = 60; });
    // Nor is anything wrong right because there is nothing to do.
    refuse("shape.hidden is 60",
           [](auto& a) { a.shape.batch = 0, a.shape.hidden = 60; });
    refuse("shape.hidden is 60", [](auto& a) { a.shape.seq = 0, a.shape.hidden = 60; });
    refuse("shape.batch is -1", [](auto& a) { a.shape.batch = -1, a.shape.seq = 0; });
    refuse("shape.seq is -1", [](auto& a) { a.shape.seq = -1, a.shape.hidden = 0; });
    refuse("shape.hidden is 64, but must be a multiple of shape.group",
           [](auto& a) { a.shape.group = 128; });
    // [groups, group / 8], as a well-known report has it; and [groups, hidden / 8].
    refuse("tensors.qzeros_words is 8, but must be groups * 3 * hidden / 8",
           [](auto& a) { a.tensors.qzeros_words = 8; });
    refuse("tensors.qzeros_words is 16", [](auto& a) { a.tensors.qzeros_words = 16; });
    refuse_groups_and_tensors(refuse);
}

}  // namespace

TEST_CASE("repack: wrong arguments are refused by name") {
    grade_whole({1, 1, 8});  // what is packed is of use
    Memory memory("qkv_repack");
    const Refuses refuse = {"qkv_repack", call_repack, memory.right};
    refuse_shapes_and_tensors(refuse);
    refuse_counters(refuse);
    refuse_packed(refuse);
    refuse("packed - tensors.qweight in bytes is 6128", [](auto& a) {
        a.packed_to = reinterpret_cast<uint4*>(writable(a.tensors.qweight + 1532));
    });
}

TEST_CASE("wrong arguments are refused by name") {
    grade_whole({1, 1, 8});  // what was read then does not count any more
    Memory memory("layernorm_gptq_qkv");
    const Refuses refuse = {"layernorm_gptq_qkv", call_qkv, memory.right};
    refuse.older_gpu();
    refuse_shapes_and_tensors(refuse);
    refuse("norm.eps is -0.5", [](auto& a) { a.norm.eps = -0.5f; });
    refuse("norm.eps is nan",
           [](auto& a) { a.norm.eps = std::numeric_limits<float>::quiet_NaN(); });
    refuse("norm.eps is inf",
           [](auto& a) { a.norm.eps = std::numeric_limits<float>::infinity(); });
    refuse("packed is a null pointer", [](auto& a) { a.packed = nullptr; });
    refuse("input is a null pointer", [](auto& a) { a.input = nullptr; });
    refuse("qkv is a null pointer", [](auto& a) { a.qkv = nullptr; });
    refuse("packed is not aligned", [](auto& a) { a.packed = misaligned(a.packed); });
    refuse("input is not aligned", [](auto& a) { a.input = misaligned(a.input); });
    refuse("qkv is not aligned", [](auto& a) { a.qkv = misaligned(a.qkv); });
    refuse("input is", [](auto& a) { a.input += 4; });
    refuse("qkv is", [](auto& a) { a.qkv += 4; });
    refuse("norm.weight is not aligned",
           [](auto& a) { a.norm.weight = misaligned(a.norm.weight); });
    refuse("norm.weight is", [](auto& a) { a.norm.weight += 4; });
    refuse("norm.bias is", [](auto& a) { a.norm.bias += 4; });
    std::vector<__half> host(2048);
    std::vector<uint4> host_packed(1024);
    refuse("norm.weight is a host pointer",
           [&](auto& a) { a.norm.weight = host.data(); });
    refuse("norm.bias is a host pointer", [&](auto& a) { a.norm.bias = host.data(); });
    refuse("packed is a host pointer", [&](auto& a) { a.packed = host_packed.data(); });
    refuse("input is a host pointer", [&](auto& a) { a.input = host.data(); });
    refuse("qkv is a host pointer", [&](auto& a) { a.qkv = host.data(); });
    // qkv's first element on the last of what is read, and the other way round.
    refuse("qkv - input in bytes is 752",
           [](auto& a) { a.qkv = writable(a.input + 376); });
    refuse("qkv - input in bytes is -2288", [](auto& a) { a.input = a.qkv + 1144; });
    refuse("qkv - norm.weight in bytes is 112",
           [](auto& a) { a.qkv = writable(a.norm.weight + 56); });
    refuse("qkv - norm.bias in bytes is 112",
           [](auto& a) { a.qkv = writable(a.norm.bias + 56); });
    refuse("qkv - packed in bytes is -2288",
           [](auto& a) { a.packed = reinterpret_cast<const uint4*>(a.qkv + 1144); });
    refuse("qkv - tensors.qweight in bytes is 6128", [](auto& a) {
        a.qkv = reinterpret_cast<__half*>(writable(a.tensors.qweight + 1532));
    });
    refuse("qkv - tensors.qzeros in bytes is 176", [](auto& a) {
        a.qkv = reinterpret_cast<__half*>(writable(a.tensors.qzeros + 44));
    });
    refuse("qkv - tensors.scales in bytes is 752",
           [](auto& a) { a.qkv = writable(a.tensors.scales + 376); });
    refuse("qkv - tensors.g_idx in bytes is 240", [](auto& a) {
        a.qkv = reinterpret_cast<__half*>(writable(a.tensors.g_idx + 60));
    });
}

TEST_CASE("the size of packed memory: wrong shapes are refused by name") {
    grade_whole({1, 1, 8});
    const auto refuse = [](const char* part, const QkvShape& shape) {
        wb::testing::expect_refused("qkv_packed_vectors", part, part, [&] {
            (void)qkv_packed_vectors(shape, false);
        });
    };
    refuse("shape.hidden is 60", {1, 1, 60, -1});
    refuse("shape.group is 0", {1, 1, 64, 0});
    CHECK(qkv_packed_vectors({1, 1, 0, 32}, true) == 0);
    // A tile, and its factors; with g_idx 65 words more in two tiles.
    CHECK(qkv_packed_vectors({1, 1, 8, -1}, false) == 32 + 8);
    CHECK(qkv_packed_vectors({0, 0, 8, -1}, true) == 2 * 32 + 8 + 17);
}

TEST_CASE("nothing to do: nothing is launched") {
    Memory memory("layernorm_gptq_qkv");
    const GptqTensors tensors = memory.right.tensors;
    const GptqTensors empty = {};
    const QkvNorm norm = {nullptr, nullptr, 0.0f};
    unsigned long long* const none = nullptr;
    Grader grade("layernorm_gptq_qkv", "batch = 0, seq = 0 or hidden = 0");
    grade.expect_no_work([&](cudaStream_t stream) {
        layernorm_gptq_qkv(
            {0, 3, 64, 32}, norm, tensors, nullptr, nullptr, nullptr, stream);
        layernorm_gptq_qkv(
            {3, 0, 64, 32}, norm, tensors, nullptr, nullptr, nullptr, stream);
        layernorm_gptq_qkv(
            {3, 3, 0, 32}, norm, empty, nullptr, nullptr, nullptr, stream);
        qkv_repack({3, 3, 0, 32}, empty, nullptr, none, stream);
    });
}

TEST_CASE("qkv of more than 2^31 elements", "[large][serial]") {
    grade_whole({1, 1, 8});
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // W is 3 in row 2 of two columns, and 0 elsewhere. Rows are 0, and h the bias: 2.
    const Call c{1, (int64_t{1} << 26) + 70, 16, -1, bias_only, none, false};
    const int64_t M = c.rows();
    GptqWeights w = exact_weights(c, 1);
    std::fill(w.qweight.begin(), w.qweight.end(), 0);
    std::fill(w.qzeros.begin(), w.qzeros.end(), 0);
    std::fill(w.scales.begin(), w.scales.end(), half_of(1.0));
    for (const int64_t n : {int64_t{1}, w.N - 1})
        w.set_number(2, n, 3);
    Grader weights("layernorm_gptq_qkv", c.text());
    const GptqTensors tensors = tensors_of(weights, w);
    const uint4* const d_packed = weights.input("packed", packed_of(c, w));
    const std::vector<__half> bias(at(c.hidden), half_of(2.0));
    const QkvNorm norm = {nullptr, weights.input("norm.bias", bias), 1.0f};
    wb::testing::LargeArrays large(M * c.hidden / 2, 3 * M * c.hidden / 2);
    if (!large.has_memory()) WB_SKIP("needs 9 GB of free GPU memory");
    auto* const d_x = reinterpret_cast<__half*>(large.x);
    CUDA_CHECK(cudaMemset(d_x, 0, static_cast<size_t>(2 * M * c.hidden)));
    // Pairs of halves, read as floats: columns 0 and 1 of Q, the last two of V.
    const uint32_t six = 0x46000000u;
    float pair = 0.0f;
    std::memcpy(&pair, &six, sizeof pair);
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : {int64_t{0}, (int64_t{1} << 26) + 3, M - 1}) {
        places.push_back(m * c.hidden / 2);
        places.push_back((2 * M + m) * c.hidden / 2 + c.hidden / 2 - 1);
        places.push_back((M + m) * c.hidden / 2);
        expected.insert(expected.end(), {double{pair}, double{pair}, 0.0});
    }
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv))
        large.expect(name,
                     "2^31 sums and more",
                     places,
                     expected,
                     [&, launcher = launcher](auto stream) {
                         launcher(c.shape(),
                                  norm,
                                  tensors,
                                  d_packed,
                                  d_x,
                                  reinterpret_cast<__half*>(large.y),
                                  stream);
                     });
#endif
}

TEST_CASE("hidden of more than 1024 tiles", "[large][serial]") {
    grade_whole({1, 1, 8});
#ifdef SIMT_CPU
    WB_SKIP("W of 3 * 2^30 weights is too much for the simulator");
#else
    // W is 3 in its last row and column, and 0 elsewhere. x is 0, and h the bias: 2.
    const int64_t M = GENERATE(as<int64_t>(), 1, 9, 65);
    const QkvShape shape = {1, M, (int64_t{1} << 15) + 32, -1, false};
    const int64_t hidden = shape.hidden;
    const int64_t N = 3 * hidden;
    const int64_t vectors = qkv_packed_vectors(shape, false);
    // In floats: qweight, qzeros, scales, packed, x and bias.
    int64_t floats = 0;
    const auto take = [&](int64_t count) {
        return std::exchange(floats, floats + wb::ceil_div(count, int64_t{4}) * 4);
    };
    const int64_t words = take(hidden / 8 * N);
    const int64_t zeros = take(N / 8);
    const int64_t scales = take(N / 2);
    const int64_t packed = take(4 * vectors);
    const int64_t x = take(M * hidden / 2);
    const int64_t bias = take(hidden / 2);
    wb::testing::LargeArrays large(floats, M * N / 2);
    if (!large.has_memory()) WB_SKIP("needs 5 GB of free GPU memory");
    const uint32_t last_of_eight = 3u << 28;
    const std::vector<__half> ones(at(N), half_of(1.0));
    const std::vector<__half> twos(at(hidden), half_of(2.0));
    const auto put = [&](int64_t place, const void* from, std::size_t bytes) {
        CUDA_CHECK(cudaMemcpy(large.x + place, from, bytes, cudaMemcpyHostToDevice));
    };
    put(words + hidden / 8 * N - 1, &last_of_eight, sizeof last_of_eight);
    put(scales, ones.data(), ones.size() * sizeof(__half));
    put(bias, twos.data(), twos.size() * sizeof(__half));
    const GptqTensors tensors = {reinterpret_cast<const int32_t*>(large.x + words),
                                 reinterpret_cast<const int32_t*>(large.x + zeros),
                                 reinterpret_cast<const __half*>(large.x + scales),
                                 nullptr,
                                 hidden / 8 * N,
                                 N / 8,
                                 N,
                                 0};
    auto* const d_packed = reinterpret_cast<uint4*>(large.x + packed);
    qkv_repack(shape, tensors, d_packed, nullptr, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    const QkvNorm norm = {
        nullptr, reinterpret_cast<const __half*>(large.x + bias), 1.0f};
    const uint32_t six = 0x46000000u;  // of two halves the second one
    float pair = 0.0f;
    std::memcpy(&pair, &six, sizeof pair);
    for (const auto& [name, idea, launcher] :
         wb::implementations("layernorm_gptq_qkv", layernorm_gptq_qkv))
        large.expect(name,
                     "hidden = 32800, M = " + std::to_string(M),
                     {0, M * N / 2 - 1, 2 * M * hidden / 2 - 1},
                     {0.0, double{pair}, 0.0},
                     [&, launcher = launcher](auto stream) {
                         launcher(shape,
                                  norm,
                                  tensors,
                                  d_packed,
                                  reinterpret_cast<const __half*>(large.x + x),
                                  reinterpret_cast<__half*>(large.y),
                                  stream);
                     });
#endif
}
