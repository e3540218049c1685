// Grades day05-quantization/01-int8: arguments, streams, large matrices.
#include "grading.h"

#include <wb/testing/large.h>
#include <wb/testing/refuses.h>

#include <cstring>

using namespace int8_grading;
using wb::testing::misaligned;

namespace {

struct Arguments {
    // int8_quantize(): 4 rows of 64.
    const __nv_bfloat16* values;
    int64_t rows = 4;
    int64_t columns = 64;
    int8_t* q;
    float* scales;
    int32_t* zeros;
    int32_t* sums;
    // int8_matmul(): x of 4 x 64, w of 24 x 64.
    Int8Shape shape = {4, 24, 64};
    Int8Inputs in;
    __nv_bfloat16* y;
};

struct Memory {
    Grader grade;
    Arguments right;

    explicit Memory(const char* function) : grade(function, "wrong arguments") {
        right.values = grade.input("x", std::vector<__nv_bfloat16>(1024));
        auto* const d = grade.output<float>("d", {16384});
        right.q = reinterpret_cast<int8_t*>(d);
        right.scales = d + 4096;
        right.zeros = reinterpret_cast<int32_t*>(d + 8192);
        right.sums = reinterpret_cast<int32_t*>(d + 12288);
        right.in = {grade.input("in.x", std::vector<int8_t>(4096)),
                    grade.input("in.x_scales", std::vector<float>(64)),
                    grade.input("in.x_zeros", std::vector<int32_t>(64)),
                    grade.input("in.w", std::vector<int8_t>(4096)),
                    grade.input("in.w_scales", std::vector<float>(64)),
                    grade.input("in.w_sums", std::vector<int32_t>(64)),
                    grade.input("in.bias", std::vector<float>(64))};
        right.y = reinterpret_cast<__nv_bfloat16*>(d);
    }
};

void call_quantize(const Arguments& a, cudaStream_t stream) {
    int8_quantize(a.values, a.rows, a.columns, a.q, a.scales, a.zeros, a.sums, stream);
}
void call_matmul(const Arguments& a, cudaStream_t stream) {
    int8_matmul(a.shape, a.in, a.y, stream);
}

using Refuses = wb::testing::Refuses<Arguments>;

template <class T>
T* writable(const T* tensor) {
    return const_cast<T*>(tensor);
}

}  // namespace

TEST_CASE("quantise: wrong arguments are refused by name") {
    grade_quantize(random_rows(1, 16, 1), 16, Wanted::scales, "");
    Memory memory("int8_quantize");
    const Refuses refuse = {"int8_quantize", call_quantize, memory.right};
    refuse("rows is -1", [](auto& a) { a.rows = -1; });
    refuse("columns is -16", [](auto& a) { a.columns = -16; });
    refuse("rows is 1073741825", [](auto& a) { a.rows = (1 << 30) + 1; });
    refuse("columns is 65552", [](auto& a) { a.columns = (1 << 16) + 16; });
    refuse("columns is 56", [](auto& a) { a.columns = 56; });
    refuse("columns is 56", [](auto& a) { a.rows = 0, a.columns = 56; });
    refuse("rows is -1", [](auto& a) { a.rows = -1, a.columns = 0; });
    refuse("x is a null pointer", [](auto& a) { a.values = nullptr; });
    refuse("q is a null pointer", [](auto& a) { a.q = nullptr; });
    refuse("scales is a null pointer", [](auto& a) { a.scales = nullptr; });
    float host[256] = {};
    refuse("x is a host pointer",
           [&](auto& a) { a.values = reinterpret_cast<__nv_bfloat16*>(host); });
    refuse("q is a host pointer",
           [&](auto& a) { a.q = reinterpret_cast<int8_t*>(host); });
    refuse("scales is a host pointer", [&](auto& a) { a.scales = host; });
    refuse("zeros is a host pointer",
           [&](auto& a) { a.zeros = reinterpret_cast<int32_t*>(host); });
    refuse("sums is a host pointer",
           [&](auto& a) { a.sums = reinterpret_cast<int32_t*>(host); });
    refuse("x is", [](auto& a) { a.values += 4; });
    refuse("q is", [](auto& a) { a.q += 8; });
    refuse("x is not aligned", [](auto& a) { a.values = misaligned(a.values); });
    refuse("scales is not aligned", [](auto& a) { a.scales = misaligned(a.scales); });
    refuse("zeros is not aligned", [](auto& a) { a.zeros = misaligned(a.zeros); });
    refuse("sums is not aligned", [](auto& a) { a.sums = misaligned(a.sums); });
    refuse("q - x in bytes is 496",
           [](auto& a) { a.q = reinterpret_cast<int8_t*>(writable(a.values)) + 496; });
    refuse("scales - q in bytes is 252",
           [](auto& a) { a.scales = reinterpret_cast<float*>(a.q + 252); });
    refuse("zeros - scales in bytes is 12",
           [](auto& a) { a.zeros = reinterpret_cast<int32_t*>(a.scales + 3); });
    refuse("sums - zeros in bytes is 12", [](auto& a) { a.sums = a.zeros + 3; });
    refuse("sums - q in bytes is 252",
           [](auto& a) { a.sums = reinterpret_cast<int32_t*>(a.q + 252); });
}

TEST_CASE("product: wrong arguments are refused by name") {
    grade_whole({1, 8, 16}, true, true);
    Memory memory("int8_matmul");
    const Refuses refuse = {"int8_matmul", call_matmul, memory.right};
    refuse.older_gpu();
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1; });
    refuse("shape.N is -8", [](auto& a) { a.shape.N = -8; });
    refuse("shape.K is -16", [](auto& a) { a.shape.K = -16; });
    refuse("shape.M is 1073741825", [](auto& a) { a.shape.M = (1 << 30) + 1; });
    refuse("shape.N is 1073741832", [](auto& a) { a.shape.N = (1 << 30) + 8; });
    refuse("shape.K is 65552", [](auto& a) { a.shape.K = (1 << 16) + 16; });
    refuse("shape.N is 20", [](auto& a) { a.shape.N = 20; });
    refuse("shape.K is 56", [](auto& a) { a.shape.K = 56; });
    refuse("shape.K is 56", [](auto& a) { a.shape.M = 0, a.shape.K = 56; });
    refuse("shape.N is 20", [](auto& a) { a.shape.M = 0, a.shape.N = 20; });
    refuse("shape.M is -1", [](auto& a) { a.shape.M = -1, a.shape.N = 0; });
    refuse("in.x is a null pointer", [](auto& a) { a.in.x = nullptr; });
    refuse("in.x_scales is a null pointer", [](auto& a) { a.in.x_scales = nullptr; });
    refuse("in.w is a null pointer", [](auto& a) { a.in.w = nullptr; });
    refuse("in.w_scales is a null pointer", [](auto& a) { a.in.w_scales = nullptr; });
    refuse("in.w_sums is a null pointer", [](auto& a) { a.in.w_sums = nullptr; });
    refuse("y is a null pointer", [](auto& a) { a.y = nullptr; });
    float host[1024] = {};
    const auto* const bytes = reinterpret_cast<const int8_t*>(host);
    const auto* const words = reinterpret_cast<const int32_t*>(host);
    refuse("in.x is a host pointer", [&](auto& a) { a.in.x = bytes; });
    refuse("in.x_scales is a host pointer", [&](auto& a) { a.in.x_scales = host; });
    refuse("in.x_zeros is a host pointer", [&](auto& a) { a.in.x_zeros = words; });
    refuse("in.w is a host pointer", [&](auto& a) { a.in.w = bytes; });
    refuse("in.w_scales is a host pointer", [&](auto& a) { a.in.w_scales = host; });
    refuse("in.w_sums is a host pointer", [&](auto& a) { a.in.w_sums = words; });
    refuse("in.bias is a host pointer", [&](auto& a) { a.in.bias = host; });
    refuse("y is a host pointer",
           [&](auto& a) { a.y = reinterpret_cast<__nv_bfloat16*>(host); });
    refuse("in.x is", [](auto& a) { a.in.x += 8; });
    refuse("in.w is", [](auto& a) { a.in.w += 8; });
    refuse("in.w_scales is", [](auto& a) { a.in.w_scales += 2; });
    refuse("in.w_sums is", [](auto& a) { a.in.w_sums += 2; });
    refuse("in.bias is", [](auto& a) { a.in.bias += 2; });
    refuse("y is", [](auto& a) { a.y += 4; });
    refuse("in.x_scales is not aligned",
           [](auto& a) { a.in.x_scales = misaligned(a.in.x_scales); });
    refuse("in.x_zeros is not aligned",
           [](auto& a) { a.in.x_zeros = misaligned(a.in.x_zeros); });
    const auto at_bytes = [](const void* from, int64_t offset) {
        return reinterpret_cast<__nv_bfloat16*>(
            const_cast<char*>(static_cast<const char*>(from)) + offset);
    };
    refuse("y - in.x in bytes is 240", [&](auto& a) { a.y = at_bytes(a.in.x, 240); });
    refuse("y - in.w in bytes is 1520", [&](auto& a) { a.y = at_bytes(a.in.w, 1520); });
    refuse("y - in.x_scales in bytes is 0",
           [&](auto& a) { a.y = at_bytes(a.in.x_scales, 0); });
    refuse("y - in.x_zeros in bytes is 0",
           [&](auto& a) { a.y = at_bytes(a.in.x_zeros, 0); });
    refuse("y - in.w_scales in bytes is 80",
           [&](auto& a) { a.y = at_bytes(a.in.w_scales, 80); });
    refuse("y - in.w_sums in bytes is 80",
           [&](auto& a) { a.y = at_bytes(a.in.w_sums, 80); });
    refuse("y - in.bias in bytes is 80",
           [&](auto& a) { a.y = at_bytes(a.in.bias, 80); });
}

TEST_CASE("sums of w are not looked at without zeros of x") {
    Layer layer = whole_layer({2, 8, 32}, false, false);
    layer.w_sums = std::vector<int32_t>(8, 1000);
    grade_layer(layer, exact_of(layer), ", sums that nobody asked for");
}

TEST_CASE("nothing to do: nothing is launched") {
    Grader grade("int8_matmul", "M = 0, N = 0, no rows or no columns");
    const Int8Inputs none = {};
    grade.expect_no_work([&](cudaStream_t stream) {
        int8_matmul({0, 24, 64}, none, nullptr, stream);
        int8_matmul({3, 0, 64}, none, nullptr, stream);
        int8_quantize(nullptr, 0, 64, nullptr, nullptr, nullptr, nullptr, stream);
        int8_quantize(nullptr, 3, 0, nullptr, nullptr, nullptr, nullptr, stream);
    });
}

TEST_CASE("y of more than 2^31 elements", "[large][serial]") {
    grade_whole({1, 8, 16}, false, false);
#ifdef SIMT_CPU
    WB_SKIP("2^31 sums are too much for the simulator");
#else
    // x and w are 0 but for one column of a few rows; all scales are 1.
    const Int8Shape shape = {(int64_t{1} << 16) + 16, (int64_t{1} << 15) + 16, 16};
    Layer layer = whole_layer(shape, false, false);
    std::fill(layer.x.begin(), layer.x.end(), int8_t{0});
    std::fill(layer.w.begin(), layer.w.end(), int8_t{0});
    layer.x_scales.assign(at(shape.M), 1.0f);
    layer.w_scales.assign(at(shape.N), 1.0f);
    const std::vector<int64_t> rows = {0, (int64_t{1} << 16) + 3, shape.M - 1};
    for (const int64_t m : rows)
        layer.x[at(m * shape.K + 5)] = static_cast<int8_t>(m % 100 + 1);
    for (const int64_t n : {int64_t{1}, shape.N - 1})
        layer.w[at(n * shape.K + 5)] = 1;
    Grader inputs("int8_matmul", layer.text());
    const Int8Inputs in = inputs_of(inputs, layer);
    wb::testing::LargeArrays large(16, shape.M * shape.N / 2);
    if (!large.has_memory()) WB_SKIP("needs 6 GB of free GPU memory");
    // Pairs of bf16, read as floats: columns 0 and 1, 2 and 3, and the last two.
    std::vector<int64_t> places;
    std::vector<double> expected;
    for (const int64_t m : rows) {
        const auto y = static_cast<__nv_bfloat16>(static_cast<float>(m % 100 + 1));
        uint16_t bits = 0;
        std::memcpy(&bits, &y, sizeof bits);
        const uint32_t pair = uint32_t{bits} << 16;
        float as_float = 0.0f;
        std::memcpy(&as_float, &pair, sizeof as_float);
        for (const int64_t n : {int64_t{0}, int64_t{2}, shape.N - 2}) {
            places.push_back((m * shape.N + n) / 2);
            expected.push_back(n == 2 ? 0.0 : double{as_float});
        }
    }
    for (const auto& [name, idea, launcher] :
         wb::implementations("int8_matmul", int8_matmul))
        large.expect(
            name,
            "2^31 sums and more",
            places,
            expected,
            [&, launcher = launcher](auto stream) {
                launcher(shape, in, reinterpret_cast<__nv_bfloat16*>(large.y), stream);
            });
#endif
}

TEST_CASE("more than 2^31 numbers to quantise", "[large][serial]") {
    grade_quantize(random_rows(1, 16, 1), 16, Wanted::scales, "");
#ifdef SIMT_CPU
    WB_SKIP("2^31 numbers are too much for the simulator");
#else
    // All 0 but for the last row's last four, which are 1, and become 127.
    constexpr int64_t kColumns = 65536;
    constexpr int64_t kRows = (int64_t{1} << 15) + 9;
    wb::testing::LargeArrays large(kRows * kColumns / 2, kRows * kColumns / 4 + kRows);
    if (!large.has_memory()) WB_SKIP("needs 7 GB of free GPU memory");
    const uint32_t ones[2] = {0x3F803F80u, 0x3F803F80u};
    CUDA_CHECK(cudaMemcpy(
        large.x + kRows * kColumns / 2 - 2, ones, sizeof ones, cudaMemcpyHostToDevice));
    float four = 0.0f;  // four bytes of 127
    const uint32_t bits = 0x7F7F7F7Fu;
    std::memcpy(&four, &bits, sizeof four);
    for (const auto& [name, idea, launcher] :
         wb::implementations("int8_quantize", int8_quantize))
        large.expect(name,
                     "2^31 numbers and more",
                     {kRows * kColumns / 4 - 1, kRows * kColumns / 4 - 2},
                     {double{four}, 0.0},
                     [&, launcher = launcher](auto stream) {
                         launcher(reinterpret_cast<const __nv_bfloat16*>(large.x),
                                  kRows,
                                  kColumns,
                                  reinterpret_cast<int8_t*>(large.y),
                                  large.y + kRows * kColumns / 4,
                                  nullptr,
                                  nullptr,
                                  stream);
                     });
#endif
}
