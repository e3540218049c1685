/// team.h: ranks that are host threads of this process, each with a device, and what
/// they are given.
#pragma once

#include <wb/check.h>
#include <wb/check_nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "block_reference.h"
#include "lanes.h"
#include "multi_gpu.h"
#include "peers.h"

#ifdef SIMT_CPU
#include "simt/nccl_limit.h"
#include "simt/options.h"
#endif

/// How long the simulator waits for a rank's call. It knows who lacks in which one, and
/// says so before finish() gives up.
constexpr double kSimulatorsLimit = 4;  // s

/// How long a rank waits for its stream. The simulator's checker takes some thirty
/// times as long as a simulator without it, and ends a hang itself.
#ifdef SIMT_CPU
constexpr double kPatience = 80;  // s
#else
constexpr double kPatience = 8;
#endif

/// How many devices tests may have.
inline int available_devices() {
#ifdef SIMT_CPU
    static const bool is_prepared =
        (simt::set_devices(8), simt::set_nccl_limit(kSimulatorsLimit), true);
    (void)is_prepared;
#endif
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    return std::min(count, kMaxRanks);
}

/// Whether so many GPUs can all access each other's memory.
inline bool are_peers(int ranks) {
    for (int a = 0; a < ranks; ++a)
        for (int b = 0; b < ranks; ++b) {
            int can = 1;
            if (a != b) CUDA_CHECK(cudaDeviceCanAccessPeer(&can, a, b));
            if (!can) return false;
        }
    return true;
}

/// What cudaMemcpy() has read from a host's ordinary memory is on its way when it
/// returns. The default stream waits for that; a rank's stream does not.
inline void wait_for_copies() {
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

/// Device memory with values, on the device that is current.
class Memory {
 public:
    explicit Memory(const std::vector<float>& values) : size_(values.size()) {
        CUDA_CHECK(cudaMalloc(&data_, size_ * sizeof(float)));
        set(values);
    }
    ~Memory() { (void)cudaFree(data_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    float* data() const { return data_; }
    void set(const std::vector<float>& values) const {
        CUDA_CHECK(
            cudaMemcpy(data_, values.data(), size_ * sizeof(float), cudaMemcpyDefault));
        wait_for_copies();
    }
    std::vector<float> get() const {
        std::vector<float> values(size_);
        CUDA_CHECK(
            cudaMemcpy(values.data(), data_, size_ * sizeof(float), cudaMemcpyDefault));
        return values;
    }

 private:
    float* data_ = nullptr;
    size_t size_;
};

/// Zeros on the device that is current: more than a host would like to hold.
class Zeros {
 public:
    explicit Zeros(int64_t n) {
        const size_t bytes = static_cast<size_t>(n) * sizeof(float);
        CUDA_CHECK(cudaMalloc(&data_, bytes));
        CUDA_CHECK(cudaMemset(data_, 0, bytes));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    ~Zeros() { (void)cudaFree(data_); }
    Zeros(const Zeros&) = delete;
    Zeros& operator=(const Zeros&) = delete;
    float* data() const { return data_; }
    void set(int64_t index, float value) const {
        CUDA_CHECK(cudaMemcpy(data_ + index, &value, sizeof value, cudaMemcpyDefault));
        wait_for_copies();
    }
    float get(int64_t index) const {
        float value = 0;
        CUDA_CHECK(cudaMemcpy(&value, data_ + index, sizeof value, cudaMemcpyDefault));
        return value;
    }

 private:
    float* data_ = nullptr;
};

/// Ranks with communicators, inboxes, and a stream each that the default stream does
/// not order.
class Team {
 public:
    /// @param capacity   floats of a message; 0: no inboxes
    /// @param may_share  ranks share the GPUs that there are, if these are too few, and
    ///                   have no communicators then: NCCL wants a GPU for each
    Team(int ranks, int64_t capacity, bool may_share = false)
        : rank_(static_cast<size_t>(ranks)),
          devices_(may_share ? std::min(ranks, available_devices()) : ranks) {
        std::vector<ncclComm_t> comms(rank_.size());
        connect_at_once();
        if (ranks > 1 && devices_ == ranks) {
            // With a list NCCL refuses a device that is not there at once. Without one
            // it fails within a group, which it leaves open: all later calls of this
            // host thread would only be noted down.
            std::vector<int> list(rank_.size());
            std::iota(list.begin(), list.end(), 0);
            NCCL_CHECK(ncclCommInitAll(comms.data(), ranks, list.data()));
        }
        if (capacity > 0)
            peers_ = std::make_unique<PeerMemory>(ranks, capacity, devices_);
        for (int r = 0; r < ranks; ++r) {
            Rank& rank = rank_[static_cast<size_t>(r)];
            rank.rank = r;
            rank.ranks = ranks;
            rank.comm = comms[static_cast<size_t>(r)];
            rank.inboxes = peers_ ? peers_->of(r) : nullptr;
            CUDA_CHECK(cudaSetDevice(device(r)));
            lanes_.push_back(std::make_unique<Lane>());
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~Team() {
        for (const Rank& rank : rank_) {
            (void)cudaSetDevice(device(rank.rank));
            (void)cudaStreamSynchronize(*lanes_[static_cast<size_t>(rank.rank)]);
            if (rank.comm) (void)ncclCommDestroy(rank.comm);
        }
        (void)cudaSetDevice(0);
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(rank_.size()); }
    int device(int r) const { return r % devices_; }
    Rank& operator[](int r) { return rank_[static_cast<size_t>(r)]; }
    cudaStream_t stream(int r) const { return *lanes_[static_cast<size_t>(r)]; }

    /// Each rank's host thread calls `work` with its device current, and waits for what
    /// it has queued. If a rank throws, all communicators are aborted, so that nobody
    /// waits for it. What was thrown first is thrown again.
    void run(const std::function<void(Rank& rank, cudaStream_t stream)>& work,
             double seconds = kPatience) {
        std::exception_ptr thrown;
        std::mutex mutex;
        std::atomic<bool> is_lost = false;
        std::atomic<int> done = 0;
        std::vector<std::thread> threads;
        for (int r = 0; r < size(); ++r)
            threads.emplace_back([&, r] {
                Rank& rank = (*this)[r];
                try {
                    CUDA_CHECK(cudaSetDevice(device(r)));
                    work(rank, stream(r));
                    finish(rank, stream(r), seconds, &is_lost);
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    if (!thrown) thrown = std::current_exception();
                    is_lost = true;
                }
                // A communicator is given up by all of its ranks, or by none.
                ++done;
                while (done < size() && !is_lost)
                    std::this_thread::sleep_for(std::chrono::microseconds(50));
                if (!is_lost || !rank.comm) return;
                (void)ncclCommAbort(rank.comm);
                rank.comm = nullptr;
            });
        for (std::thread& thread : threads)
            thread.join();
        if (thrown) std::rethrow_exception(thrown);
    }

 private:
    std::vector<Rank> rank_;
    int devices_;
    std::unique_ptr<PeerMemory> peers_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

/// Columns [first, first + count) of each of `blocks` blocks of columns of a matrix.
inline std::vector<float> columns_of(const std::vector<float>& a,
                                     int64_t rows,
                                     int64_t blocks,
                                     int64_t block,
                                     int64_t first,
                                     int64_t count) {
    std::vector<float> part;
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t b = 0; b < blocks; ++b) {
            const auto begin = a.begin() + (row * blocks + b) * block + first;
            part.insert(part.end(), begin, begin + count);
        }
    return part;
}

/// A rank's share of all weights.
inline BlockWeights share_of(const Rank& rank,
                             const BlockShape& shape,
                             const BlockWeights& weights) {
    const int64_t W = shape.width();
    const int64_t share = W / rank.ranks;
    const int64_t hidden = shape.hidden / rank.ranks;
    const auto rows = [&](const std::vector<float>& a, int64_t count) {
        const auto begin = a.begin() + rank.rank * count * W;
        return std::vector<float>(begin, begin + count * W);
    };
    return {columns_of(weights.qkv, W, 3, W, rank.rank * share, share),
            rows(weights.out, share),
            columns_of(weights.up, W, 1, shape.hidden, rank.rank * hidden, hidden),
            rows(weights.down, hidden)};
}

/// A rank's share of the weights, on the device that is current; tells the rank.
class Shard {
 public:
    Shard(Rank& rank, const BlockWeights& share) {
        rank.w_qkv = keep(share.qkv);
        rank.w_out = keep(share.out);
        rank.w_up = keep(share.up);
        rank.w_down = keep(share.down);
    }

 private:
    const float* keep(const std::vector<float>& values) {
        memory_.push_back(std::make_unique<Memory>(values));
        return memory_.back()->data();
    }
    std::vector<std::unique_ptr<Memory>> memory_;
};

/// The shares of all ranks, each in the memory of its device.
class ShardedWeights {
 public:
    /// @param share  of a rank
    ShardedWeights(Team& team, const std::function<BlockWeights(const Rank&)>& share) {
        for (int r = 0; r < team.size(); ++r) {
            CUDA_CHECK(cudaSetDevice(r));
            shards_.push_back(std::make_unique<Shard>(team[r], share(team[r])));
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ShardedWeights(Team& team, const BlockShape& shape, const BlockWeights& weights)
        : ShardedWeights(
              team, [&](const Rank& rank) { return share_of(rank, shape, weights); }) {}

 private:
    std::vector<std::unique_ptr<Shard>> shards_;
};

/// Uniform numbers from -scale to scale: quick, for hundreds of millions.
inline std::vector<float> uniform(int64_t count, uint64_t seed, float scale) {
    std::vector<float> values(static_cast<size_t>(count));
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (float& value : values) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value = scale * (static_cast<float>(state >> 40) * 0x1p-23f - 1.0f);
    }
    return values;
}

/// Such weights that products keep a token's size.
inline BlockWeights uniform_weights(const BlockShape& shape) {
    const int64_t W = shape.width();
    const float scale = std::sqrt(3.0f / static_cast<float>(W));
    return {uniform(W * 3 * W, 2, scale),
            uniform(W * W, 3, scale),
            uniform(W * shape.hidden, 4, scale),
            uniform(shape.hidden * W, 5, scale)};
}
