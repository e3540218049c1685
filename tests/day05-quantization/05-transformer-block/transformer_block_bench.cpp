// Times day05-quantization/05-transformer-block: whole sequences, and a step.
#include "transformer_block.h"

#include <wb/bench/bench.h>
#include <wb/check.h>
#include <wb/implementations.h>
#include <wb/reference/fp4.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace wb::bench;

namespace {

using Bf16 = __nv_bfloat16;

/// A call: `batch` sequences of `tokens` tokens; 0: a step behind `past` tokens.
struct Size {
    int64_t batch;
    int64_t tokens;
    int64_t past = 0;
    WeightKind kind = WeightKind::bf16;
    NormPlace place = NormPlace::pre;
    int64_t heads = 12;
    int64_t d_ff = 3072;

    bool decodes() const { return tokens == 0; }
    int64_t rows() const { return decodes() ? batch : batch * tokens; }
    BlockShape shape() const { return {64 * heads, heads, d_ff, place}; }
    int64_t weights() const {
        return 4 * 64 * 64 * heads * heads + 2 * 64 * heads * d_ff;
    }
    double weight_bytes() const {
        const auto count = static_cast<double>(weights());
        if (kind == WeightKind::bf16) return 2.0 * count;
        // NVFP4 has a scale of a byte for 16; INT4 a half and 4 bits for 128.
        return kind == WeightKind::fp4 ? count * (0.5 + 1.0 / 16)
                                       : count * (0.5 + 2.5 / 128);
    }
    /// Weights, keys and values once, x and y.
    double bytes() const {
        const auto d = static_cast<double>(64 * heads);
        const auto seen = static_cast<double>(batch * (past + 1));
        return weight_bytes() + 4.0 * d * static_cast<double>(rows()) +
               (decodes() ? 4.0 * d * seen : 0.0);
    }
    double flop() const {
        const auto d = static_cast<double>(64 * heads);
        const auto N = static_cast<double>(tokens);
        return 2.0 * static_cast<double>(weights() * rows()) +
               2.0 * d * N * N * static_cast<double>(batch);  // causal: half of 4
    }
    std::string text() const {
        const char* const kinds[] = {"", ", INT4", ", FP4"};
        return "B" + std::to_string(batch) +
               (decodes() ? " behind " + std::to_string(past)
                          : " N" + std::to_string(tokens)) +
               ", " + std::to_string(64 * heads) + " x " + std::to_string(d_ff) +
               kinds[static_cast<int>(kind)] +
               (place == NormPlace::post ? ", post" : "");
    }
};

template <class T>
Array<T> upload(const std::vector<T>& from) {
    Array<T> array(static_cast<int64_t>(from.size()));
    array.upload(from);
    return array;
}

/// Numbers around 0, the same each time.
std::vector<Bf16> numbers(int64_t count, float size, uint32_t seed) {
    std::vector<Bf16> result;
    uint32_t state = seed;
    for (int64_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        const float uniform = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
        result.push_back(Bf16(size * 3.4641016f * uniform));  // of that deviation
    }
    return result;
}

/// A layer and its memory.
struct Weights {
    BlockLinear layer;
    Array<Bf16> dense, bias;
    Array<float> fp4_bias;
    Array<uint8_t> values, scales;
    Array<float> global;
    Array<int32_t> qweight, qzeros;
    Array<__half> half_scales;
    Array<uint4> packed;

    Weights(WeightKind kind, int64_t N, int64_t K, uint32_t seed)
        : dense(kind == WeightKind::bf16 ? N * K : 1),
          bias(upload(numbers(N, 0.1f, seed + 1))),
          fp4_bias(N),
          values(kind == WeightKind::fp4 ? N * K / 2 : 1),
          scales(kind == WeightKind::fp4 ? N * K / 16 : 1),
          global(1),
          qweight(kind == WeightKind::int4 ? K / 8 * N : 1),
          qzeros(kind == WeightKind::int4 ? K / 128 * N / 8 : 1),
          half_scales(kind == WeightKind::int4 ? K / 128 * N : 1),
          packed(kind == WeightKind::int4
                     ? gptq_packed_vectors({1, N, K, 128, true}, false)
                     : 1) {
        const auto size = static_cast<float>(1.0 / std::sqrt(static_cast<double>(K)));
        layer.kind = kind;
        layer.bias = bias.data();
        if (kind == WeightKind::bf16) {
            dense.upload(numbers(N * K, size, seed));
            layer.dense = dense.data();
        } else if (kind == WeightKind::fp4) {
            std::vector<float> floats;
            for (const Bf16 x : numbers(N * K, size, seed))
                floats.push_back(static_cast<float>(x));
            const float global_scale = wb::reference::fp4_global_scale(floats);
            global.upload({global_scale});
            const auto weights = upload(floats);
            layer.fp4 = {
                values.data(), scales.data(), global.data(), N * K / 2, N * K / 16};
            fp4_quantize({1, N, K}, weights.data(), layer.fp4, nullptr);
            std::vector<float> biases;
            for (const Bf16 x : bias.host())
                biases.push_back(static_cast<float>(x));
            fp4_bias.upload(biases);
            layer.fp4_bias = fp4_bias.data();
        } else {
            std::vector<int32_t> words;
            uint32_t state = seed;
            for (int64_t i = 0; i < K / 8 * N; ++i)
                words.push_back(
                    static_cast<int32_t>(state = state * 1664525u + 1013904223u));
            qweight.upload(words);
            qzeros.upload(
                std::vector<int32_t>(static_cast<size_t>(K / 128 * N / 8), 0x77777777));
            half_scales.upload(std::vector<__half>(static_cast<size_t>(K / 128 * N),
                                                   static_cast<__half>(size / 4.6f)));
            layer.int4 = {qweight.data(),
                          qzeros.data(),
                          half_scales.data(),
                          nullptr,
                          K / 8 * N,
                          K / 128 * N / 8,
                          K / 128 * N,
                          0};
            layer.int4_packed = packed.data();
            gptq_repack(
                {1, N, K, 128, true}, layer.int4, packed.data(), nullptr, nullptr);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
    }
};

/// What a version has to come near to: what the first one gives. Whether that is right
/// is what tests ask; here all versions must agree, but for ten roundings to bf16.
template <class Problem>
void expect_as(Problem& problem, const Array<Bf16>& y) {
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto right = y.host();
    double largest = 0.0;
    for (const Bf16 value : right)
        largest = std::max(largest, std::abs(double{static_cast<float>(value)}));
    problem.expect("y", y, [&](int64_t i) {
        return Expected{double{static_cast<float>(right[static_cast<size_t>(i)])},
                        0x1p-8 * 10 * largest};
    });
}

/// All that a call needs.
struct Model {
    Array<Bf16> ones, zeros;
    Weights qkv, out, up, down;
    Block block;

    explicit Model(const Size& s)
        : ones(
              upload(std::vector<Bf16>(static_cast<size_t>(64 * s.heads), Bf16(1.0f)))),
          zeros(
              upload(std::vector<Bf16>(static_cast<size_t>(64 * s.heads), Bf16(0.0f)))),
          qkv(s.kind, 3 * 64 * s.heads, 64 * s.heads, 1),
          out(s.kind, 64 * s.heads, 64 * s.heads, 2),
          up(s.kind, s.d_ff, 64 * s.heads, 3),
          down(s.kind, 64 * s.heads, s.d_ff, 4),
          block{s.shape(),
                {ones.data(), zeros.data()},
                {ones.data(), zeros.data()},
                qkv.layer,
                out.layer,
                up.layer,
                down.layer} {}
};

struct Workspace {
    BlockPlan plan;
    Array<uint8_t> memory;
    wb::PagedWorkspace pages;

    Workspace(const Size& s, const Model& m)
        : plan(plan_block(m.block.shape, m.block.is_quantized(), s.rows(), false)),
          memory(plan.bytes),
          pages(s.batch * s.heads) {}
    BlockWorkspace get() { return {memory.data(), plan.bytes, false, &pages}; }
};

/// A version in a graph: what a program launches that decodes.
class Captured {
 public:
    template <class Launch>
    explicit Captured(Launch launch) {
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        CUDA_CHECK(cudaStreamCreate(&stream));
        CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        launch(stream);
        CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
        CUDA_CHECK(cudaGraphInstantiate(&executable_, graph, 0));
        CUDA_CHECK(cudaGraphDestroy(graph));
        CUDA_CHECK(cudaStreamDestroy(stream));
    }
    ~Captured() { (void)cudaGraphExecDestroy(executable_); }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;
    void launch(cudaStream_t stream) const {
        CUDA_CHECK(cudaGraphLaunch(executable_, stream));
    }

 private:
    cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

WB_BENCH(block_forward, bench) {
    for (const Size& s :
         bench.sizes<Size>({{2, 5, 0, WeightKind::bf16, NormPlace::pre, 1, 64}},
                           {{1, 256}},
                           {{8, 1024},
                            {1, 1024},
                            {8, 1024, 0, WeightKind::bf16, NormPlace::post},
                            {8, 1024, 0, WeightKind::fp4},
                            {8, 1024, 0, WeightKind::int4}})) {
        if (!bench.fits(4.0 * s.bytes() + 32.0 * static_cast<double>(s.rows() * 3072)))
            continue;
        const Model model(s);
        Workspace work(s, model);
        const int64_t d = s.shape().d_model;
        const auto x = upload(numbers(s.rows() * d, 1.0f, 7));
        const auto y = bench.output<Bf16>(s.rows() * d);
        std::vector<int32_t> starts;
        for (int64_t i = 0; i <= s.batch; ++i)
            starts.push_back(static_cast<int32_t>(i * s.tokens));
        const auto d_starts = upload(starts);
        const BlockTokens tokens = {
            x.data(), y.data(), s.rows(), s.batch, d_starts.data(), s.tokens, true};
        auto problem = bench.problem({s.text(), Ceiling::bf16, s.flop()});
        const auto all = wb::implementations("block_forward", block_forward);
        all.front().function(model.block, tokens, nullptr, work.get(), nullptr);
        expect_as(problem, y);
        for (const auto& [name, idea, run] : all) {
            problem.note("weight_bytes", s.weight_bytes());
            problem.note("workspace_bytes", static_cast<double>(work.plan.bytes));
            problem.time(name, idea, [&, run = run](cudaStream_t stream) {
                run(model.block, tokens, nullptr, work.get(), stream);
            });
        }
    }
}

WB_BENCH(block_decode, bench) {
    for (const Size& s :
         bench.sizes<Size>({{2, 0, 5, WeightKind::bf16, NormPlace::pre, 1, 64}},
                           {{1, 0, 128}},
                           {{1, 0, 1024},
                            {1, 0, 128},
                            {8, 0, 1024},
                            {1, 0, 1024, WeightKind::bf16, NormPlace::post},
                            {1, 0, 1024, WeightKind::fp4},
                            {1, 0, 1024, WeightKind::int4}})) {
        if (!bench.fits(8.0 * s.bytes())) continue;
        const Model model(s);
        Workspace work(s, model);
        const int64_t d = s.shape().d_model;
        constexpr int64_t kPage = 64;
        const int64_t pages = (s.past + 1 + kPage - 1) / kPage;
        const auto x = upload(numbers(s.rows() * d, 1.0f, 7));
        const auto y = bench.output<Bf16>(s.rows() * d);
        const int64_t pool = s.batch * pages * kPage * d;
        const auto k = upload(numbers(pool, 1.0f, 8));
        const auto v = upload(numbers(pool, 1.0f, 9));
        std::vector<int32_t> table(static_cast<size_t>(s.batch * pages));
        std::iota(table.begin(), table.end(), 0);
        const auto d_table = upload(table);
        const auto past = upload(std::vector<int32_t>(static_cast<size_t>(s.batch),
                                                      static_cast<int32_t>(s.past)));
        const Array<int32_t> lengths(s.batch);
        BlockCache cache;
        cache.pages.k = k.data();
        cache.pages.v = v.data();
        cache.pages.block_table = d_table.data();
        cache.pages.batch = s.batch;
        cache.pages.pages_per_sequence = pages;
        cache.pages.num_pages = s.batch * pages;
        cache.pages.kv_heads = s.heads;
        cache.pages.page_size = kPage;
        cache.pages.head_dim = 64;
        cache.lengths = lengths.data();
        // Every step begins with the same lengths: one more copy in each row.
        const auto rewind = [&](cudaStream_t stream) {
            CUDA_CHECK(cudaMemcpyAsync(lengths.data(),
                                       past.data(),
                                       static_cast<size_t>(s.batch) * sizeof(int32_t),
                                       cudaMemcpyDeviceToDevice,
                                       stream));
        };
        auto problem = bench.problem({s.text(), Ceiling::read, s.bytes()});
        const auto all = wb::implementations("block_decode", block_decode);
        rewind(nullptr);
        all.front().function(
            model.block, cache, x.data(), y.data(), work.get(), nullptr);
        expect_as(problem, y);
        for (const auto& [name, idea, run] : all) {
            const auto launch = [&, run = run](cudaStream_t stream) {
                rewind(stream);
                run(model.block, cache, x.data(), y.data(), work.get(), stream);
            };
            problem.note("weight_bytes", s.weight_bytes());
            problem.note("workspace_bytes", static_cast<double>(work.plan.bytes));
            problem.time(name, idea, launch);
            const Captured graph(launch);
            problem.time(name + " graph",
                         "the same, launched as a graph",
                         [&](cudaStream_t stream) { graph.launch(stream); });
        }
        work.pages.check(nullptr);
    }
}
