// Grades day06-llm-attention/11-rope-and-kv-append: the last of many tokens, in a far
// place: indices past 16, 24 and 32 bits.
#include "grading.h"

#include <wb/testing/simulator.h>

#include <memory>

using namespace rope_grading;

namespace {

/// Device memory that goes back by itself. Of so much, little is ever touched.
struct Free {
    void operator()(void* memory) const { (void)cudaFree(memory); }
};
template <class T>
std::unique_ptr<T, Free> room_for(int64_t count) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, at(count) * sizeof(T)) != cudaSuccess) {
        (void)cudaGetLastError();
        return nullptr;
    }
    return std::unique_ptr<T, Free>(static_cast<T*>(memory));
}

/// Where the last token of a call goes. Those before it are zeros, at the positions
/// that they have among the tokens, and are not looked at.
struct Place {
    int64_t tokens;
    int64_t position;  ///< tokens - 1 or more
    int64_t num_pages;
    int64_t pages_behind = 0;  ///< the one that it goes into
    bool is_there = true;      ///< no: it is of a sequence that does not exist

    int64_t page() const { return num_pages - 1 - pages_behind; }
};

/// All versions for one type; a skip where there is no memory.
template <class T, class Stored>
void grade_last(const char* exercise,
                void (*contract)(const RopeAppend<T, Stored>&,
                                 const wb::PagedWorkspace&,
                                 cudaStream_t),
                const Call& c,
                const Place& place) {
    const Inputs in = random_inputs<T>(c, 1);
    const Expected e = expected_of<T, Stored>(in, 1);
    const int64_t D = c.head_dim;
    const int64_t pairs = c.rotary_dim / 2;
    const int64_t n = place.tokens;
    const int64_t entries = place.position / c.page_size + 1;
    const int64_t of_q = c.query_heads * D;
    const int64_t of_k = c.kv_heads * D;
    const auto q = room_for<T>(n * of_q);
    const auto k = room_for<T>(n * of_k);
    const auto v = room_for<T>(n * of_k);
    const auto angles = room_for<float2>(entries * c.page_size * pairs);
    const int64_t pool = place.num_pages * of_k * c.page_size;
    const auto k_pool = room_for<Stored>(pool);
    const auto v_pool = room_for<Stored>(pool);
    if (!q || !k || !v || !angles || !k_pool || !v_pool)
        WB_SKIP("so much device memory is not to be had");
    CUDA_CHECK(cudaMemset(q.get(), 0, at(n * of_q) * sizeof(T)));
    CUDA_CHECK(cudaMemset(k.get(), 0, at(n * of_k) * sizeof(T)));
    CUDA_CHECK(cudaMemset(v.get(), 0, at(n * of_k) * sizeof(T)));
    std::vector<int32_t> positions;
    for (int64_t i = 0; i < n; ++i)
        positions.push_back(static_cast<int32_t>(i < n - 1 ? i : place.position));
    std::vector<int32_t> table;  // pages in order, but for the last one
    for (int64_t i = 0; i < entries; ++i)
        table.push_back(static_cast<int32_t>(i < n / c.page_size ? i : -1));
    table.back() = static_cast<int32_t>(place.page());
    const std::string text = "the last of " + std::to_string(n) +
                             " tokens, at position " + std::to_string(place.position) +
                             " in page " + std::to_string(place.page()) + ", " +
                             c.text();
    for (const auto& [name, idea, launch] : wb::implementations(exercise, contract)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, text);
        RopeAppend<T, Stored> call = {};
        call.q = q.get();
        call.k = k.get();
        call.v = v.get();
        call.q_stride = of_q;
        call.k_stride = call.v_stride = of_k;
        std::vector<int32_t> sequences(at(n));
        if (!place.is_there) sequences.back() = 7;
        call.sequences = grade.input("sequences", sequences);
        call.positions = grade.input("positions", positions);
        call.angles = angles.get();
        call.angle_rows = entries * c.page_size;
        call.tokens = n;
        call.query_heads = c.query_heads;
        call.rotary_dim = c.rotary_dim;
        call.pairs = c.pairs;
        call.cache = {k_pool.get(),
                      v_pool.get(),
                      grade.input("cache.block_table", table),
                      grade.input("cache.lengths", std::vector<int32_t>(1)),
                      1,
                      entries,
                      place.num_pages,
                      c.kv_heads,
                      c.page_size,
                      D};
        if constexpr (std::is_same_v<Stored, __nv_fp8_e4m3>) {
            call.k_scale = grade.input("k_scale", in.k_scale);
            call.v_scale = grade.input("v_scale", in.v_scale);
        }
        const T* const of_token[] = {grade.input("its q", stored_as<T>(in.q)),
                                     grade.input("its k", stored_as<T>(in.k)),
                                     grade.input("its v", stored_as<T>(in.v))};
        const auto* const turn =
            reinterpret_cast<const float2*>(grade.input("its angles", in.angles));
        auto* const seen_q = grade.output<T>("q", {of_q});
        auto* const seen_k = grade.output<Stored>("cache.k", {of_k});
        auto* const seen_v = grade.output<Stored>("cache.v", {of_k});
        const auto copy = [](auto* to, const auto* from, int64_t count, auto s) {
            CUDA_CHECK(cudaMemcpyAsync(
                to, from, at(count) * sizeof *to, cudaMemcpyDeviceToDevice, s));
        };
        const int64_t slot = place.position % c.page_size;
        grade.run([&, launch = launch](cudaStream_t s) {
            copy(q.get() + (n - 1) * of_q, of_token[0], of_q, s);
            copy(k.get() + (n - 1) * of_k, of_token[1], of_k, s);
            copy(v.get() + (n - 1) * of_k, of_token[2], of_k, s);
            copy(angles.get() + place.position * pairs, turn, pairs, s);
            for (int64_t h = 0; h < c.kv_heads; ++h) {
                const int64_t to = call.cache.row(place.page(), h, slot);
                CUDA_CHECK(cudaMemsetAsync(
                    call.cache.k + to, 0x7f, at(D) * sizeof(Stored), s));
                CUDA_CHECK(cudaMemsetAsync(
                    call.cache.v + to, 0x7f, at(D) * sizeof(Stored), s));
            }
            launch(call, workspace, s);
            copy(seen_q, q.get() + (n - 1) * of_q, of_q, s);
            for (int64_t h = 0; h < c.kv_heads; ++h) {
                const int64_t from = call.cache.row(place.page(), h, slot);
                copy(seen_k + h * D, call.cache.k + from, D, s);
                copy(seen_v + h * D, call.cache.v + from, D, s);
            }
        });
        std::string fault;
        try {
            workspace.check(nullptr);
        } catch (const wb::PagedCacheError& error) {
            fault = error.what();
        }
        const std::string last = std::to_string(n - 1);
        wb::testing::expect_report(
            name,
            text,
            fault,
            place.is_there ? "" : "token " + last + " is for sequence 7");
        if (!place.is_there) continue;
        // Of the small problem, the token is the only one, at position 0.
        const auto stored = [&](const Wanted& all) {
            Wanted w;
            for (int64_t h = 0; h < c.kv_heads; ++h) {
                const int64_t row = (in.table[0] * c.kv_heads + h) * c.page_size * D;
                for (int64_t i = row; i < row + D; ++i) {
                    w.values.push_back(all.values[at(i)]);
                    w.bounds.push_back(all.bounds[at(i)]);
                }
            }
            return w;
        };
        const auto compare = [&](const char* array, const Wanted& w) {
            grade.expect(array, w.values, [&](int64_t i) { return w.bounds[at(i)]; });
        };
        compare("cache.k", stored(e.k));
        compare("cache.v", stored(e.v));
        compare("q", e.q);
    }
}

void grade_last(Types types, const Call& c, const Place& place) {
    if (types == fp16) grade_last("rope_append_fp16", rope_append_fp16, c, place);
    if (types == bf16) grade_last("rope_append_bf16", rope_append_bf16, c, place);
    if (types == fp8) grade_last("rope_append_fp8", rope_append_fp8, c, place);
}

/// One token, one head of each kind.
Call small() {
    Call c{{{0, 1}}};
    c.query_heads = 1;
    return c;
}

}  // namespace

TEST_CASE("the last of more tokens than 16 bits count", "[long]") {
    // A grid has 65,535 blocks along y and along z.
    if (wb::testing::is_watched()) return;
    constexpr int64_t kTokens = 66'003;
    Call c = small();
    c.page_size = 256;
    c.pairs = GENERATE(RopePairs::halves, RopePairs::neighbours);
    c.rotary_dim = GENERATE(as<int64_t>(), 16, 2);
    for (const Types type : {fp16, bf16, fp8})
        grade_last(type, c, {kTokens, kTokens - 1, kTokens / 256 + 1});
}

TEST_CASE("the last of more tokens than 16 bits count has no place") {
    if (wb::testing::is_watched()) return;
    constexpr int64_t kTokens = 66'003;
    Call c = small();
    c.page_size = 256;
    grade_last(fp16, c, {kTokens, kTokens - 1, kTokens / 256 + 1, 0, false});
}

TEST_CASE("the last of more pages than 24 bits count") {
    if (wb::testing::is_watched()) return;
    // In the last one, and in one whose low bits are more than those of their number.
    for (const int64_t behind : {0, 4}) {
        grade_last(fp16, small(), {1, 5, (int64_t{1} << 16) + 3, behind});
        grade_last(bf16, small(), {1, 5, (int64_t{1} << 16) + 3, behind});
        grade_last(fp8, small(), {1, 5, (int64_t{1} << 24) + 2, behind});
    }
}

TEST_CASE("a block table of more entries than 31 bits count") {
    // A row of 2^15 entries for each of 2^16 + 3 sequences: the last row alone is ever
    // read.
    if (wb::testing::is_watched()) return;
    constexpr int64_t kEntries = int64_t{1} << 15;
    constexpr int64_t kSequences = (int64_t{1} << 16) + 3;
    const auto table = room_for<int32_t>(kEntries * kSequences);
    if (!table) WB_SKIP("8.6 GB of device memory are not to be had");
    Call c = small();
    c.rotary_dim = 0;
    const Inputs in = random_inputs<__half>(c, 1);
    const auto e = expected_of<__half, __half>(in, 1);
    const auto pool = static_cast<int64_t>(e.k_stale.size());
    for (const auto& [name, idea, launch] :
         wb::implementations("rope_append_fp16", rope_append_fp16)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, "2^15 entries of 2^16 + 3 sequences, the last one's token");
        RopeAppend<__half, __half> call = {};
        call.q = grade.in_out<__half>("q", {1, 16}, stored_as<__half>(in.q));
        call.k = grade.input("k", stored_as<__half>(in.k));
        call.v = grade.input("v", stored_as<__half>(in.v));
        call.q_stride = call.k_stride = call.v_stride = 16;
        call.sequences = grade.input(
            "sequences", std::vector<int32_t>{static_cast<int32_t>(kSequences - 1)});
        call.positions = grade.input("positions", std::vector<int32_t>{0});
        call.tokens = 1;
        call.query_heads = 1;
        call.cache = {
            grade.in_out<__half>("cache.k", {pool}, stored_as<__half>(e.k_stale)),
            grade.in_out<__half>("cache.v", {pool}, stored_as<__half>(e.v_stale)),
            table.get(),
            grade.input("cache.lengths", std::vector<int32_t>(at(kSequences))),
            kSequences,
            kEntries,
            in.num_pages,
            1,
            16,
            16};
        const int32_t* const page =
            grade.input("its page", std::vector<int32_t>{in.table[0]});
        grade.run([&, launch = launch](cudaStream_t s) {
            CUDA_CHECK(cudaMemcpyAsync(table.get() + (kSequences - 1) * kEntries,
                                       page,
                                       sizeof *page,
                                       cudaMemcpyDeviceToDevice,
                                       s));
            launch(call, workspace, s);
        });
        std::string fault;
        try {
            workspace.check(nullptr);
        } catch (const wb::PagedCacheError& error) {
            fault = error.what();
        }
        grade.expect(
            "cache.k", e.k.values, [&](int64_t i) { return e.k.bounds[at(i)]; });
        grade.expect(
            "cache.v", e.v.values, [&](int64_t i) { return e.v.bounds[at(i)]; });
        wb::testing::expect_report(name, "the last sequence's token", fault, "");
    }
}

TEST_CASE("a position past 2^24, and angles past 2^32 bytes") {
    // A GPU has the memory for more of them than 31 bits count.
    if (wb::testing::is_watched()) return;
    Call c = small();
    c.head_dim = 256;
    c.page_size = 256;
#ifdef SIMT_CPU
    c.rotary_dim = 128;
#else
    c.rotary_dim = 256;
#endif
    constexpr int64_t kPosition = (int64_t{1} << 24) + 1;
    for (const Types type : {fp16, bf16, fp8})
        grade_last(type, c, {1, kPosition, 3});
}
