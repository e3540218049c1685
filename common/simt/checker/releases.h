/// checker/releases.h: what has been released, by block and warp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "record.h"

namespace simt::check {

/// What one block knows of another's past, through one warp that has released it.
struct Release {
    uint32_t everyone = 0;  // all threads' segments before this one
    uint32_t warp = 0;      // that warp's segments up to this one
};

inline uint64_t release_key(uint64_t block, uint32_t warp) {
    return block * kLanes + warp;
}

inline void join(Release& to, const Release& from) {
    to.everyone = std::max(to.everyone, from.everyone);
    to.warp = std::max(to.warp, from.warp);
}

/// Releases by block and warp, sorted: a lock's holder joins all that it has ever
/// acquired into the lock, which has to be one pass over an array.
class Releases {
 public:
    using Entry = std::pair<uint64_t, Release>;
    static bool is_before(const Entry& e, uint64_t key) { return e.first < key; }

    bool empty() const { return entries_.empty(); }
    size_t size() const { return entries_.size(); }
    void clear() { entries_.clear(); }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    /// The first entry whose key is not less.
    auto from(uint64_t key) const {
        return std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    }

    Release& operator[](uint64_t key) {
        const auto at =
            std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
        if (at != entries_.end() && at->first == key) return at->second;
        return entries_.insert(at, {key, Release()})->second;
    }

    /// Adds what the other one has, the keys in [skip_begin, skip_end) apart.
    void join_all(const Releases& other, uint64_t skip_begin, uint64_t skip_end) {
        size_t at = 0;
        const size_t known = entries_.size();
        size_t fresh = 0;
        for (const Entry& e : other.entries_) {
            if (e.first - skip_begin < skip_end - skip_begin) continue;
            while (at < known && entries_[at].first < e.first)
                ++at;
            if (at < known && entries_[at].first == e.first)
                join(entries_[at].second, e.second);
            else
                ++fresh;
        }
        if (fresh > 0) merge(other, skip_begin, skip_end, known + fresh);
    }

 private:
    void merge(const Releases& other,
               uint64_t skip_begin,
               uint64_t skip_end,
               size_t n) {
        std::vector<Entry> all;
        all.reserve(n);
        auto mine = entries_.begin();
        for (const Entry& e : other.entries_) {
            if (e.first - skip_begin < skip_end - skip_begin) continue;
            while (mine != entries_.end() && mine->first < e.first)
                all.push_back(*mine++);
            if (mine == entries_.end() || mine->first != e.first) all.push_back(e);
        }
        all.insert(all.end(), mine, entries_.end());
        entries_ = std::move(all);
    }

    std::vector<Entry> entries_;
};

}  // namespace simt::check
