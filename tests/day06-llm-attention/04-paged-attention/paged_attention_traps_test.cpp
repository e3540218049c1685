// Grades day06-llm-attention/04-paged-attention: what is multiplied with 0, heads far
// from each other, many heads, tables without entries, two faults, wrong pointers.
#include "paged_grading.h"

#include <wb/online_softmax.h>
#include <wb/testing/attention_sizes.h>
#include <wb/testing/attention_traps.h>
#include <wb/testing/catch.h>
#include <wb/testing/grader.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace paged_grading;
using wb::PagedCache;
using wb::PagedFault;
using wb::PagedStatus;
using wb::PagedWorkspace;

namespace {

/// Two K/V heads, each with some query heads.
PagedShape two_heads(const Layout& layout, std::vector<int64_t> lengths) {
    PagedShape shape = layout.shape(std::move(lengths));
    shape.kv_heads = 2;
    shape.query_heads *= 2;
    return shape;
}

void grade_beside_zeros(const Layout& layout) {
    using wb::testing::BesideZeros;
    PagedInputs inputs = random_paged(two_heads(layout, {7, 3}), 1, 7);
    const auto problem = problem_of(inputs, 0);
    auto made = BesideZeros::zeros(problem);
    set_sequence(inputs, 0, made);
    AttentionExpected expected = expect_paged(inputs);
    BesideZeros::spoil(problem, made, expected);
    set_sequence(inputs, 0, made);
    grade_inputs(inputs, expected, BesideZeros::kText);
}

void grade_uneven(const Layout& layout) {
    PagedInputs inputs = random_paged(two_heads(layout, {7, 3, 20, 5}), 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(
            inputs, s, wb::testing::uneven_rows(problem_of(inputs, s), uint64_t(s)));
    grade_inputs(inputs, "heads of scores far from each other");
    inputs = random_paged(two_heads(layout, {40, 5}), 1, 7);
    for (int64_t s = 0; s < inputs.batch(); ++s)
        set_sequence(
            inputs, s, wb::testing::steps_of_rows(problem_of(inputs, s), uint64_t(s)));
    grade_inputs(inputs, "each head's scores rise at another key");
}

void grade_farthest(const Layout& layout) {
    PagedShape shape = layout.shape({7, 3});
    constexpr float kMost = wb::kMaxScale;  // no scale is farther from 0
    for (const auto& [scale, product] :
         {std::pair{wb::testing::kFarthestScale, 0x1p20f},
          {wb::testing::kFarthestScale, -0x1p20f},
          {kMost, 1.0f},
          {-kMost, 1.0f}}) {
        shape.scale = scale;
        PagedInputs inputs = random_paged(shape, 1, 7);
        for (int64_t s = 0; s < inputs.batch(); ++s)
            set_sequence(
                inputs, s, wb::testing::far_scores(problem_of(inputs, s), product));
        AttentionExpected expected = expect_paged(inputs);
        expect_exactly(expected);
        grade_inputs(inputs, expected, "every score 10^38 or -10^38");
    }
}

/// What a workspace holds of a fault.
PagedStatus status_of(const PagedWorkspace& workspace) {
    PagedStatus status;
    CUDA_CHECK(
        cudaMemcpy(&status, workspace.status(), sizeof status, cudaMemcpyDeviceToHost));
    return status;
}

bool is_same(const PagedStatus& a, const PagedStatus& b) {
    return a.fault == b.fault && a.sequence == b.sequence && a.index == b.index &&
           a.value == b.value;
}

/// Fails unless the workspace holds one of these.
void expect_one_of(const std::string& name,
                   const std::string& text,
                   const PagedWorkspace& workspace,
                   const std::vector<PagedStatus>& faults) {
    const PagedStatus got = status_of(workspace);
    for (const PagedStatus& wanted : faults) {
        if (!is_same(got, wanted)) continue;
        SUCCEED();  // counted by Catch2
        return;
    }
    wb::testing::Finding finding;
    finding.kind = wb::testing::Kind::contract;
    finding.implementation = name;
    finding.inputs = text;
    finding.what = "status holds fault " + std::to_string(got.fault) + ", sequence " +
                   std::to_string(got.sequence) + ", index " +
                   std::to_string(got.index) + ", value " + std::to_string(got.value) +
                   ": not the first fault that was met, as a whole";
    wb::testing::fail(std::move(finding));
}

/// Calls paged_attention, with a workspace that may hold a fault already.
void expect_fault(const PagedInputs& inputs,
                  const std::string& text,
                  const PagedStatus& earlier,
                  const std::vector<PagedStatus>& faults) {
    const int64_t heads = inputs.shape.query_heads;
    for (const auto& [name, idea, function] : attentions()) {
        const PagedWorkspace workspace(inputs.batch() * heads);
        CUDA_CHECK(cudaMemcpy(
            workspace.status(), &earlier, sizeof earlier, cudaMemcpyHostToDevice));
        Grader grade(name, text);
        const PagedCache cache = cache_on_device(grade, inputs);
        const auto* q = grade.input("q", inputs.q);
        auto* o = grade.output<__nv_bfloat16>(
            "o", {inputs.batch(), heads, inputs.shape.head_dim});
        grade.run([&, function = function](cudaStream_t s) {
            function(cache, q, o, nullptr, heads, inputs.scale(), workspace, s);
        });
        expect_one_of(name, text, workspace, faults);
    }
}

/// Appends tokens that have no place, with a workspace that may hold a fault already.
void expect_append_fault(const PagedInputs& inputs,
                         const std::vector<int32_t>& sequences,
                         const std::vector<int32_t>& positions,
                         const std::string& text,
                         const PagedStatus& earlier,
                         const std::vector<PagedStatus>& faults) {
    const auto tokens = static_cast<int64_t>(sequences.size());
    const PagedShape& shape = inputs.shape;
    const std::vector<__nv_bfloat16> rows(
        static_cast<size_t>(tokens * shape.kv_heads * shape.head_dim),
        __float2bfloat16(1.0f));
    for (const auto& [name, idea, function] :
         wb::implementations("append_kv", append_kv)) {
        const PagedWorkspace workspace(1);
        CUDA_CHECK(cudaMemcpy(
            workspace.status(), &earlier, sizeof earlier, cudaMemcpyHostToDevice));
        Grader grade(name, text);
        const PagedCache cache = cache_on_device(grade, inputs);
        const auto* k = grade.input("k", rows);
        const auto* v = grade.input("v", rows);
        const auto* s = grade.input("sequences", sequences);
        const auto* p = grade.input("positions", positions);
        grade.run([&, function = function](cudaStream_t stream) {
            function(cache, k, v, s, p, tokens, workspace, stream);
        });
        expect_one_of(name, text, workspace, faults);
    }
}

PagedStatus fault(PagedFault what, int32_t sequence, int32_t index, int32_t value) {
    return {static_cast<int32_t>(what), sequence, index, value};
}

}  // namespace

TEST_CASE("what counts is neither skipped nor shared nor hidden") {
    for (const auto& layout : kLayouts) {
        grade_beside_zeros(layout);
        grade_uneven(layout);
        grade_farthest(layout);
    }
}

TEST_CASE("once more in the same arrays, but for one thing") {
    const PagedInputs inputs = random_paged(two_heads(kLayouts[0], {7, 33}), 1, 7);
    const AttentionExpected expected = expect_paged(inputs);
    const int64_t heads = inputs.shape.query_heads;
    struct Call {  // the one before it
        PagedCache cache;
        float* lse;
        int64_t heads;
        float scale;
        bool other_tables;
    };
    using Change = std::pair<const char*, void (*)(Call&)>;
    for (const auto& [what, change] :
         {Change{"the scale", [](Call& c) { c.scale *= -4.0f; }},
          {"the query heads", [](Call& c) { c.heads = 2; }},
          {"the K/V heads", [](Call& c) { c.cache.kv_heads = 1; }},
          {"that lse is wanted", [](Call& c) { c.lse = nullptr; }},
          {"the number of sequences", [](Call& c) { c.cache.batch = 1; }},
          {"what the table and the lengths hold",
           [](Call& c) { c.other_tables = true; }}})
        for (const auto& [name, idea, function] : attentions()) {
            const PagedWorkspace workspace(2 * heads);
            Grader grade(name, inputs.text() + ", as before but for " + what);
            const auto* q = grade.input("q", inputs.q);
            auto* o = grade.output<__nv_bfloat16>("o", {2, heads, 64});
            auto* lse = grade.output<float>("lse", {2, heads});
            Call before{
                cache_on_device(grade, inputs), lse, heads, inputs.scale(), false};
            const PagedCache cache = before.cache;
            change(before);
            // The table of before: each page of the first sequence, for both.
            std::vector<int32_t> table(inputs.table.size(), inputs.table[0]);
            const auto* old_table = grade.input("table before", table);
            const auto* new_table = grade.input("table", inputs.table);
            const auto* old_lengths =
                grade.input("lengths before", std::vector<int32_t>{16, 20});
            const auto* new_lengths = grade.input("lengths", inputs.lengths);
            auto* d_table = grade.in_out<int32_t>(
                "tables", {static_cast<int64_t>(table.size())}, table);
            auto* d_lengths = grade.in_out<int32_t>("all lengths", {2}, {0, 0});
            const auto fill = [&](const int32_t* t, const int32_t* l, cudaStream_t s) {
                CUDA_CHECK(cudaMemcpyAsync(d_table,
                                           t,
                                           table.size() * sizeof(int32_t),
                                           cudaMemcpyDeviceToDevice,
                                           s));
                CUDA_CHECK(cudaMemcpyAsync(
                    d_lengths, l, 2 * sizeof(int32_t), cudaMemcpyDeviceToDevice, s));
            };
            const auto call = [&, function = function](const Call& c, cudaStream_t s) {
                PagedCache of = c.cache;
                of.block_table = d_table;
                of.lengths = d_lengths;
                function(of, q, o, c.lse, c.heads, c.scale, workspace, s);
            };
            grade.run([&](cudaStream_t s) {
                if (before.other_tables) {
                    fill(old_table, old_lengths, s);
                } else {
                    fill(new_table, new_lengths, s);
                }
                call(before, s);
                fill(new_table, new_lengths, s);
                call({cache, lse, heads, inputs.scale(), false}, s);
            });
            workspace.check(nullptr);
            grade.expect("o", expected.o, [&](int64_t i) {
                return expected.o_bound[static_cast<size_t>(i)];
            });
            grade.expect("lse", expected.lse, [&](int64_t i) {
                return expected.lse_bound[static_cast<size_t>(i)];
            });
        }
}

TEST_CASE("more heads than a block has threads, and query heads than 12 bits",
          "[long]") {
    PagedShape many{{17}};
    many.query_heads = 4'099;
    many.scale = -0.3f;
    PagedShape shape{{2}};
    shape.scale = -0.3f;
    shape.query_heads = shape.kv_heads = 1'031;
    for (const PagedShape& each : {many, shape}) {
        const PagedInputs inputs = random_paged(each, 1, 7);
        const AttentionExpected expected = expect_paged(inputs);
        for (const auto& [name, idea, function] : wb::testing::last_of(attentions()))
            attend(name, function, inputs, &expected, with_seed(inputs, 1));
    }
    const PagedInputs inputs = random_paged(shape, 1, 7);
    grade_append(inputs, tokens_of(inputs, {{0, 0, 2}}), with_seed(inputs, 1));
}

TEST_CASE("one array is k and v") {
    PagedShape shape{{7, 33}};
    shape.scale = -0.3f;
    PagedInputs inputs = random_paged(shape, 1, 7);
    inputs.v = inputs.k;
    inputs.v_pool = inputs.k_pool;
    const AttentionExpected expected = expect_paged(inputs);
    for (const auto& [name, idea, function] : attentions()) {
        const PagedWorkspace workspace(4);
        Grader grade(name, inputs.text() + ", k and v are one array");
        PagedCache cache = cache_on_device(grade, inputs);
        cache.v = cache.k;
        const auto* q = grade.input("q", inputs.q);
        auto* o = grade.output<__nv_bfloat16>("o", {2, 2, 64});
        grade.run([&, function = function](cudaStream_t s) {
            function(cache, q, o, nullptr, 2, inputs.scale(), workspace, s);
        });
        grade.expect("o", expected.o, [&](int64_t i) {
            return expected.o_bound[static_cast<size_t>(i)];
        });
    }
    const Append append = tokens_of(inputs, {{0, 0, 7}, {1, 0, 33}});
    grade_append(inputs, append, "k and v are one array", "", /*one_array=*/true);
}

TEST_CASE("tables without sequences, or without entries: all is reported") {
    PagedShape shape{{0}};
    shape.spare_entries = 0;
    PagedInputs empty = random_paged(shape, 1, 0);
    REQUIRE(empty.pages_per_sequence == 0);
    expect_append_fault(empty,
                        {0},
                        {0},
                        "a table without entries",
                        {},
                        {fault(PagedFault::position, 0, 0, 0)});
    PagedInputs longer = empty;
    longer.lengths[0] = 3;
    expect_fault(
        longer, "a table without entries", {}, {fault(PagedFault::length, 0, 0, 3)});
    const PagedInputs none = random_paged({{}}, 1, 0);
    expect_append_fault(
        none, {0}, {0}, "no sequences", {}, {fault(PagedFault::sequence, 0, 0, 0)});
}

TEST_CASE("the first of several faults is kept as a whole") {
    PagedInputs inputs = random_paged(two_heads(kLayouts[0], {20, 20, 20}), 1, 7);
    const PagedStatus earlier = fault(PagedFault::position, 17, 18, 19);
    const std::vector<PagedStatus> of_attention = {fault(PagedFault::length, 0, 0, -5),
                                                   fault(PagedFault::page, 2, 1, -9)};
    const std::vector<PagedStatus> of_append = {fault(PagedFault::sequence, 3, 0, 3),
                                                fault(PagedFault::position, 1, 1, -2)};
    inputs.lengths[0] = -5;
    inputs.table[static_cast<size_t>(2 * inputs.pages_per_sequence + 1)] = -9;
    expect_fault(inputs, "two faults", {}, of_attention);
    expect_fault(inputs, "two faults, and an earlier one", earlier, {earlier});
    expect_append_fault(inputs, {3, 1}, {0, -2}, "two faults", {}, of_append);
    expect_append_fault(
        inputs, {3, 1}, {0, -2}, "two faults, and an earlier one", earlier, {earlier});
}

TEST_CASE("each pointer that is wrong is refused by name") {
    using wb::testing::expect_refused;
    struct Pointers {
        PagedCache cache;
        __nv_bfloat16* q;
        __nv_bfloat16* o;  // and v of append_kv
        float* lse;
        int32_t* sequences;
        int32_t* positions;
    };
    const PagedInputs inputs = random_paged({{3}}, 1, 0);
    const PagedWorkspace workspace(2);
    Grader grade("paged_attention", "wrong pointers");
    std::vector<__nv_bfloat16> numbers(2 * 64);
    for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = __float2bfloat16(static_cast<float>(i % 7));
    auto* const d = grade.in_out<__nv_bfloat16>("d", {2 * 64}, numbers);
    auto* const ids = grade.output<int32_t>("ids", {2});
    const Pointers good = {cache_on_device(grade, inputs), d, d, nullptr, ids, ids};
    float host[8] = {};
    const auto attention_refused = [&](const std::string& part, auto change) {
        Pointers p = good;
        change(p);
        expect_refused("paged_attention", part, part, [&] {
            paged_attention(p.cache, p.q, p.o, p.lse, 2, 1.0f, workspace, nullptr);
        });
    };
    const auto append_refused = [&](const std::string& part, auto change) {
        Pointers p = good;
        change(p);
        expect_refused("append_kv", part, part, [&] {
            append_kv(
                p.cache, p.q, p.o, p.sequences, p.positions, 1, workspace, nullptr);
        });
    };
    const auto each_way =
        [&](const auto& refused, const std::string& name, auto member) {
            using Pointer =
                std::remove_reference_t<decltype(member(std::declval<Pointers&>()))>;
            refused(name + " is a null pointer", [&](auto& p) { member(p) = nullptr; });
            refused(name + " is a host pointer",
                    [&](auto& p) { member(p) = reinterpret_cast<Pointer>(host); });
        };
    const auto of_cache = [&](const std::string& name, auto member) {
        each_way(attention_refused, name, member);
        each_way(append_refused, name, member);
    };
    of_cache(
        "cache.k", [](Pointers & p) -> auto& { return p.cache.k; });
    of_cache(
        "cache.v", [](Pointers & p) -> auto& { return p.cache.v; });
    of_cache(
        "cache.block_table", [](Pointers & p) -> auto& { return p.cache.block_table; });
    of_cache(
        "cache.lengths", [](Pointers & p) -> auto& { return p.cache.lengths; });
    each_way(
        attention_refused, "q", [](Pointers & p) -> auto& { return p.q; });
    each_way(
        attention_refused, "o", [](Pointers & p) -> auto& { return p.o; });
    attention_refused("lse is a host pointer", [&](auto& p) { p.lse = host; });
    each_way(
        append_refused, "k", [](Pointers & p) -> auto& { return p.q; });
    each_way(
        append_refused, "v", [](Pointers & p) -> auto& { return p.o; });
    each_way(
        append_refused, "sequences", [](Pointers & p) -> auto& { return p.sequences; });
    each_way(
        append_refused, "positions", [](Pointers & p) -> auto& { return p.positions; });
    for (const int64_t by : {1, 4}) {
        const std::string text = " is not aligned";
        attention_refused("q" + text, [by](auto& p) { p.q += by; });
        attention_refused("o" + text, [by](auto& p) { p.o += by; });
        append_refused("k" + text, [by](auto& p) { p.q += by; });
        append_refused("v" + text, [by](auto& p) { p.o += by; });
    }
    const auto off = [ids](auto*& pointer) {  // two bytes behind a whole number
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(
            reinterpret_cast<char*>(ids) + 2);
    };
    attention_refused("lse is not aligned", [&](auto& p) { off(p.lse); });
    append_refused("sequences is not aligned", [&](auto& p) { off(p.sequences); });
    append_refused("positions is not aligned", [&](auto& p) { off(p.positions); });
    for (const auto& refused : {std::string("cache.k is"), std::string("cache.v is")}) {
        const bool is_k = refused == "cache.k is";
        const auto shift = [&](auto& p) { (is_k ? p.cache.k : p.cache.v) += 1; };
        attention_refused(refused, shift);
        append_refused(refused, shift);
    }
    CUDA_CHECK(cudaDeviceSynchronize());  // and nothing has been written
    std::vector<double> as_before;
    for (const __nv_bfloat16 x : numbers)
        as_before.push_back(static_cast<double>(__bfloat162float(x)));
    grade.expect("d", as_before, [](int64_t) { return 0.0; });
}
