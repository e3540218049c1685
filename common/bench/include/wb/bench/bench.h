/// wb/bench/bench.h: what a chapter's benchmark is written with.
///
///     WB_BENCH(vector_add, bench) {
///         for (const int64_t n : bench.sizes<int64_t>({tiny}, {small}, {full})) {
///             if (!bench.fits(bytes)) continue;
///             const auto a = bench.random_normal(n);
///             const auto c = bench.output<float>(n);
///             auto problem = bench.problem({size, Ceiling::copy, bytes});
///             problem.expect("c", c, [&](int64_t i) { return Expected{…, …}; });
///             problem.time("vector_add_v1", "idea", [&](cudaStream_t s) { … });
///         }
///     }
///
/// main() is in the library. Every implementation of a problem runs on the same
/// buffers, and is timed only after its result was checked at sampled indices.
#pragma once

#include <wb/bench/array.h>
#include <wb/bench/ceilings.h>
#include <wb/bench/options.h>
#include <wb/bench/report.h>
#include <wb/bench/timer.h>
#include <wb/errors.h>
#include <wb/implementations.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace wb::bench {

enum class Traffic;  // see kernels.h, which programs of exercises do not need

/// What one problem is, whoever solves it.
struct Spec {
    std::string size;  ///< sizes in words, "n = 1048576"
    Ceiling ceiling;   ///< what bounds it
    double work;       ///< bytes that must move, or FLOP, by the contract
    Cache cache = Cache::cold;
    double tokens = 0.0;     ///< of a language model that one launch works on; 0: none
    std::string limit = "";  ///< what bounds it, if that is a time of its own: its name
    double limit_us = 0.0;   ///< and its microseconds, from Bench::time_alone()
    double kernels = 0.0;    ///< that one launch runs, if time a kernel is wanted
    bool host_time = false;  ///< time how long the call keeps the host busy
};

/// The right value of one element, and how far from it a result may be.
struct Expected {
    double value;
    double bound;
};

/// A rung that ran for --xray.
struct Section {
    std::string name;
    std::string idea;
    std::string size;
    bool compute;         ///< work counts operations, not bytes
    double work;          ///< by the contract
    std::string mistake;  ///< in its result; "" if it was right
};

class Bench;

/// One problem: its buffers are prepared, its results can be checked.
class Problem {
 public:
    static constexpr int kSamples = 64;

    Problem(Bench& bench, Spec spec) : bench_(bench), spec_(std::move(spec)) {}

    /// Declares an output, and samples its right values now, before any launch: at both
    /// ends and at random places in between, at all places of a small array.
    ///
    /// @param output    an Array, or what has size(), at() and poison() like one
    /// @param expected  gives Expected for an index; reads inputs with Array::at
    /// @param samples   how many places, at most
    template <class Output, class Function>
    void expect(const std::string& name,
                const Output& output,
                Function expected,
                int samples = kSamples) {
        Check check;
        check.name = name;
        check.poison = [&output] { output.poison(); };
        check.read = [&output](int64_t i) { return static_cast<double>(output.at(i)); };
        for (const int64_t i : sampled_indices(output.size(), samples)) {
            check.samples.push_back({i, expected(i)});
        }
        checks_.push_back(std::move(check));
    }

    /// For kernels that update an array in place: restores it, on the stream, before a
    /// result is checked. Not called between samples, which go on with what is there.
    void restore(Launch launch) { restore_ = std::move(launch); }

    /// A number that only this benchmark has, under its own key in the JSON of the next
    /// row.
    void note(const std::string& key, double value) { notes_.emplace_back(key, value); }

    /// Checks an implementation, then times it and prints its row. A wrong one is told,
    /// makes the program fail at its end, and is not timed.
    void time(const std::string& rung, const std::string& idea, const Launch& launch);

    /// Times a kernel that reads as many bytes as the contract must move, and does
    /// nothing with them: what is left to win on a problem of this size. The ceiling is
    /// measured on gigabytes, where beginning and end of a launch weigh nothing.
    void time_reading();

    /// The same for a kernel that copies: half of the bytes are read, half are written.
    void time_copying();

    /// Up to `samples` indices of [0, count): the first, the last, and random ones.
    static std::vector<int64_t> sampled_indices(int64_t count, int samples = kSamples);

 private:
    struct Sample {
        int64_t index;
        Expected expected;
    };
    struct Check {
        std::string name;
        std::function<void()> poison;
        std::function<double(int64_t)> read;
        std::vector<Sample> samples;
    };

    Row begin_row(const std::string& rung, const std::string& idea);
    std::string first_mistake(const std::string& rung, const Launch& launch) const;
    void run_for_xray(const std::string& rung,
                      const std::string& idea,
                      const Launch& launch);
    void time_traffic(Traffic kind, const std::string& rung, const std::string& idea);

    Bench& bench_;
    Spec spec_;
    std::vector<Check> checks_;
    Launch restore_;
    std::vector<std::pair<std::string, double>> notes_;
    bool head_printed_ = false;
};

/// What the benchmark of one exercise is given.
class Bench {
 public:
    /// @param timer, ceilings  outlive this
    Bench(std::string exercise,
          const Options& options,
          bool simulated,
          Timer& timer,
          Ceilings& ceilings);

    /// The sizes that the user chose with --sizes.
    ///
    /// @param xray  what --xray runs, where the first of `small` does not tell the
    ///              rungs apart; not too much work
    template <class T>
    std::vector<T> sizes(const std::vector<T>& tiny,
                         const std::vector<T>& small,
                         const std::vector<T>& full,
                         const std::vector<T>& xray = {}) const {
        if (!options_.xray.empty() && !options_.size.empty()) {  // one is asked for
            std::vector<T> all = xray;
            all.insert(all.end(), small.begin(), small.end());
            all.insert(all.end(), tiny.begin(), tiny.end());
            return all;
        }
        if (!options_.xray.empty()) {  // the first of them that is not too much work
            if (options_.sizes == Sizes::tiny) return {tiny.front()};
            if (!xray.empty()) return xray;
            return {small.front(), tiny.front()};
        }
        if (options_.sizes == Sizes::tiny) return chosen(tiny);
        if (options_.sizes == Sizes::grid) return {};
        return chosen(options_.sizes == Sizes::small ? small : full);
    }

    /// For a benchmark of a grid of shapes: all of them if that is what the user asked
    /// for, a tiny one in the simulator, none otherwise.
    template <class T>
    std::vector<T> grid(const std::vector<T>& tiny, const std::vector<T>& all) const {
        if (!options_.xray.empty()) return {};
        if (options_.sizes == Sizes::tiny) return chosen(tiny);
        return options_.sizes == Sizes::grid ? chosen(all) : std::vector<T>{};
    }

    /// Whether so much device memory is free; says so if it is not.
    bool fits(double bytes) const;

    /// Standard normal inputs, different at each call.
    Array<float> random_normal(int64_t count) {
        return bench::random_normal(count, ++seed_);
    }

    /// A poisoned output.
    template <class T>
    Array<T> output(int64_t count) const {
        return Array<T>(count);
    }

    /// The median of something that is no implementation, a part of a problem say, in
    /// microseconds; 0 where nothing is timed.
    double time_alone(const Launch& launch);

    Problem problem(Spec spec) { return Problem(*this, std::move(spec)); }

    /// What was timed so far.
    const std::vector<Row>& rows() const { return rows_; }

    /// For --xray: what each section has to do.
    const std::vector<Section>& sections() const { return sections_; }

    /// How many implementations gave a wrong result.
    int wrong() const { return wrong_; }

    /// Whether --row was given: nothing else is launched then, not to measure errors
    /// either.
    bool is_for_a_profiler() const { return !options_.row.empty(); }

    /// How many rows were asked for, by --size and --row.
    int asked_for() const { return asked_for_; }

 private:
    friend class Problem;

    /// Without those that --size leaves out, where a size can say its text already: no
    /// inputs are made for them.
    template <class T>
    std::vector<T> chosen(std::vector<T> all) const {
        if constexpr (requires(const T& size) { size.text().find(options_.size); })
            std::erase_if(all, [this](const T& size) {
                return size.text().find(options_.size) == std::string::npos;
            });
        return all;
    }

    /// Whether neither --size nor --row leaves it out; counts what is not left out.
    bool is_asked_for(const std::string& rung, const std::string& size);

    std::string exercise_;
    const Options& options_;
    bool simulated_;
    Timer& timer_;
    Ceilings& ceilings_;
    std::uint64_t seed_ = 0;
    std::vector<Row> rows_;
    std::vector<Section> sections_;
    std::string xray_size_;  ///< the one problem that --xray runs, once it is chosen
    int wrong_ = 0;
    int asked_for_ = 0;
};

/// A registered benchmark.
struct Registered {
    std::string exercise;
    void (*function)(Bench&);
};

/// Adds a benchmark; called before main() by WB_BENCH. Returns true.
bool register_bench(Registered bench);

/// All benchmarks of this program.
const std::vector<Registered>& registered_benches();

}  // namespace wb::bench

/// Defines the benchmark of an exercise; `bench` names its parameter, a Bench&.
#define WB_BENCH(exercise, bench)                                       \
    static void wb_bench_##exercise(::wb::bench::Bench& bench);         \
    [[maybe_unused]] static const bool wb_bench_registered_##exercise = \
        ::wb::bench::register_bench({#exercise, wb_bench_##exercise});  \
    static void wb_bench_##exercise(::wb::bench::Bench& bench)
