/// wb/reference/dynamic_embedding.h: a hash table with eviction as maps on the CPU:
/// one call after the other, one key after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace wb::reference {

/// The bucket of a key: the upper 32 bits of MurmurHash3's 64-bit finaliser, times
/// num_buckets, divided by 2^32.
inline int64_t home_bucket(uint64_t key, int64_t num_buckets) {
    const uint64_t factors[] = {0xff51afd7ed558ccdull, 0xc4ceb9fe1a85ec53ull};
    for (const uint64_t factor : factors)
        key = (key ^ key >> 33) * factor;
    key ^= key >> 33;
    const auto product =
        static_cast<unsigned __int128>(key >> 32) * static_cast<uint64_t>(num_buckets);
    return static_cast<int64_t>(product >> 32);
}

/// `count` keys, all different, whose home is this bucket: they collide on purpose.
inline std::vector<uint64_t> keys_of_bucket(int64_t bucket,
                                            int64_t num_buckets,
                                            int64_t count,
                                            uint64_t first = 1) {
    std::vector<uint64_t> keys;
    for (uint64_t key = first; static_cast<int64_t>(keys.size()) < count; ++key)
        if (home_bucket(key, num_buckets) == bucket) keys.push_back(key);
    return keys;
}

/// When and how often a key was used.
struct Use {
    uint64_t clock = 0;
    uint64_t count = 0;
};

enum class Evict { none, lru, lfu };

/// Buckets of `places` keys. A key may be in its home bucket only: window = 1.
///
/// Which of several new keys of a call is refused, and which gets the better place, the
/// table may choose; what is in the table afterwards is a matter of choice then.
class Buckets {
 public:
    Buckets(int64_t num_buckets, int places, Evict policy)
        : places_(static_cast<size_t>(places)),
          policy_(policy),
          buckets_(static_cast<size_t>(num_buckets)) {}

    /// One call. @return how many keys were refused
    int64_t insert_or_find(const std::vector<uint64_t>& keys) {
        ++clock_;
        std::vector<uint64_t> missing;
        for (const uint64_t key : keys) {
            Bucket& bucket = bucket_of(key);
            const auto found = bucket.find(key);
            if (found == bucket.end()) {
                missing.push_back(key);
            } else {
                found->second.clock = clock_;
                ++found->second.count;
                ++hits_;
            }
        }
        int64_t refused = 0;
        for (const uint64_t key : missing) {
            Bucket& bucket = bucket_of(key);
            const auto found = bucket.find(key);  // a key of this call once more
            if (found != bucket.end())
                ++found->second.count;
            else if (bucket.size() < places_ || evict(bucket))
                bucket[key] = {clock_, 1};
            else
                ++refused;
        }
        return refused;
    }

    /// All keys, in order.
    std::map<uint64_t, Use> all() const {
        std::map<uint64_t, Use> result;
        for (const Bucket& bucket : buckets_)
            result.insert(bucket.begin(), bucket.end());
        return result;
    }

    /// Keys that were there when they were asked for.
    int64_t hits() const { return hits_; }

 private:
    using Bucket = std::map<uint64_t, Use>;

    Bucket& bucket_of(uint64_t key) {
        const auto count = static_cast<int64_t>(buckets_.size());
        return buckets_[static_cast<size_t>(home_bucket(key, count))];
    }

    /// Takes out the key of least worth that this call has not used.
    bool evict(Bucket& bucket) const {
        if (policy_ == Evict::none) return false;
        auto least = bucket.end();
        for (auto it = bucket.begin(); it != bucket.end(); ++it)
            if (it->second.clock != clock_ &&
                (least == bucket.end() || worth(it->second) < worth(least->second)))
                least = it;
        if (least == bucket.end()) return false;
        bucket.erase(least);
        return true;
    }
    std::pair<uint64_t, uint64_t> worth(const Use& use) const {
        return {policy_ == Evict::lfu ? use.count : 0, use.clock};
    }

    size_t places_;
    Evict policy_;
    std::vector<Bucket> buckets_;
    uint64_t clock_ = 0;
    int64_t hits_ = 0;
};

}  // namespace wb::reference
