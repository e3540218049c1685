// Times day07-tuning/10-multi-gpu: what do two GPUs gain, and what do they say to each
// other?
#include "multi_gpu.h"

#include <wb/bench/bench.h>
#include <wb/implementations.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "team.h"

using namespace wb::bench;

namespace {

// Before the benchmark allocates anything: from then on the simulator has its devices.
const int kDevices = available_devices();

/// A host thread for each rank, which queues what all of them do. The caller's stream
/// is rank 0's.
class Crew {
 public:
    using Work = std::function<void(Rank& rank, cudaStream_t stream)>;

    explicit Crew(Team& team) : team_(team) {
        for (int r = 0; r < team.size(); ++r)
            threads_.emplace_back([this, r] { serve(r); });
    }
    ~Crew() {
        post(nullptr, nullptr);
        for (std::thread& thread : threads_)
            thread.join();
    }
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Returns when all ranks have queued it.
    void queue(const Work& work, cudaStream_t stream) {
        post(&work, stream);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return busy_ == 0; });
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

 private:
    void post(const Work* work, cudaStream_t stream) {
        const std::lock_guard lock(mutex_);
        work_ = work;
        stream_ = stream;
        busy_ = team_.size();
        ++turn_;
        changed_.notify_all();
    }
    void serve(int r) {
        CUDA_CHECK(cudaSetDevice(r));
        for (int64_t seen = 0;;) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return turn_ > seen; });
            seen = turn_;
            const Work* const work = work_;
            const cudaStream_t stream = r == 0 ? stream_ : team_.stream(r);
            lock.unlock();
            if (!work) return;
            std::exception_ptr thrown;
            try {
                (*work)(team_[r], stream);
            } catch (...) {
                thrown = std::current_exception();
            }
            lock.lock();
            if (thrown) thrown_ = thrown;
            if (--busy_ == 0) changed_.notify_all();
        }
    }

    Team& team_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    const Work* work_ = nullptr;
    cudaStream_t stream_ = nullptr;
    int64_t turn_ = 0;
    int busy_ = 0;
    std::exception_ptr thrown_;
};

/// Operations of the whole block: its four products, and what causal attention sees.
double operations(const BlockShape& shape) {
    const auto N = static_cast<double>(shape.tokens);
    const auto W = static_cast<double>(shape.width());
    const auto F = static_cast<double>(shape.hidden);
    return 2 * N * W * (4 * W + 2 * F) + 2 * N * N * W;
}

/// y of one GPU, to which that of several is compared.
std::vector<float> on_one_gpu(const BlockShape& shape,
                              const BlockWeights& weights,
                              const std::vector<float>& x) {
    Team team(1, 0);
    const ShardedWeights sharded(team, shape, weights);
    const Memory in(x);
    const Memory out(x);
    team.run([&](Rank& rank, cudaStream_t stream) {
        multi_gpu(shape, rank, in.data(), out.data(), stream);
    });
    return out.get();
}

bool has_two() {
    if (kDevices >= 2 && are_peers(2)) return true;
    std::puts(
        "needs two GPUs that can access each other's memory; nothing is measured");
    return false;
}

/// Waits for all ranks: rank 0's stream may be done before the others'.
void wait_for_all() {
    for (int r = 0; r < kDevices; ++r) {
        CUDA_CHECK(cudaSetDevice(r));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    CUDA_CHECK(cudaSetDevice(0));
}

}  // namespace

WB_BENCH(multi_gpu, bench) {
    if (!has_two()) return;
    for (const BlockShape& shape : bench.sizes<BlockShape>(
             {{5, 4, 4, 8}},
             {{512, 16, 64, 4096}},
             {{1, 32, 128, 16384}, {16, 32, 128, 16384}, {16384, 32, 128, 16384}})) {
        const int64_t n = shape.tokens * shape.width();
        const BlockWeights weights = uniform_weights(shape);
        const auto x = bench.random_normal(n).host();
        const auto right = on_one_gpu(shape, weights, x);
        for (int ranks = 1; ranks <= std::min(kDevices, 8); ranks *= 2) {
            if (!are_peers(ranks) || shape.heads % ranks != 0) continue;
            // The inboxes of a prompt would be larger than the prompt.
            const bool few = n <= int64_t{1} << 20;
            Team team(ranks, few ? n : 0);
            const ShardedWeights sharded(team, shape, weights);
            std::vector<std::unique_ptr<Memory>> in, others;
            for (int r = 0; r < ranks; ++r) {
                CUDA_CHECK(cudaSetDevice(r));
                in.push_back(std::make_unique<Memory>(x));
                others.push_back(std::make_unique<Memory>(x));
            }
            CUDA_CHECK(cudaSetDevice(0));
            const auto y = bench.output<float>(n);
            Spec spec{"N = " + std::to_string(shape.tokens) + ", " +
                          std::to_string(ranks) + (ranks == 1 ? " GPU" : " GPUs"),
                      Ceiling::fp32,
                      operations(shape) / ranks};
            spec.tokens = static_cast<double>(shape.tokens);
            auto problem = bench.problem(spec);
            problem.expect("y", y, [&](int64_t i) {
                // The sums are in another order; the test says how exact they are.
                return Expected{right[static_cast<size_t>(i)], 1e-3};
            });
            Crew crew(team);
            for (const auto& [name, idea, function] :
                 wb::implementations("multi_gpu", multi_gpu)) {
                if (name == "multi_gpu_v4" && !few) continue;
                problem.note("ranks", ranks);
                problem.time(name, idea, [&, function = function](cudaStream_t stream) {
                    crew.queue(
                        [&](Rank& rank, cudaStream_t own) {
                            const auto r = static_cast<size_t>(rank.rank);
                            float* const to = r == 0 ? y.data() : others[r]->data();
                            function(shape, rank, in[r]->data(), to, own);
                        },
                        stream);
                });
                wait_for_all();
            }
        }
    }
}

// Bandwidth is nccl-tests' "bus bandwidth" of an all-reduce: bytes / time times
// 2 (ranks - 1) / ranks, which is what goes through each GPU's links if nothing is sent
// twice.
WB_BENCH(one_shot_all_reduce, bench) {
    if (!has_two()) return;
    for (int ranks = 2; ranks <= std::min(kDevices, 8); ranks *= 2) {
        if (!are_peers(ranks)) continue;
        // The last one is a prompt's: 16384 tokens of 4096.
        for (const int64_t n : bench.sizes<int64_t>(
                 {300},
                 {1 << 14},
                 {1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 24, 1 << 26})) {
            Team team(ranks, n);
            std::vector<std::unique_ptr<Memory>> others;
            for (int r = 0; r < ranks; ++r) {
                CUDA_CHECK(cudaSetDevice(r));
                others.push_back(std::make_unique<Memory>(
                    std::vector<float>(static_cast<size_t>(n), 0.0f)));
            }
            CUDA_CHECK(cudaSetDevice(0));
            const auto x = bench.output<float>(n);
            Crew crew(team);
            const auto run = [&](auto sum) {
                return [&, sum](cudaStream_t stream) {
                    crew.queue(
                        [&](Rank& rank, cudaStream_t own) {
                            const auto r = static_cast<size_t>(rank.rank);
                            sum(rank, r == 0 ? x.data() : others[r]->data(), own);
                        },
                        stream);
                };
            };
            const auto nccl = run([n](Rank& rank, float* data, cudaStream_t stream) {
                const auto count = static_cast<size_t>(n);
                NCCL_CHECK(ncclAllReduce(
                    data, data, count, ncclFloat, ncclSum, rank.comm, stream));
            });
            const auto one_shot = run([n](Rank& rank, float* data, cudaStream_t s) {
                one_shot_all_reduce(rank, data, n, s);
            });
            Spec spec{std::to_string(n * 4) + " B, " + std::to_string(ranks) + " GPUs",
                      Ceiling::copy,
                      4.0 * static_cast<double>(n) * 2 * (ranks - 1) / ranks};
            spec.cache = Cache::hot;
            spec.limit = "NCCL's all-reduce";
            spec.limit_us = bench.time_alone(nccl);
            auto problem = bench.problem(spec);
            problem.expect("x", x, [](int64_t i) {
                return Expected{static_cast<double>(i % 7), 0.0};
            });
            // Rank 0 has the numbers, the others have zeros.
            std::vector<float> values(static_cast<size_t>(n));
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<float>(i % 7);
            const std::vector<float> zeros(values.size());
            problem.restore([&](cudaStream_t) {
                wait_for_all();
                x.upload(values);
                for (const auto& other : others)
                    other->set(zeros);
            });
            problem.time("one_shot_all_reduce", "through peer memory", one_shot);
            wait_for_all();
            problem.time("ncclAllReduce", "NCCL", nccl);
            wait_for_all();
        }
    }
}
