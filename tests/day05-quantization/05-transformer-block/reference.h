// Caches, tokens, and what each array of a block has to hold, from those before it.
#pragma once

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
///
/// @param k_size  of keys: with large ones, scores are far apart
inline HostCache make_cache(const Sizes& s,
                            const std::vector<int32_t>& lengths,
                            int64_t room,
                            int64_t page_size,
                            uint64_t seed,
                            double k_size = 1.0) {
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
                        Bf16(static_cast<float>(k_size * random.normal()));
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

/// @param mean  around which the numbers lie; if it is not 0, there are no outliers
inline std::vector<Bf16> random_x(const Sizes& s,
                                  const Tokens& t,
                                  uint64_t seed,
                                  float mean = 0.0f) {
    std::vector<Bf16> x;
    wb::testing::Random random(seed);
    for (float value : wb::testing::random_normal(t.count() * s.d(), seed)) {
        if (mean != 0.0f) value = mean + static_cast<float>(random.normal());
        x.push_back(Bf16(value));
    }
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

}  // namespace block_grading
