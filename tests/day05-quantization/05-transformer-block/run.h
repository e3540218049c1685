// Calls of block_forward() and block_decode(), and what each array has to hold.
#pragma once

#include <wb/check.h>

#include <map>

#include "grading.h"

namespace block_grading {

/// A cache on the host: what sequences have in it before a call.
struct HostCache {
    std::vector<int32_t> lengths;  ///< before the call
    int64_t page_size = 16;
    int64_t pages_per_sequence = 0;
    int64_t num_pages = 0;
    std::vector<int32_t> table;
    std::vector<Bf16> k, v;  ///< pools; what nobody wrote is NaN

    int64_t batch() const { return static_cast<int64_t>(lengths.size()); }
    int64_t capacity() const { return pages_per_sequence * page_size; }
    /// Where head h of a position begins, in both pools.
    int64_t place(const Sizes& s, int64_t sequence, int64_t position, int64_t h) const {
        const int64_t page =
            table[at(sequence * pages_per_sequence + position / page_size)];
        return ((page * s.heads + h) * page_size + position % page_size) * s.head_dim;
    }
};

/// Room for `room` more tokens of each sequence, in pages of a random order.
inline HostCache make_cache(const Sizes& s,
                            const std::vector<int32_t>& lengths,
                            int64_t room,
                            int64_t page_size,
                            uint64_t seed) {
    HostCache c;
    c.lengths = lengths;
    c.page_size = page_size;
    int64_t longest = 1;
    for (const int32_t length : lengths)
        longest = std::max(longest, length + room);
    c.pages_per_sequence = (longest + page_size - 1) / page_size + 1;
    c.num_pages = c.batch() * c.pages_per_sequence + 2;
    wb::testing::Random random(seed);
    std::vector<int32_t> order;
    for (int64_t i = 0; i < c.num_pages; ++i)
        order.push_back(static_cast<int32_t>(i));
    for (int64_t i = c.num_pages - 1; i > 0; --i)
        std::swap(order[at(i)], order[at(random.below(i + 1))]);
    c.table.assign(at(c.batch() * c.pages_per_sequence), -1);
    __nv_bfloat16_raw nobody;
    nobody.x = 0xFFFF;
    const int64_t numbers = c.num_pages * s.heads * page_size * s.head_dim;
    c.k.assign(at(numbers), Bf16(nobody));
    c.v.assign(at(numbers), Bf16(nobody));
    std::size_t next = 0;
    for (int64_t i = 0; i < c.batch(); ++i) {
        const int64_t tokens = lengths[at(i)] + room;
        for (int64_t page = 0; page * page_size < tokens; ++page)
            c.table[at(i * c.pages_per_sequence + page)] = order[next++];
        for (int64_t p = 0; p < lengths[at(i)]; ++p)
            for (int64_t h = 0; h < s.heads; ++h)
                for (int64_t d = 0; d < s.head_dim; ++d) {
                    c.k[at(c.place(s, i, p, h) + d)] =
                        Bf16(static_cast<float>(random.normal()));
                    c.v[at(c.place(s, i, p, h) + d)] =
                        Bf16(static_cast<float>(random.normal()));
                }
    }
    return c;
}

/// New tokens: of sequence i, `added[i]` behind those that the cache has.
struct Tokens {
    std::vector<int64_t> added;
    bool causal = true;
    bool decodes = false;

    int64_t count() const {
        int64_t sum = 0;
        for (const int64_t n : added)
            sum += n;
        return sum;
    }
    int64_t longest() const {
        return added.empty() ? 0 : *std::max_element(added.begin(), added.end());
    }
    std::vector<int32_t> starts() const {
        std::vector<int32_t> starts = {0};
        for (const int64_t n : added)
            starts.push_back(starts.back() + static_cast<int32_t>(n));
        return starts;
    }
    std::string text() const {
        std::string text = decodes ? ", decode behind" : causal ? ", causal" : ", all";
        for (const int64_t n : added)
            text += decodes ? "" : " " + std::to_string(n);
        return text;
    }
};

/// @param mean  around which the numbers lie
inline std::vector<Bf16> random_x(const Sizes& s,
                                  const Tokens& t,
                                  uint64_t seed,
                                  float mean = 0.0f) {
    std::vector<Bf16> x;
    for (const float value : wb::testing::random_normal(t.count() * s.d(), seed))
        x.push_back(Bf16(value + mean));
    return x;
}

/// What is expected of the arrays, one after the other, from those before them.
class Reference {
 public:
    Reference(const HostBlock& block, const Tokens& tokens, const HostCache* cache)
        : b_(block), s_(block.sizes), t_(tokens), cache_(cache) {}

    Wanted qkv(const Wanted& x) const {
        return linear(is_pre() ? norm(0, x).stored() : x, b_.qkv.exact, none())
            .stored();
    }

    /// Attention of all tokens; and what the cache's pools have to hold.
    Wanted attended(const Wanted& qkv, Wanted& k_pool, Wanted& v_pool) const {
        Wanted o;
        int64_t token = 0;
        std::vector<double> past_k, past_v;
        if (cache_ != nullptr) {
            past_k = doubles(cache_->k);
            past_v = doubles(cache_->v);
            k_pool = Wanted::of(past_k);
            v_pool = Wanted::of(past_v);
        }
        const int64_t d = s_.d();
        const int64_t D = s_.head_dim;
        o.values.resize(at(t_.count() * d));
        o.bounds.resize(o.values.size());
        for (std::size_t i = 0; i < t_.added.size(); ++i) {
            const int64_t past = t_.decodes ? cache_->lengths[i] : 0;
            for (int64_t h = 0; h < s_.heads; ++h) {
                std::vector<Wanted> keys, queries;
                std::vector<const double*> values;
                for (int64_t p = 0; p < past; ++p) {
                    const int64_t from = cache_->place(s_, int64_t(i), p, h);
                    keys.push_back(
                        Wanted::of({past_k.begin() + from, past_k.begin() + from + D}));
                    values.push_back(&past_v[at(from)]);
                }
                for (int64_t j = 0; j < t_.added[i]; ++j) {
                    const double* const q =
                        &qkv.values[at((token + j) * 3 * d + h * D)];
                    const double* const k = q + d;
                    const double* const v = q + 2 * d;
                    const float* const angles =
                        b_.angles.data() + (past + j) * s_.rotary_dim;
                    queries.push_back(turned({q, q + D}, angles, s_.rotary_dim));
                    keys.push_back(turned({k, k + D}, angles, s_.rotary_dim));
                    values.push_back(v);
                    if (cache_ == nullptr) continue;
                    const int64_t to = cache_->place(s_, int64_t(i), past + j, h);
                    for (int64_t c = 0; c < D; ++c) {
                        k_pool.values[at(to + c)] = keys.back().values[at(c)];
                        k_pool.bounds[at(to + c)] = keys.back().bounds[at(c)];
                        v_pool.values[at(to + c)] = v[c];
                    }
                }
                for (int64_t j = 0; j < t_.added[i]; ++j) {
                    const auto seen = static_cast<std::ptrdiff_t>(
                        t_.causal ? past + j + 1 : past + t_.added[i]);
                    std::vector<const Wanted*> k;
                    for (std::ptrdiff_t p = 0; p < seen; ++p)
                        k.push_back(&keys[static_cast<std::size_t>(p)]);
                    Wanted row;
                    add_attention(row,
                                  queries[at(j)],
                                  k,
                                  {values.begin(), values.begin() + seen},
                                  1.0 / std::sqrt(static_cast<double>(D)));
                    row = row.stored();
                    const auto to =
                        static_cast<std::ptrdiff_t>((token + j) * d + h * D);
                    std::copy(
                        row.values.begin(), row.values.end(), o.values.begin() + to);
                    std::copy(
                        row.bounds.begin(), row.bounds.end(), o.bounds.begin() + to);
                }
            }
            token += t_.added[i];
        }
        return o;
    }

    Wanted middle(const Wanted& attended, const Wanted& x) const {
        const Wanted h = linear(attended, b_.out.exact, none(), x).stored();
        return is_pre() ? h : norm(0, h).stored();
    }
    Wanted hidden(const Wanted& middle) const {
        return linear(is_pre() ? norm(1, middle).stored() : middle,
                      b_.up.exact,
                      s_.activation)
            .stored();
    }
    Wanted y(const Wanted& hidden, const Wanted& middle) const {
        const Wanted y = linear(hidden, b_.down.exact, none(), middle).stored();
        return is_pre() ? y : norm(1, y).stored();
    }

 private:
    static Activation none() { return Activation::none; }
    bool is_pre() const { return s_.place == NormPlace::pre; }
    Wanted norm(int i, const Wanted& x) const {
        return normed(x, doubles(b_.gamma[i]), doubles(b_.beta[i]), double{s_.eps});
    }

    const HostBlock& b_;
    const Sizes& s_;
    const Tokens& t_;
    const HostCache* cache_;
};

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
    for (const Version& version : versions(t.decodes)) {
        const wb::PagedWorkspace pages(sequences * s.heads);
        std::vector<double> y;
        for (const bool keep : {true, false}) {
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
                         float mean = 0.0f) {
    const Tokens t = {std::vector<int64_t>(lengths.size(), 1), true, true};
    const HostCache c = make_cache(s, lengths, 1, page_size, seed + 3);
    const HostBlock b = random_block(s, c.capacity(), seed);
    std::string what;
    for (const int32_t length : lengths)
        what += " " + std::to_string(length);
    grade_block(b, t, &c, random_x(s, t, seed + 5, mean), what);
}

}  // namespace block_grading
