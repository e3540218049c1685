// Grades day06-llm-attention/11-rope-and-kv-append: arguments, and rows that are far
// apart.
#include "grading.h"

#include <wb/testing/refuses.h>

#include <memory>

using namespace rope_grading;
using wb::testing::misaligned;

namespace {

using Fp8Call = RopeAppend<__nv_bfloat16, __nv_fp8_e4m3>;

/// Right arguments: two tokens, two query heads, one of K and V, D 16, two sequences of
/// two pages each.
struct Memory {
    Grader grade;
    RopeAppend<__half, __half> call = {};
    Fp8Call fp8_call = {};
    __half* d;

    explicit Memory(const char* function) : grade(function, "wrong arguments") {
        d = grade.output<__half>("d", {65536});
        set(call, reinterpret_cast<__half*>(d + 16384));
        set(fp8_call, reinterpret_cast<__nv_fp8_e4m3*>(d + 16384));
        const auto* const scales = grade.input("scales", std::vector<float>(8, 1.0f));
        fp8_call.k_scale = scales;
        fp8_call.v_scale = scales + 4;
    }

    template <class T, class Stored>
    void set(RopeAppend<T, Stored>& c, Stored* pool) {
        const auto* const words = grade.input("words", std::vector<int32_t>(64));
        c.q = reinterpret_cast<T*>(d);
        c.k = c.q + 4096;
        c.v = c.q + 8192;
        c.q_stride = 32;
        c.k_stride = c.v_stride = 16;
        c.sequences = words;
        c.positions = words + 16;
        c.angles = reinterpret_cast<const float2*>(d + 12288);
        c.angle_rows = 32;
        c.tokens = 2;
        c.query_heads = 2;
        c.rotary_dim = 16;
        c.cache.k = pool;
        c.cache.v = pool + 8192;
        c.cache.block_table = words + 32;
        c.cache.lengths = words + 48;
        c.cache.batch = 2;
        c.cache.pages_per_sequence = 2;
        c.cache.num_pages = 7;
        c.cache.kv_heads = 1;
        c.cache.page_size = 16;
        c.cache.head_dim = 16;
    }
};

template <auto kFunction, class Call>
void run(const Call& call, cudaStream_t stream) {
    static const wb::PagedWorkspace workspace(1);
    kFunction(call, workspace, stream);
}

/// What all of them refuse.
template <class Call>
void refuse_all(const wb::testing::Refuses<Call>& refuse) {
    refuse("tokens is -1", [](auto& c) { c.tokens = -1; });
    refuse("tokens is 2147483648", [](auto& c) { c.tokens = int64_t{1} << 31; });
    refuse("query_heads is -1", [](auto& c) { c.query_heads = -1; });
    refuse("query_heads is 65537", [](auto& c) { c.query_heads = 65537; });
    refuse("cache.kv_heads is 0", [](auto& c) { c.cache.kv_heads = 0; });
    refuse("cache.kv_heads is 65537", [](auto& c) { c.cache.kv_heads = 65537; });
    refuse("cache.head_dim is 24", [](auto& c) { c.cache.head_dim = 24; });
    refuse("cache.head_dim is 272", [](auto& c) { c.cache.head_dim = 272; });
    refuse("cache.page_size is 24", [](auto& c) { c.cache.page_size = 24; });
    refuse("rotary_dim is 7", [](auto& c) { c.rotary_dim = 7; });
    refuse("rotary_dim is -2", [](auto& c) { c.rotary_dim = -2; });
    refuse("rotary_dim is 18", [](auto& c) { c.rotary_dim = 18; });
    refuse("pairs is 2", [](auto& c) { c.pairs = static_cast<RopePairs>(2); });
    refuse("angle_rows is 31", [](auto& c) { c.angle_rows = 31; });
    refuse("q_stride is 24", [](auto& c) { c.q_stride = 24; });
    refuse("q_stride is 36", [](auto& c) { c.q_stride = 36; });
    refuse("k_stride is 8", [](auto& c) { c.k_stride = 8; });
    refuse("v_stride is 20", [](auto& c) { c.v_stride = 20; });
    refuse("q is a null pointer", [](auto& c) { c.q = nullptr; });
    refuse("k is a null pointer", [](auto& c) { c.k = nullptr; });
    refuse("v is a null pointer", [](auto& c) { c.v = nullptr; });
    refuse("sequences is a null pointer", [](auto& c) { c.sequences = nullptr; });
    refuse("positions is a null pointer", [](auto& c) { c.positions = nullptr; });
    refuse("angles is a null pointer", [](auto& c) { c.angles = nullptr; });
    refuse("cache.k is a null pointer", [](auto& c) { c.cache.k = nullptr; });
    refuse("cache.v is a null pointer", [](auto& c) { c.cache.v = nullptr; });
    const int32_t host[64] = {};
    refuse("sequences is a host pointer", [&](auto& c) { c.sequences = host; });
    refuse("positions is a host pointer", [&](auto& c) { c.positions = host; });
    refuse("cache.block_table is a host pointer",
           [&](auto& c) { c.cache.block_table = host; });
    refuse("positions is not aligned",
           [](auto& c) { c.positions = misaligned(c.positions); });
    refuse("must be a multiple of 16", [](auto& c) { c.q += 4; });
    refuse("must be a multiple of 16", [](auto& c) { c.k += 1; });
    refuse("must be a multiple of 16", [](auto& c) { c.v += 2; });
    refuse("must be a multiple of 16", [](auto& c) { c.angles += 1; });
    refuse("must be a multiple of 16", [](auto& c) { c.cache.k += 4; });
    // What is written shares its first or last bytes with something else.
    refuse("k - q in bytes is 80", [](auto& c) { c.k = c.q + 40; });
    refuse("k - q in bytes is -16", [](auto& c) {
        c.k = c.q;
        c.q += 8;
    });
    refuse("v - q in bytes is 48", [](auto& c) {  // columns of a matrix, one too few
        c.q_stride = c.k_stride = c.v_stride = 64;
        c.k = c.q + 32;
        c.v = c.q + 24;
    });
    refuse("cache.v - cache.k in bytes", [](auto& c) { c.cache.v = c.cache.k + 1776; });
    refuse("k - cache.k in bytes is -16", [](auto& c) {
        using T = std::remove_reference_t<decltype(*c.q)>;
        c.tokens = 1;
        c.k = reinterpret_cast<const T*>(reinterpret_cast<const char*>(c.cache.k) - 16);
    });
    refuse("in bytes",
           [](auto& c) { c.positions = reinterpret_cast<const int32_t*>(c.q + 30); });
    refuse("in bytes", [](auto& c) {
        c.angles = reinterpret_cast<const float2*>(c.cache.v + 1776);
    });
}

/// Elements from a token to the next one: three tokens are 2^31 elements apart.
constexpr int64_t kStride = int64_t{1} << 30;

/// q, k and v are columns of one matrix, of which three rows are ever touched.
template <class T, class Stored>
void grade_far_rows(const char* exercise,
                    void (*contract)(const RopeAppend<T, Stored>&,
                                     const wb::PagedWorkspace&,
                                     cudaStream_t),
                    void* matrix) {
    auto* const far = static_cast<T*>(matrix);
    Call c{{{4, 3}}};
    const Inputs in = random_inputs<T>(c, 1);
    const Expected e = expected_of<T, Stored>(in, 1);
    const auto rows = [&](auto copy) {
        for (int64_t i = 0; i < 3; ++i)
            copy(i, far + i * kStride);
    };
    const auto numbers =
        matrix_of<T>(3, 64, {{&in.q, 32, 0}, {&in.k, 16, 32}, {&in.v, 16, 48}});
    for (const auto& [name, idea, launch] : wb::implementations(exercise, contract)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, "tokens 2^30 elements apart");
        RopeAppend<T, Stored> call = {};
        call.q = far;
        call.k = far + 32;
        call.v = far + 48;
        call.q_stride = call.k_stride = call.v_stride = kStride;
        call.sequences = grade.input("sequences", in.sequences);
        call.positions = grade.input("positions", in.positions);
        call.angles = reinterpret_cast<const float2*>(grade.input("angles", in.angles));
        call.angle_rows = in.angle_rows();
        call.tokens = 3;
        call.query_heads = 2;
        call.rotary_dim = 16;
        const auto pool = static_cast<int64_t>(e.k_stale.size());
        call.cache = {
            grade.in_out<Stored>("cache.k", {pool}, stored_as<Stored>(e.k_stale)),
            grade.in_out<Stored>("cache.v", {pool}, stored_as<Stored>(e.v_stale)),
            grade.input("cache.block_table", in.table),
            grade.input("cache.lengths", std::vector<int32_t>(1)),
            1,
            in.pages_per_sequence,
            in.num_pages,
            1,
            16,
            16};
        if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>) {
            call.k_scale = grade.input("k_scale", in.k_scale);
            call.v_scale = grade.input("v_scale", in.v_scale);
        }
        auto* const seen = grade.output<T>("q", {3, 32});
        const auto* const source = grade.input("the rows", numbers);
        grade.run([&, launch = launch](cudaStream_t s) {
            rows([&](int64_t i, T* row) {
                CUDA_CHECK(cudaMemcpyAsync(
                    row, source + i * 64, 128, cudaMemcpyDeviceToDevice, s));
            });
            launch(call, workspace, s);
            rows([&](int64_t i, T* row) {
                CUDA_CHECK(cudaMemcpyAsync(
                    seen + i * 32, row, 64, cudaMemcpyDeviceToDevice, s));
            });
        });
        workspace.check(nullptr);
        grade.expect("q", e.q.values, [&](int64_t i) { return e.q.bounds[at(i)]; });
        grade.expect(
            "cache.k", e.k.values, [&](int64_t i) { return e.k.bounds[at(i)]; });
        grade.expect(
            "cache.v", e.v.values, [&](int64_t i) { return e.v.bounds[at(i)]; });
    }
}

}  // namespace

TEST_CASE("fp16 and bf16: wrong arguments are refused by name") {
    Memory memory("rope_append_fp16");
    const wb::testing::Refuses<RopeAppend<__half, __half>> refuse = {
        "rope_append_fp16", run<rope_append_fp16>, memory.call};
    refuse_all(refuse);
    refuse("k_scale is", [&](auto& c) { c.k_scale = memory.fp8_call.k_scale; });
    refuse("v_scale is", [&](auto& c) { c.v_scale = memory.fp8_call.k_scale; });
    RopeAppend<__nv_bfloat16, __nv_bfloat16> call = {};
    memory.set(call, reinterpret_cast<__nv_bfloat16*>(memory.d + 16384));
    const wb::testing::Refuses<RopeAppend<__nv_bfloat16, __nv_bfloat16>> bf16_refuses =
        {"rope_append_bf16", run<rope_append_bf16>, call};
    refuse_all(bf16_refuses);
}

TEST_CASE("FP8: wrong arguments are refused by name") {
    Memory memory("rope_append_fp8");
    const wb::testing::Refuses<Fp8Call> refuse = {
        "rope_append_fp8", run<rope_append_fp8>, memory.fp8_call};
    refuse_all(refuse);
    refuse("k_scale is a null pointer", [](auto& c) { c.k_scale = nullptr; });
    refuse("v_scale is a null pointer", [](auto& c) { c.v_scale = nullptr; });
    const float host[8] = {};
    refuse("k_scale is a host pointer", [&](auto& c) { c.k_scale = host; });
}

TEST_CASE("no tokens, no work") {
    Memory memory("rope_append_fp16");
    auto call = memory.call;
    call.tokens = 0;
    call.q = nullptr;
    call.k = call.v = nullptr;
    call.sequences = call.positions = nullptr;
    call.angles = nullptr;
    const wb::PagedWorkspace workspace(1);
    memory.grade.expect_no_work(
        [&](cudaStream_t s) { rope_append_fp16(call, workspace, s); });
    auto fp8_call = memory.fp8_call;
    fp8_call.tokens = 0;
    memory.grade.expect_no_work(
        [&](cudaStream_t s) { rope_append_fp8(fp8_call, workspace, s); });
}

TEST_CASE("tokens that are 2^31 elements apart") {
    struct Free {
        void operator()(void* memory) const { (void)cudaFree(memory); }
    };
    void* raw = nullptr;
    if (cudaMalloc(&raw, (2 * kStride + 64) * sizeof(__half)) != cudaSuccess) {
        (void)cudaGetLastError();
        WB_SKIP("4.3 GB of device memory are not to be had");
    }
    const std::unique_ptr<void, Free> memory(raw);
    grade_far_rows("rope_append_fp16", rope_append_fp16, raw);
    if (wb::testing::is_watched()) return;
    grade_far_rows("rope_append_bf16", rope_append_bf16, raw);
    grade_far_rows("rope_append_fp8", rope_append_fp8, raw);
}

TEST_CASE("a cache of more than 2^32 numbers, and the most heads of keys") {
    // One token, of the last of more sequences than 16 bits count, in the last page.
    if (wb::testing::is_watched()) return;
    using Fp8 = __nv_fp8_e4m3;
    constexpr int64_t kHeads = 65'536;
    constexpr int64_t kPages = 258;
    constexpr int64_t kPool = kPages * kHeads * 16 * 16;
    constexpr int64_t kSlot = 5;
    constexpr int32_t kSequence = 65'539;
    struct Free {
        void operator()(void* memory) const { (void)cudaFree(memory); }
    };
    void* raw = nullptr;
    if (cudaMalloc(&raw, 2 * kPool) != cudaSuccess) {
        (void)cudaGetLastError();
        WB_SKIP("8.7 GB of device memory are not to be had");
    }
    const std::unique_ptr<void, Free> memory(raw);
    auto* const pool = static_cast<Fp8*>(raw);
    const auto k = random_stored<__nv_bfloat16>(kHeads * 16, 1);
    const auto v = random_stored<__nv_bfloat16>(kHeads * 16, 2);
    std::vector<float> scales;
    for (int64_t h = 0; h < kHeads; ++h)
        scales.push_back(0.25f * static_cast<float>(1 + h % 7));
    std::vector<int32_t> table(kSequence + 1, -1);
    table[kSequence] = kPages - 1;
    const auto wanted = [&](const std::vector<float>& numbers) {
        Wanted w;
        for (int64_t i = 0; i < kHeads * 16; ++i) {
            const double exact = double{numbers[at(i)]} / double{scales[at(i / 16)]};
            const auto [value, bound] =
                as_stored<Fp8>(exact, 0x1p-22 * std::abs(exact));
            w.values.push_back(value);
            w.bounds.push_back(bound);
        }
        return w;
    };
    const Wanted of_k = wanted(k);
    const Wanted of_v = wanted(v);
    for (const auto& [name, idea, launch] :
         wb::implementations("rope_append_fp8", rope_append_fp8)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, "Hkv65536 D16, the last of 258 pages and 65,540 sequences");
        Fp8Call call = {};
        call.k = grade.input("k", stored_as<__nv_bfloat16>(k));
        call.v = grade.input("v", stored_as<__nv_bfloat16>(v));
        call.k_stride = call.v_stride = kHeads * 16;
        call.sequences = grade.input("sequences", std::vector<int32_t>{kSequence});
        call.positions = grade.input("positions", std::vector<int32_t>{kSlot});
        call.tokens = 1;
        call.k_scale = call.v_scale = grade.input("scales", scales);
        call.cache = {pool,
                      pool + kPool,
                      grade.input("cache.block_table", table),
                      grade.input("cache.lengths", std::vector<int32_t>(table.size())),
                      kSequence + 1,
                      1,
                      kPages,
                      kHeads,
                      16,
                      16};
        const int64_t first = call.cache.row(kPages - 1, 0, kSlot);
        auto* const seen_k = grade.output<Fp8>("cache.k", {kHeads, 16});
        auto* const seen_v = grade.output<Fp8>("cache.v", {kHeads, 16});
        grade.run([&, launch = launch](cudaStream_t s) {
            constexpr size_t kPage = kHeads * 16 * 16;  // the last one is set to NaN
            CUDA_CHECK(cudaMemsetAsync(pool + kPool - kPage, 0x7f, kPage, s));
            CUDA_CHECK(cudaMemsetAsync(pool + 2 * kPool - kPage, 0x7f, kPage, s));
            launch(call, workspace, s);
            const auto gather = [&](Fp8* to, const Fp8* from) {
                CUDA_CHECK(cudaMemcpy2DAsync(to,
                                             16,
                                             from + first,
                                             16 * 16,
                                             16,
                                             kHeads,
                                             cudaMemcpyDeviceToDevice,
                                             s));
            };
            gather(seen_k, call.cache.k);
            gather(seen_v, call.cache.v);
        });
        std::string fault;
        try {
            workspace.check(nullptr);
        } catch (const wb::PagedCacheError& error) {
            fault = error.what();
        }
        const auto compare = [&](const char* array, const Wanted& w) {
            grade.expect(array, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
        };
        compare("cache.k", of_k);
        compare("cache.v", of_v);
        wb::testing::expect_report(name, "one token", fault, "");
    }
}

TEST_CASE("more than 2^31 pairs", "[large][serial]") {
    grade(fp16, Call{{{0, 1}}});
#ifdef SIMT_CPU
    WB_SKIP("2^31 pairs are too much for the simulator");
#else
    // All tokens but the last one are zeros, and only that one is looked at.
    constexpr int64_t kTokens = (int64_t{1} << 15) + 2;
    Call c{{{kTokens - 1, 1}}};
    c.query_heads = 510;
    c.head_dim = c.rotary_dim = c.page_size = 256;
    const Inputs in = random_inputs<__half>(c, 1);
    const Expected e = expected_of<__half, __half>(in, 1);
    const int64_t row = c.query_heads * 256;
    void* raw = nullptr;
    if (cudaMalloc(&raw, kTokens * (row + 512) * sizeof(__half)) != cudaSuccess) {
        (void)cudaGetLastError();
        WB_SKIP("needs 9 GB of free GPU memory");
    }
    struct Free {
        void operator()(void* memory) const { (void)cudaFree(memory); }
    };
    const std::unique_ptr<void, Free> memory(raw);
    CUDA_CHECK(cudaMemset(raw, 0, kTokens * (row + 512) * sizeof(__half)));
    auto* const q = static_cast<__half*>(raw);
    __half* const k = q + kTokens * row;
    __half* const v = k + kTokens * 256;
    std::vector<int32_t> positions;
    for (int64_t i = 0; i < kTokens; ++i)
        positions.push_back(static_cast<int32_t>(i));
    const auto pool = static_cast<int64_t>(e.k_stale.size());
    const int64_t last = (in.table[at((kTokens - 1) / 256)] * 256 + 1) * 256;
    for (const auto& [name, idea, launch] :
         wb::implementations("rope_append_fp16", rope_append_fp16)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, "32,770 tokens of 512 heads, D256");
        const __half* const from[] = {grade.input("its q", stored_as<__half>(in.q)),
                                      grade.input("its k", stored_as<__half>(in.k)),
                                      grade.input("its v", stored_as<__half>(in.v))};
        const RopeAppend<__half, __half> call = {
            q,
            k,
            v,
            row,
            256,
            256,
            grade.input("sequences", std::vector<int32_t>(at(kTokens))),
            grade.input("positions", positions),
            reinterpret_cast<const float2*>(grade.input("angles", in.angles)),
            in.angle_rows(),
            kTokens,
            c.query_heads,
            256,
            RopePairs::halves,
            {grade.in_out<__half>("cache.k", {pool}, stored_as<__half>(e.k_stale)),
             grade.in_out<__half>("cache.v", {pool}, stored_as<__half>(e.v_stale)),
             grade.input("cache.block_table", in.table),
             grade.input("cache.lengths", std::vector<int32_t>(1)),
             1,
             in.pages_per_sequence,
             in.num_pages,
             1,
             256,
             256},
            nullptr,
            nullptr};
        auto* const seen =
            grade.output<__half>("the last token", {c.query_heads + 2, 256});
        const auto copy = [](auto* to, const auto* source, int64_t numbers, auto s) {
            CUDA_CHECK(cudaMemcpyAsync(to,
                                       source,
                                       static_cast<size_t>(numbers) * sizeof(__half),
                                       cudaMemcpyDeviceToDevice,
                                       s));
        };
        grade.run([&, launch = launch](cudaStream_t s) {
            copy(q + (kTokens - 1) * row, from[0], row, s);
            copy(k + (kTokens - 1) * 256, from[1], 256, s);
            copy(v + (kTokens - 1) * 256, from[2], 256, s);
            launch(call, workspace, s);
            copy(seen, q + (kTokens - 1) * row, row, s);
            copy(seen + row, call.cache.k + last, 256, s);
            copy(seen + row + 256, call.cache.v + last, 256, s);
        });
        workspace.check(nullptr);
        Wanted w = e.q;
        for (const Wanted* pool_of : {&e.k, &e.v}) {
            const auto values = pool_of->values.begin() + last;
            const auto bounds = pool_of->bounds.begin() + last;
            w.values.insert(w.values.end(), values, values + 256);
            w.bounds.insert(w.bounds.end(), bounds, bounds + 256);
        }
        grade.expect(
            "the last token", w.values, [&](int64_t i) { return w.bounds[at(i)]; });
    }
#endif
}
