// Grades day06-llm-attention/08-hopper-attention: where a call runs, and where its
// arrays are: another device, keys and values in one array, rows far behind the first.
#include <wb/testing/other_device.h>

#include <cstdint>
#include <memory>
#include <tuple>

#include "hopper_grading.h"
#include "packed_grading.h"

using namespace hopper_grading;
using T = __nv_bfloat16;

TEST_CASE("on another device than the first, in each layout") {
    NEEDS_HOPPER();
    // What a device was told about a kernel, another one does not know.
    const auto graded = [](auto call) {
        call();
        wb::testing::on_another_device(call);
    };
    for (const int64_t D : {64, 128, 256}) {
        graded([&] { grade_bf16(plain_attention(1, 1, 5, 9, D)); });
        graded([&] { grade(plain_attention(1, 1, 5, 9, D)); });
        const auto batch = make_batch<T>({{3, 7}, {2, 5}}, 1, 1, D, true);
        graded([&] { grade_packed<T>(batch); });
        graded([&] {
            grade_packed<__half>(make_batch<__half>({{3, 7}}, 1, 1, D, true));
        });
        if (D != 256) graded([&] { grade_paged(batch, 16); });
    }
}

TEST_CASE("one array is k and v, in each layout") {
    NEEDS_HOPPER();
    // Only o must not overlap the inputs.
    auto batch = make_batch<T>({{5, 5}, {130, 200}}, 1, 1, 64, true);
    for (AttentionInputs& inputs : batch.inputs)
        inputs.v = inputs.k;
    batch.inputs[0].q = batch.inputs[0].k;
    // Dense, even q is the same array.
    const AttentionInputs& inputs = batch.inputs[0];
    const auto dense = expect_half<T>(batch.parts[0], inputs);
    for (const auto& [name, idea, attention] : implementations_of<T>()) {
        Grader grade(name, describe(batch.parts[0]) + ", one array is q, k and v");
        const T* all = grade.input("q, k and v", rounded<T>(inputs.k));
        T* o = grade.output<T>("o", {5, 64});
        float* lse = grade.output<float>("lse", {5});
        grade.run([&, attention = attention](cudaStream_t stream) {
            attention(batch.parts[0], all, all, all, o, lse, stream);
        });
        expect_both(grade, dense);
    }
    const auto expected = expect_batch<T>(batch);
    const wb::PagedWorkspace workspace(1);
    const auto graded = [&](const char* name, auto call) {
        Grader grade(name, batch.text() + ", one array is k and v");
        const T* q = grade.input("q", pack_rows<T>(batch, &AttentionInputs::q, 1, 64));
        const T* k = grade.input("k", pack_rows<T>(batch, &AttentionInputs::k, 1, 64));
        const auto* starts = grade.input("query_starts", batch.query_starts);
        const auto* key_starts = grade.input("key_starts", batch.key_starts);
        wb::PagedCache cache = cache_on_device(grade, in_pages(batch, 16, 7));
        cache.v = cache.k;
        T* o = grade.output<T>("o", {135, 64});
        float* lse = grade.output<float>("lse", {135});
        grade.run([&](cudaStream_t stream) {
            call(q, k, starts, key_starts, cache, o, lse, stream);
        });
        expect_both(grade, expected);
    };
    graded("hopper_attention_packed",
           [&](auto q, auto k, auto starts, auto key_starts, auto&, auto... rest) {
               hopper_attention_packed(
                   batch.shape, q, k, k, starts, key_starts, rest...);
           });
    graded("hopper_attention_paged",
           [&](auto q, auto, auto starts, auto, auto& cache, auto o, auto lse, auto s) {
               hopper_attention_paged(
                   batch.shape, cache, q, starts, o, lse, workspace, s);
           });
}

namespace {

/// Three sequences. The rows of the last one are far behind the others: the first one
/// has millions of queries, of which only max_queries count, and the second one, which
/// has no queries, millions of keys. In the simulator, memory that nobody touches costs
/// nothing.
class FarRows {
 public:
    struct Free {
        void operator()(T* memory) const { (void)cudaFree(memory); }
    };
    using Memory = std::unique_ptr<T, Free>;
    /// Null if so much is not to be had.
    static Memory allocate(int64_t numbers) {
        void* memory = nullptr;
        if (cudaMalloc(&memory, static_cast<size_t>(numbers) * sizeof(T)) !=
            cudaSuccess)
            (void)cudaGetLastError();
        return Memory(static_cast<T*>(memory));
    }

    /// @param rows  queries of the first sequence; a multiple of the size of pages
    explicit FarRows(int64_t rows) : rows_(rows) {
        for (AttentionInputs& inputs : batch_.inputs)
            inputs.v = inputs.k;
        if (!has_memory()) return;
        const auto put = [](const Memory& to, int64_t first, const T* from, int64_t n) {
            CUDA_CHECK(cudaMemcpy(to.get() + first,
                                  from,
                                  static_cast<size_t>(n) * sizeof(T),
                                  cudaMemcpyHostToDevice));
        };
        const auto q = pack_rows<T>(batch_, &AttentionInputs::q, 2, kRow);
        const auto k = pack_rows<T>(batch_, &AttentionInputs::k, 1, 64);
        put(q_, 0, q.data(), kMost * kRow);
        put(q_, rows_ * kRow, q.data() + kMost * kRow, 3 * kRow);
        put(kv_, 0, k.data(), 2 * 64);
        put(kv_, rows_ * kRow, k.data() + 2 * 64, 5 * 64);
    }

    bool has_memory() const { return q_ && o_ && kv_; }

    /// Compares the rows that count.
    void grade(bool is_paged) const {
        const auto rows = static_cast<int32_t>(rows_), keys = 2 * rows;
        const int32_t page = keys / kPage;
        PackedShape shape = batch_.shape;
        shape.sequences = 3;
        shape.total_queries = rows + 3;
        shape.total_keys = keys + 5;
        shape.max_queries = kMost;
        Grader grade(is_paged ? "hopper_attention_paged" : "hopper_attention_packed",
                     "queries/keys " + std::to_string(rows) + "/2 0/" +
                         std::to_string(keys - 2) + " 3/5, Hq2 Hkv1 D64, max_queries " +
                         std::to_string(kMost));
        const auto table = [&](const char* name, const std::vector<int32_t>& values) {
            return grade.input(name, values);
        };
        const int32_t* starts = table("query_starts", {0, rows, rows, rows + 3});
        const int32_t* key_starts = table("key_starts", {0, 2, keys, keys + 5});
        const wb::PagedCache cache = {kv_.get(),
                                      kv_.get(),
                                      table("cache.block_table", {0, 0, page}),
                                      table("cache.lengths", {2, 0, 5}),
                                      3,
                                      1,
                                      page + 1,
                                      1,
                                      kPage,
                                      64};
        T* const counting = grade.output<T>("o", {kMost + 3, 2, 64});
        const wb::PagedWorkspace workspace(1);
        grade.run([&](cudaStream_t s) {
            T* const o = o_.get();
            const T *const q = q_.get(), *const k = kv_.get();
            if (is_paged)
                hopper_attention_paged(
                    shape, cache, q, starts, o, nullptr, workspace, s);
            else
                hopper_attention_packed(
                    shape, q, k, k, starts, key_starts, o, nullptr, s);
            for (const auto& [to, from, n] :
                 {std::tuple{int64_t{0}, int64_t{0}, kMost}, {kMost, rows_, 3}})
                CUDA_CHECK(cudaMemcpyAsync(counting + to * kRow,
                                           o + from * kRow,
                                           static_cast<size_t>(n * kRow) * sizeof(T),
                                           cudaMemcpyDeviceToDevice,
                                           s));
        });
        workspace.check(nullptr);
        expect_both(grade, expect_batch<T>(batch_), /*with_lse=*/false);
    }

    /// Whether nothing is written behind the first max_queries rows of a sequence, and
    /// those that may be in a tile with them. It may be.
    bool leaves_others(bool is_paged) const {
        const size_t bytes = static_cast<size_t>(rows_ * kRow) * sizeof(T);
        CUDA_CHECK(cudaMemset(o_.get(), 0xFF, bytes));
        grade(is_paged);
        uint16_t last = 0;
        CUDA_CHECK(cudaMemcpy(
            &last, o_.get() + rows_ * kRow - 1, sizeof last, cudaMemcpyDeviceToHost));
        return last == 0xFFFF;
    }

 private:
    static constexpr int64_t kMost = 4, kRow = 2 * 64;
    static constexpr int32_t kPage = 256;

    int64_t rows_;
    Batch batch_ = make_batch<T>({{kMost, 2}, {3, 5}}, 2, 1, 64, false);
    Memory q_ = allocate((rows_ + 3) * kRow);
    Memory o_ = allocate((rows_ + 3) * kRow);
    Memory kv_ = allocate(rows_ * kRow + kPage * 64);
};

}  // namespace

TEST_CASE("packed and paged: a sequence past element 2^31 of all arrays") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    const FarRows few(4096), far(int64_t{1} << 24);
    if (!far.has_memory()) WB_SKIP("needs 13 GB of free GPU memory");
    for (const bool is_paged : {false, true}) {
        const bool in_time = few.leaves_others(is_paged);
#ifdef SIMT_CPU
        if (!in_time) continue;  // millions of rows would take hours
#endif
        (void)in_time;
        far.grade(is_paged);
    }
}

TEST_CASE("packed: two rows of one projection, more than 2^32 elements apart") {
    NEEDS_HOPPER();
    if (wb::testing::is_watched()) return;
    constexpr int64_t kStride = (int64_t{1} << 32) + 256, kRow = 2 * 64 + 2 * 64;
    auto batch = make_batch<T>({{2, 2}}, 2, 1, 64, false);
    batch.shape.query_stride = batch.shape.kv_stride = kStride;
    const FarRows::Memory memory = FarRows::allocate(kStride + kRow);
    if (!memory) WB_SKIP("needs 9 GB of free GPU memory");
    const auto put = [&](auto member, int64_t heads, int64_t column) {
        const auto rows = pack_rows<T>(batch, member, heads, heads * 64);
        for (const int64_t row : {0, 1})
            CUDA_CHECK(cudaMemcpy(memory.get() + row * kStride + column,
                                  rows.data() + row * heads * 64,
                                  static_cast<size_t>(heads * 64) * sizeof(T),
                                  cudaMemcpyHostToDevice));
    };
    put(&AttentionInputs::q, 2, 0);
    put(&AttentionInputs::k, 1, 128);
    put(&AttentionInputs::v, 1, 192);
    Grader grade("hopper_attention_packed",
                 batch.text() + ", rows " + std::to_string(kStride) + " apart");
    const int32_t* starts = grade.input("query_starts", batch.query_starts);
    const int32_t* key_starts = grade.input("key_starts", batch.key_starts);
    T* o = grade.output<T>("o", {2, 2, 64});
    const T* const all = memory.get();
    grade.run([&](cudaStream_t s) {
        hopper_attention_packed(
            batch.shape, all, all + 128, all + 192, starts, key_starts, o, nullptr, s);
    });
    expect_both(grade, expect_batch<T>(batch), /*with_lse=*/false);
}
