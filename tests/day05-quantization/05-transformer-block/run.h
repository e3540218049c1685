// Calls of block_forward() and block_decode(), and what each array has to hold.
#pragma once

#include <wb/check.h>
#include <wb/testing/paged_workspace.h>

#include <map>

#include "reference.h"

namespace block_grading {

/// A version of either function: of the two, one is null.
struct Version {
    std::string name;
    decltype(&block_forward) forward;
    decltype(&block_decode) decode;

    void operator()(const Block& block,
                    const BlockTokens& t,
                    const BlockCache* cache,
                    const BlockWorkspace& work,
                    cudaStream_t stream) const {
        if (forward != nullptr) return forward(block, t, cache, work, stream);
        decode(block, *cache, t.x, t.y, work, stream);
    }
};

inline std::vector<Version> versions(bool decodes) {
    std::vector<Version> all;
    if (decodes)
        for (const auto& [name, idea, run] :
             wb::implementations("block_decode", block_decode))
            all.push_back({name, nullptr, run});
    else
        for (const auto& [name, idea, run] :
             wb::implementations("block_forward", block_forward))
            all.push_back({name, run, nullptr});
    return all;
}

/// All arrays of a call on the device, in a grader.
struct OnDevice {
    Block block;
    BlockTokens tokens;
    BlockCache cache;
    bool has_cache = false;
    BlockWorkspace work;
    BlockPlan plan;

    OnDevice(Grader& grade,
             const HostBlock& b,
             const Packed& packed,
             const std::vector<Bf16>& x,
             const Tokens& t,
             const HostCache* c,
             const wb::PagedWorkspace& pages,
             bool keep)
        : block(block_of(grade, b, packed)) {
        const Sizes& s = b.sizes;
        tokens.x = grade.input("x", x);
        tokens.y = grade.output<Bf16>("y", {t.count(), s.d()});
        tokens.tokens = t.count();
        tokens.sequences = static_cast<int64_t>(t.added.size());
        tokens.longest = t.longest();
        tokens.causal = t.causal;
        if (!t.decodes) tokens.starts = grade.input("starts", t.starts());
        plan = plan_block(s.shape(), block.is_quantized(), t.count(), keep);
        // Bytes that no launcher may count on: it gets as many as it planned.
        work.memory = grade.output<uint8_t>("workspace", {plan.bytes});
        work.bytes = plan.bytes;
        work.keep = keep;
        work.pages = &pages;
        if (c == nullptr) return;
        has_cache = true;
        const auto pool = static_cast<int64_t>(c->k.size());
        wb::PagedCache& p = cache.pages;
        p.k = grade.in_out<Bf16>("cache.k", {pool}, c->k);
        p.v = grade.in_out<Bf16>("cache.v", {pool}, c->v);
        p.block_table = grade.input("block_table", c->table);
        p.batch = c->batch();
        p.pages_per_sequence = c->pages_per_sequence;
        p.num_pages = c->num_pages;
        p.kv_heads = s.heads;
        p.page_size = c->page_size;
        p.head_dim = s.head_dim;
        // Not used: numbers of which no sequence has so many tokens.
        p.lengths =
            grade.input("pages.lengths",
                        std::vector<int32_t>(at(c->batch()),
                                             static_cast<int32_t>(c->capacity()) + 7));
        cache.lengths = grade.in_out<int32_t>("lengths", {c->batch()}, c->lengths);
        if (s.rotary_dim == 0) return;
        cache.angles = reinterpret_cast<const float2*>(grade.input("angles", b.angles));
        cache.angle_rows = c->capacity();
    }
    const BlockCache* maybe_cache() const { return has_cache ? &cache : nullptr; }
};

/// All versions: layer by layer with a workspace that keeps its arrays; then with one
/// that does not, which must give the same bits.
inline void grade_block(const HostBlock& b,
                        const Tokens& t,
                        const HostCache* c,
                        const std::vector<Bf16>& x,
                        const std::string& what) {
    const Sizes& s = b.sizes;
    const Packed packed = {
        packed_of(b.qkv), packed_of(b.out), packed_of(b.up), packed_of(b.down)};
    const Reference reference(b, t, c);
    const std::string text = s.text() + t.text() + what;
    const auto sequences = static_cast<int64_t>(t.added.size());
    std::vector<Version> all = versions(t.decodes);
    if (s.is_large) all = {all.back()};
    for (const Version& version : all) {
        const wb::PagedWorkspace pages(sequences * s.heads);
        std::vector<double> y;
        for (const bool keep : {true, false}) {
            if (s.is_large && !keep) continue;
            Grader grade(version.name, text + (keep ? "" : ", arrays share memory"));
            const OnDevice on(grade, b, packed, x, t, c, pages, keep);
            const struct {
                const char* name;
                int64_t offset;
                int64_t width;
            } kept[] = {{"qkv", on.plan.qkv, 3 * s.d()},
                        {"attended", on.plan.attended, s.d()},
                        {"middle", on.plan.middle, s.d()},
                        {"hidden", on.plan.hidden, s.d_ff}};
            std::map<std::string, Bf16*> copies;
            for (const auto& array : kept)
                if (keep)
                    copies[array.name] =
                        grade.output<Bf16>(array.name, {t.count(), array.width});
            grade.run([&](cudaStream_t stream) {
                version(on.block, on.tokens, on.maybe_cache(), on.work, stream);
                if (!keep) return;
                for (const auto& array : kept)
                    CUDA_CHECK(cudaMemcpyAsync(
                        copies[array.name],
                        static_cast<const char*>(on.work.memory) + array.offset,
                        at(t.count() * array.width) * sizeof(Bf16),
                        cudaMemcpyDeviceToDevice,
                        stream));
            });
            wb::testing::expect_no_counts(version.name, text, pages);
            pages.check(nullptr);
            const auto expect = [&](const std::string& name, const Wanted& wanted) {
                grade.expect(name, wanted.values, [&](int64_t i) {
                    return wanted.bounds[at(i)];
                });
            };
            if (!keep) {
                grade.expect("y", y, [](int64_t) { return 0.0; });
                continue;
            }
            const auto read = [&](const char* name) {
                return Wanted::of(grade.read(name));
            };
            Wanted k_pool, v_pool;
            const Wanted exact_x = Wanted::of(doubles(x));
            expect("qkv", reference.qkv(exact_x));
            const Wanted attended = reference.attended(read("qkv"), k_pool, v_pool);
            if (c != nullptr) {
                expect("cache.k", k_pool);
                expect("cache.v", v_pool);
                std::vector<double> lengths;
                for (std::size_t i = 0; i < t.added.size(); ++i)
                    lengths.push_back((t.decodes ? c->lengths[i] : 0) +
                                      static_cast<double>(t.added[i]));
                expect("lengths", Wanted::of(lengths));
            }
            expect("attended", attended);
            expect("middle", reference.middle(read("attended"), exact_x));
            expect("hidden", reference.hidden(read("middle")));
            expect("y", reference.y(read("hidden"), read("middle")));
            y = grade.read("y");
        }
    }
}

/// Whole sequences.
inline void grade_forward(const Sizes& s,
                          const Tokens& t,
                          bool has_cache,
                          int64_t page_size = 16,
                          uint64_t seed = 1) {
    HostCache c;
    if (has_cache)
        c = make_cache(
            s, std::vector<int32_t>(t.added.size()), t.longest(), page_size, seed + 3);
    const HostBlock b = random_block(s, c.capacity(), seed);
    grade_block(
        b,
        t,
        has_cache ? &c : nullptr,
        random_x(s, t, seed + 5),
        std::string(has_cache ? ", cache" : "") + ", seed " + std::to_string(seed));
}

/// A step behind these lengths.
inline void grade_decode(const Sizes& s,
                         const std::vector<int32_t>& lengths,
                         int64_t page_size = 16,
                         uint64_t seed = 1,
                         float mean = 0.0f,
                         double k_size = 1.0) {
    const Tokens t = {std::vector<int64_t>(lengths.size(), 1), true, true};
    const HostCache c = make_cache(s, lengths, 1, page_size, seed + 3, k_size);
    const HostBlock b = random_block(s, c.capacity(), seed);
    std::string what;
    for (const int32_t length : lengths)
        what += " " + std::to_string(length);
    grade_block(b, t, &c, random_x(s, t, seed + 5, mean), what);
}

}  // namespace block_grading
