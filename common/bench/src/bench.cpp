#include <wb/bench/bench.h>
#include <wb/scratch.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include <cmath>
#include <cstdio>
#include <random>

#include "kernels.h"

namespace wb::bench {
namespace {

std::vector<Registered>& registry() {
    static std::vector<Registered> all;
    return all;
}

/// The simulator's checker, where it is linked in, counts the launches until
/// end_section() under this name.
void begin_section([[maybe_unused]] const std::string& name) {
#ifdef SIMT_CPU
    simt::check::begin_section(name.c_str());
#endif
}

void end_section() {
#ifdef SIMT_CPU
    simt::check::end_section();
#endif
}

void print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);  // a crash must not take finished rows with it
}

}  // namespace

bool register_bench(Registered bench) {
    registry().push_back(std::move(bench));
    return true;
}

const std::vector<Registered>& registered_benches() {
    return registry();
}

std::vector<int64_t> Problem::sampled_indices(int64_t count, int samples) {
    std::vector<int64_t> indices;
    if (count <= samples) {
        for (int64_t i = 0; i < count; ++i)
            indices.push_back(i);
        return indices;
    }
    std::mt19937_64 random(2026);
    indices = {0, count - 1};
    while (static_cast<int>(indices.size()) < samples) {
        indices.push_back(
            static_cast<int64_t>(random() % static_cast<std::uint64_t>(count)));
    }
    return indices;
}

/// Runs once on poisoned outputs. Empty if all samples are right.
std::string Problem::first_mistake(const std::string& rung,
                                   const Launch& launch) const {
    cudaStream_t stream = bench_.timer_.stream();
    for (const Check& check : checks_)
        check.poison();
    if (restore_) restore_(stream);
    CUDA_CHECK(cudaDeviceSynchronize());
    begin_section(rung);
    launch(stream);
    CUDA_CHECK(cudaDeviceSynchronize());
    end_section();
    CUDA_CHECK(cudaGetLastError());
    for (const Check& check : checks_) {
        for (const auto& [index, expected] : check.samples) {
            const double got = check.read(index);
            // Written so that a NaN takes the branch.
            if (!(std::abs(got - expected.value) <= expected.bound)) {
                char text[160];
                std::snprintf(text,
                              sizeof text,
                              "[%lld] is %.9g, expected %.9g",
                              static_cast<long long>(index),
                              got,
                              expected.value);
                return check.name + text;
            }
        }
    }
    return "";
}

/// The checker takes up to 50 ns for an access: more work than this would take minutes.
constexpr double kMostXrayBytes = 16e6;
constexpr double kMostXrayFlop = 50e6;

/// One launch, under the name of its rung.
void Problem::run_for_xray(const std::string& rung,
                           const std::string& idea,
                           const Launch& launch) {
    const bool compute = is_compute(spec_.ceiling);
    if (bench_.xray_size_.empty()) {
        if (spec_.size.find(bench_.options_.size) == std::string::npos) return;
        const bool asked_for = !bench_.options_.size.empty();
        const double most = compute ? kMostXrayFlop : kMostXrayBytes;
        if (!asked_for && bench_.options_.sizes != Sizes::tiny && spec_.work > most)
            return;
        bench_.xray_size_ = spec_.size;
    }
    if (bench_.xray_size_ != spec_.size) return;
    bench_.sections_.push_back(
        {rung, idea, spec_.size, compute, spec_.work, first_mistake(rung, launch)});
}

/// An untimed row of this problem; prints the head of the table before the first one.
Row Problem::begin_row(const std::string& rung, const std::string& idea) {
    Row row{bench_.exercise_,
            rung,
            idea,
            spec_.size,
            spec_.cache,
            {},
            spec_.ceiling,
            spec_.work,
            0.0,
            spec_.limit,
            spec_.kernels,
            spec_.host_time};
    if (spec_.limit_us > 0.0) {
        // bytes/us -> GB/s, or FLOP/us -> TFLOP/s
        row.ceiling_value =
            spec_.work / spec_.limit_us * (is_compute(spec_.ceiling) ? 1e-6 : 1e-3);
    } else if (!bench_.simulated_ && !spec_.host_time) {
        row.ceiling_value = bench_.ceilings_.get(spec_.ceiling);
    }
    if (!head_printed_) {
        print(bench_.simulated_ ? row.exercise + "  " + row.size + "\n"
                                : problem_text(row));
    }
    head_printed_ = true;
    return row;
}

void Problem::time_reading() {
    time_traffic(Traffic::read, "plain read", "as many bytes, and nothing else");
}

void Problem::time_copying() {
    time_traffic(Traffic::copy, "plain copy", "as many bytes, in the order they have");
}

void Problem::time_traffic(Traffic kind,
                           const std::string& rung,
                           const std::string& idea) {
    if (bench_.simulated_ || !bench_.options_.xray.empty()) return;
    if (!bench_.is_asked_for(rung, spec_.size)) return;
    const double moved = kind == Traffic::copy ? spec_.work / 2 : spec_.work;
    const auto n = static_cast<int64_t>(moved / sizeof(float4));
    const Array<float> from = bench_.random_normal(n * 4);
    const Array<float> to(kind == Traffic::copy ? n * 4 : 1);
    const TrafficArrays arrays{reinterpret_cast<const float4*>(from.data()),
                               nullptr,
                               reinterpret_cast<float4*>(to.data()),
                               to.data(),
                               n};
    Row row = begin_row(rung, idea);
    row.tokens = spec_.tokens;
    for (const int unroll : {1, 2, 4}) {
        const Timing timing = bench_.timer_.measure(
            [&](cudaStream_t s) { launch_traffic(kind, unroll, arrays, s); },
            spec_.cache);
        if (unroll == 1 || timing.us.median < row.timing.us.median) row.timing = timing;
    }
    print(row_text(row));
    bench_.rows_.push_back(row);
}

void Problem::time(const std::string& rung,
                   const std::string& idea,
                   const Launch& launch) {
    if (!bench_.options_.xray.empty()) return run_for_xray(rung, idea, launch);
    if (!bench_.is_asked_for(rung, spec_.size)) return notes_.clear();
    Row row = begin_row(rung, idea);
    if (checks_.empty()) {
        throw std::logic_error(bench_.exercise_ +
                               ": a problem without expect() times anything");
    }
    CUDA_CHECK(cudaDeviceSynchronize());
    reset_scratch_peak();
    const std::uint64_t scratch_before = scratch_peak();
    const std::string mistake = first_mistake(rung, launch);
    row.notes = std::move(notes_);
    notes_.clear();
    row.tokens = spec_.tokens;
    row.scratch_bytes = static_cast<double>(scratch_peak() - scratch_before);
    if (!mistake.empty()) {
        print("  " + rung + " is WRONG, and so not timed: " + mistake + "\n");
        ++bench_.wrong_;
        return;
    }
    if (is_compute(spec_.ceiling) && !bench_.simulated_) Timer::rest();
    row.timing = spec_.host_time ? bench_.timer_.measure_host(launch)
                                 : bench_.timer_.measure(launch, spec_.cache);
    if (bench_.simulated_) {
        print("  " + rung + ": right, and not timed\n");
        return;
    }
    print(row_text(row));
    bench_.rows_.push_back(row);
}

Bench::Bench(std::string exercise,
             const Options& options,
             bool simulated,
             Timer& timer,
             Ceilings& ceilings)
    : exercise_(std::move(exercise)),
      options_(options),
      simulated_(simulated),
      timer_(timer),
      ceilings_(ceilings) {}

bool Bench::is_asked_for(const std::string& rung, const std::string& size) {
    if (size.find(options_.size) == std::string::npos) return false;
    if ((exercise_ + "/" + rung).find(options_.row) == std::string::npos) return false;
    ++asked_for_;
    return true;
}

double Bench::time_alone(const Launch& launch) {
    if (simulated_ || !options_.xray.empty()) return 0.0;
    return timer_.measure(launch, Cache::cold).us.median;
}

bool Bench::fits(double bytes) const {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    const double free_space = static_cast<double>(free_bytes);
    if (bytes <= free_space) return true;
    char text[160];
    std::snprintf(text,
                  sizeof text,
                  "\n%s: a size is left out: it needs %.2f GB, but %.2f GB are free\n",
                  exercise_.c_str(),
                  bytes * 1e-9,
                  free_space * 1e-9);
    print(text);
    return false;
}

}  // namespace wb::bench
