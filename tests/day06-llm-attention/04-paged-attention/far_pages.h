// far_pages.h: a page far behind the first ones of a pool.
#pragma once

#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <memory>

#include "paged_grading.h"

namespace paged_grading {

/// Pools of which three pages are ever touched, one of them far behind the others.
struct FarPools {
    Layout layout;
    int64_t heads;
    int32_t far_page;

    struct Free {
        void operator()(__nv_bfloat16* memory) const { (void)cudaFree(memory); }
    };
    using Pool = std::unique_ptr<__nv_bfloat16, Free>;
    Pool k = allocate();
    Pool v = allocate();

    int64_t numbers_of_page() const { return heads * layout.page * layout.head_dim; }
    int64_t pages() const { return int64_t{far_page} + 3; }
    int64_t numbers() const { return pages() * numbers_of_page(); }

    Pool allocate() const {
        void* memory = nullptr;
        if (cudaMalloc(&memory,
                       static_cast<size_t>(numbers()) * sizeof(__nv_bfloat16)) !=
            cudaSuccess)
            (void)cudaGetLastError();
        return Pool(static_cast<__nv_bfloat16*>(memory));
    }

    /// Copies a page of a small pool.
    void fill(const Pool& pool,
              int64_t page,
              const std::vector<__nv_bfloat16>& from,
              int64_t from_page) const {
        const int64_t count = numbers_of_page();
        CUDA_CHECK(cudaMemcpy(pool.get() + page * count,
                              from.data() + from_page * count,
                              static_cast<size_t>(count) * sizeof(__nv_bfloat16),
                              cudaMemcpyHostToDevice));
    }
};

/// A sequence whose second page is the far one: it is read, and a token is written
/// there.
inline void grade_far_page(const FarPools& pools, const std::string& text) {
    if (pools.k == nullptr || pools.v == nullptr)
        WB_SKIP("so much device memory is not to be had");
    const auto [page_size, D] = pools.layout;
    PagedShape shape{{page_size + 13}, page_size};
    shape.head_dim = D;
    shape.kv_heads = pools.heads;
    const PagedInputs inputs = random_paged(shape, 27, 0);
    const AttentionExpected expected = expect_paged(inputs);
    std::vector<int32_t> table = inputs.table;
    for (const auto& [page, far] : {std::pair{0, 2}, std::pair{1, pools.far_page}}) {
        const auto at = static_cast<size_t>(page);
        pools.fill(pools.k, far, inputs.k_pool, inputs.table[at]);
        pools.fill(pools.v, far, inputs.v_pool, inputs.table[at]);
        table[at] = far;
    }
    const auto far_cache = [&](Grader& grade) {
        wb::PagedCache cache = sizes_of(inputs);
        cache.num_pages = pools.pages();
        cache.k = pools.k.get();
        cache.v = pools.v.get();
        cache.block_table = grade.input("cache.block_table", table);
        cache.lengths = grade.input("cache.lengths", inputs.lengths);
        return cache;
    };
    for (const auto& [name, idea, function] : attentions()) {
        const wb::PagedWorkspace workspace(kCounters);
        Grader grade(name, text);
        const wb::PagedCache cache = far_cache(grade);
        grade.only_read("cache.k", cache.k, pools.numbers());
        grade.only_read("cache.v", cache.v, pools.numbers());
        const auto* q = grade.input("q", inputs.q);
        auto* o = grade.output<__nv_bfloat16>("o", {2, D});
        grade.run([&, function = function](cudaStream_t s) {
            function(cache, q, o, nullptr, 2, inputs.scale(), workspace, s);
        });
        workspace.check(nullptr);
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<size_t>(i)];
        });
    }
    for (const auto& [name, idea, function] :
         wb::implementations("append_kv", append_kv)) {
        const wb::PagedWorkspace workspace(1);
        Grader grade(name, text);
        const wb::PagedCache cache = far_cache(grade);
        Append append = tokens_of(inputs, {{0, 7, 1}});
        append.positions[0] = static_cast<int32_t>(page_size) + 14;
        const auto* k = grade.input("k", append.k);
        const auto* v = grade.input("v", append.v);
        const auto* sequences = grade.input("sequences", append.sequences);
        const auto* positions = grade.input("positions", append.positions);
        auto* written =
            grade.output<__nv_bfloat16>("the rows of cache.v", {pools.heads, D});
        grade.run([&, function = function](cudaStream_t s) {
            function(cache, k, v, sequences, positions, 1, workspace, s);
            for (int64_t head = 0; head < pools.heads; ++head)
                CUDA_CHECK(
                    cudaMemcpyAsync(written + head * D,
                                    cache.v + cache.row(pools.far_page, head, 14),
                                    static_cast<size_t>(D) * sizeof(__nv_bfloat16),
                                    cudaMemcpyDeviceToDevice,
                                    s));
        });
        workspace.check(nullptr);
        std::vector<double> row;
        for (const __nv_bfloat16 x : append.v)
            row.push_back(static_cast<double>(__bfloat162float(x)));
        grade.expect("the rows of cache.v", row, [](int64_t) { return 0.0; });
    }
}

}  // namespace paged_grading
