// One rank of day07-tuning/10-multi-gpu in a process of its own: as many processes as
// GPUs compute the block together, and each looks whether its y is right.
//
//   for r in 0 1; do
//       RANK=$r WORLD_SIZE=2 build/cuda/day07_multi_gpu_rank --folder /tmp/ranks &
//   done; wait
//   mpirun -n 2 build/cuda/day07_multi_gpu_rank --folder /tmp/ranks
//
// With --checkpoint, each reads its share of a layer that chapter 08 has trained.
// The processes meet in the folder (meeting.h) and hand over NCCL's id there. What goes
// wrong is an error in words, at most two seconds after --seconds (8): a rank that has
// not been started or has ended, ranks that disagree, more ranks than GPUs or heads.
#include <wb/errors.h>

#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "meeting.h"
#include "team.h"
#include "trained_share.h"

namespace {

using std::to_string;

struct Usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The whole text as a number, or Usage.
template <class T>
T number(const std::string& name, const std::string& text) {
    T value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end)
        throw Usage(name + " is '" + text + "', but must be a number");
    return value;
}

/// Which rank this process is.
struct Place {
    int rank = 0;
    int ranks = 1;
    int device = 0;
};

/// From the variables of torchrun and of people, of Open MPI, or of MPICH.
Place place_from_environment() {
    constexpr const char* kNames[][3] = {
        {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
        {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};
    for (const auto& [rank, ranks, local] : kNames) {
        if (!std::getenv(rank)) continue;
        if (!std::getenv(ranks))
            throw Usage(std::string(rank) + " is set, but " + ranks + " is not");
        Place place;
        place.rank = number<int>(rank, std::getenv(rank));
        place.ranks = number<int>(ranks, std::getenv(ranks));
        if (place.ranks < 1 || place.ranks > kMaxRanks)
            throw Usage(std::string(ranks) + " is " + to_string(place.ranks) +
                        ", but must be 1 to " + to_string(kMaxRanks));
        if (place.rank < 0 || place.rank >= place.ranks)
            throw Usage(std::string(rank) + " is " + to_string(place.rank) +
                        ", but must be 0 to " + to_string(place.ranks - 1));
        const char* const device = std::getenv(local);
        place.device = device ? number<int>(local, device) : place.rank;
        return place;
    }
    throw Usage("RANK and WORLD_SIZE are not set, nor does mpirun run this");
}

struct Options {
    BlockShape shape = {6, 8, 8, 16};
    std::string folder;
    std::string checkpoint;  ///< empty: weights are random
    int64_t layer = 0;
    double seconds = 8;
};

Options parse(int argc, char** argv) {
    Options options;
    std::string sized;  // a size that a checkpoint has, too
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if (i + 1 == argc) throw Usage(name + " needs a value");
        const std::string value = argv[i + 1];
        if (name == "--folder")
            options.folder = value;
        else if (name == "--checkpoint")
            options.checkpoint = value;
        else if (name == "--layer")
            options.layer = number<int64_t>(name, value);
        else if (name == "--seconds")
            options.seconds = number<int>(name, value);
        else if (name == "--tokens")
            options.shape.tokens = number<int64_t>(name, value);
        else if (name == "--heads")
            options.shape.heads = number<int64_t>(name, value);
        else if (name == "--head-dim")
            options.shape.head_dim = number<int64_t>(name, value);
        else if (name == "--hidden")
            options.shape.hidden = number<int64_t>(name, value);
        else
            throw Usage("there is no option " + name);
        if (name == "--heads" || name == "--head-dim" || name == "--hidden")
            sized = name;
    }
    if (!sized.empty() && !options.checkpoint.empty())
        throw Usage(sized + " and --checkpoint: the checkpoint has its own sizes");
    if (options.seconds < 1) throw Usage("--seconds must be 1 or more");
    return options;
}

/// What can be said before other ranks are asked.
void check(const Place& place, const Options& options) {
    const BlockShape& shape = options.shape;
    const std::pair<const char*, int64_t> sizes[] = {{"--tokens", shape.tokens},
                                                     {"--heads", shape.heads},
                                                     {"--head-dim", shape.head_dim},
                                                     {"--hidden", shape.hidden}};
    for (const auto& [name, size] : sizes)
        if (size < 1 || size > 1 << 20)
            throw Usage(std::string(name) + " is " + to_string(size) +
                        ", but must be 1 to 2^20");
    for (const auto& [name, size] : {sizes[1], sizes[3]})
        if (size % place.ranks != 0)
            throw Usage(std::string(name) + " is " + to_string(size) +
                        ", but must be a multiple of the number of ranks, " +
                        to_string(place.ranks));
    if (place.ranks > 1 && options.folder.empty())
        throw Usage("--folder is missing: where the ranks meet, the same for all");
    const int devices = available_devices();
    if (place.device < 0 || place.device >= devices)
        throw Usage("device " + to_string(place.device) + " is wanted, but there " +
                    (devices == 1 ? "is 1" : "are " + to_string(devices)) +
                    ": one GPU for each rank (LOCAL_RANK says which, else the rank)");
}

/// Ends the process if a step does not end: NCCL's calls, and the driver's, cannot be
/// interrupted.
class Deadline {
 public:
    Deadline(const std::string& who, const std::string& step, double seconds)
        : thread_([this, who, step, seconds] {
              std::unique_lock lock(mutex_);
              const std::chrono::duration<double> limit(seconds);
              if (changed_.wait_for(lock, limit, [this] { return is_over_; })) return;
              std::fprintf(stderr,
                           "%s: %s has not returned for %g s: has a rank ended?\n",
                           who.c_str(),
                           step.c_str(),
                           seconds);
              std::_Exit(1);
          }) {}
    ~Deadline() {
        {
            const std::lock_guard lock(mutex_);
            is_over_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_over_ = false;
    std::thread thread_;
};

/// Fails unless all ranks say the same.
void expect_agreement(Meeting& meeting, const std::string& text) {
    const std::vector<std::string> all = meeting.exchange(text);
    for (size_t r = 1; r < all.size(); ++r)
        if (all[r] != all[0])
            throw std::runtime_error("rank " + to_string(r) + " has " + all[r] +
                                     ", but rank 0 has " + all[0]);
}

/// Bytes as text that stands in a file.
std::string as_hex(const ncclUniqueId& id) {
    std::string text;
    for (const char byte : id.internal) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
        text += two;
    }
    return text;
}

ncclUniqueId from_hex(const std::string& text) {
    ncclUniqueId id = {};
    if (text.size() != 2 * sizeof id.internal)
        throw std::runtime_error("rank 0 has left no id of NCCL's");
    for (size_t i = 0; i < sizeof id.internal; ++i)
        id.internal[i] =
            static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
    return id;
}

/// A number that differs where one bit does.
std::string fingerprint(const std::vector<float>& values) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const float value : values) {
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return "a y with the fingerprint " + to_string(hash);
}

/// The block's y. finish() gives up after so many seconds, in words of its own; if it
/// cannot even free what a dead rank has left behind, the process ends.
std::vector<float> compute(const std::string& who,
                           Rank& rank,
                           const BlockShape& shape,
                           const BlockWeights& share,
                           const std::vector<float>& x,
                           double seconds) {
    const Deadline deadline(who, "the block", seconds + 1);
    const Shard shard(rank, share);
    const Memory in(x);
    const Memory out(std::vector<float>(x.size(), NAN));
    const Lane lane;
    multi_gpu(shape, rank, in.data(), out.data(), lane);
    finish(rank, lane, seconds);
    return out.get();
}

/// @param model  without tensors: weights are random
void run(const Place& place,
         const Options& options,
         const wb::model::Checkpoint& model) {
    const std::string who =
        "rank " + to_string(place.rank) + " of " + to_string(place.ranks);
    const BlockShape& shape = options.shape;
    std::unique_ptr<Meeting> meeting;
    if (place.ranks > 1) {
        meeting = std::make_unique<Meeting>(
            options.folder, place.rank, place.ranks, options.seconds);
        expect_agreement(*meeting,
                         "N = " + to_string(shape.tokens) +
                             ", H = " + to_string(shape.heads) +
                             ", D = " + to_string(shape.head_dim) +
                             ", F = " + to_string(shape.hidden));
#ifdef SIMT_CPU
        throw std::runtime_error(
            "all ranks are there, but the simulator's are threads of one process: "
            "./learn check multi_gpu --cpu");
#endif
    }
    CUDA_CHECK(cudaSetDevice(place.device));
    Rank rank;
    rank.rank = place.rank;
    rank.ranks = place.ranks;
    if (meeting) {
        connect_at_once();
        ncclUniqueId id = {};
        if (place.rank == 0) NCCL_CHECK(ncclGetUniqueId(&id));
        id = from_hex(meeting->exchange(as_hex(id))[0]);
        const Deadline deadline(who, "ncclCommInitRank()", options.seconds);
        NCCL_CHECK(ncclCommInitRank(&rank.comm, place.ranks, id, place.rank));
    }
    const auto trained = [&](int r, int ranks) {
        return share_of_layer(model, options.layer, shape, r, ranks);
    };
    const bool is_trained = !model.tensors.empty();
    const BlockWeights weights = is_trained ? trained(0, 1) : uniform_weights(shape);
    const BlockWeights share =
        is_trained ? trained(place.rank, place.ranks) : share_of(rank, shape, weights);
    const auto x = uniform(shape.tokens * shape.width(), 1, 1.0f);
    const std::vector<float> y = compute(who, rank, shape, share, x, options.seconds);
    const Approximate expected = reference_block(shape, weights, x, place.ranks);
    double worst = 0;
    for (size_t i = 0; i < y.size(); ++i) {
        const double error = std::abs(y[i] - expected.value[i]);
        if (!(error <= expected.error[i]))
            throw std::runtime_error("y[" + to_string(i) + "] is " + to_string(y[i]) +
                                     ", but should be " + to_string(expected.value[i]));
        worst = std::max(worst, error);
    }
    if (meeting) {
        expect_agreement(*meeting, fingerprint(y));
        const Deadline deadline(who, "ncclCommDestroy()", options.seconds);
        NCCL_CHECK(ncclCommDestroy(rank.comm));
    }
    std::printf("%s: y is right on device %d; the worst error is %.2g\n",
                who.c_str(),
                place.device,
                worst);
}

}  // namespace

int main(int argc, char** argv) {
    std::string who = "multi_gpu_rank";
    try {
        Options options = parse(argc, argv);
        wb::model::Checkpoint model;
        if (!options.checkpoint.empty()) {
            model = wb::model::read_checkpoint(options.checkpoint);
            options.shape = shape_of_model(model, options.layer, options.shape.tokens);
        }
        const Place place = place_from_environment();
        who = "rank " + to_string(place.rank) + " of " + to_string(place.ranks);
        check(place, options);
        multi_gpu({0, 1, 1, 1}, {}, nullptr, nullptr, nullptr);  // is it written?
        run(place, options, model);
        return 0;
    } catch (const Usage& error) {
        std::fprintf(stderr,
                     "%s: %s\n"
                     "usage: RANK=r WORLD_SIZE=n %s --folder DIR [--seconds S]\n"
                     "       [--tokens N] [--heads H] [--head-dim D] [--hidden F]\n"
                     "       [--checkpoint FILE [--layer L]]\n",
                     who.c_str(),
                     error.what(),
                     argv[0]);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", who.c_str(), error.what());
        return 1;
    }
}
