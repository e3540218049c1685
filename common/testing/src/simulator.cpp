#include <cuda_runtime.h>
#include <wb/check.h>
#include <wb/testing/simulator.h>
#ifdef SIMT_CPU
#include <simt/check.h>
#include <simt/finding.h>
#include <simt/options.h>
#include <simt/streams.h>
#endif

#include <wb/testing/verdict.h>

#include <sstream>

#ifndef SIMT_CPU
#include "pretended_gpu.h"
#endif
#include "settings.h"
#include "told.h"

namespace wb::testing {

#ifdef SIMT_CPU
namespace {

Place place_of(const simt::FindingPlace& found, const std::string& kernel) {
    Place place{found.role, found.file, found.line};
    place.kernel = kernel;
    if (found.has_thread) {
        place.block.assign(found.block, found.block + 3);
        place.thread.assign(found.thread, found.thread + 3);
    }
    return place;
}

/// What the simulator and its checker find is part of the verdict. The words are
/// theirs: they have printed them already.
void add_to_verdict(const simt::Finding& found) {
    Finding finding{found.kind, found.detail};
    for (const simt::FindingPlace& place : found.places)
        finding.places.push_back(place_of(place, found.kernel));
    finding.advice = found.advice;
    finding.lesson = found.lesson;
    if (found.number != simt::Finding::kNoNumber)
        finding.number = static_cast<std::int64_t>(found.number);
    std::istringstream lines(found.text);
    for (std::string line; std::getline(lines, line);)
        finding.text.push_back(line);
    if (!finding.text.empty()) finding.what = finding.text.front();
    Verdict::instance().add(std::move(finding));
    fault_is_told = true;
}

// Before the program's static objects, which may launch kernels.
[[gnu::constructor(101)]] void listen() {
    simt::on_finding(add_to_verdict);
}

}  // namespace
#endif

WantedFindings::WantedFindings() {
#ifdef SIMT_CPU
    simt::on_finding(nullptr);
#endif
}

WantedFindings::~WantedFindings() {
#ifdef SIMT_CPU
    simt::on_finding(add_to_verdict);
#endif
}

std::uint64_t times_found([[maybe_unused]] std::int64_t number) {
#ifdef SIMT_CPU
    return simt::check::finding(static_cast<std::size_t>(number)).count;
#else
    return 1;
#endif
}

bool runs_checked() {
#ifdef SIMT_CPU
    return simt::check::active();
#else
    return false;
#endif
}

void prepare_simulator() {
#ifdef SIMT_CPU
    // What the program was started with wins, so that a learner can try other settings.
    if (!is_given("SIMT_TIGHT")) simt::set_tight(true);
    if (!is_given("SIMT_STRICT_EXIT")) simt::set_strict(true);
    if (!is_given("SIMT_TIME_LIMIT")) simt::set_time_limit(10);
#endif
}

void shuffle_threads([[maybe_unused]] unsigned seed) {
#ifdef SIMT_CPU
    simt::set_seed(seed);
#endif
}

namespace {
bool order_is_chosen = false;
}

StreamOrder::StreamOrder([[maybe_unused]] unsigned seed) {
#ifdef SIMT_CPU
    simt::set_stream_seed(seed);
    order_is_chosen = seed != 0;
#endif
}

StreamOrder::~StreamOrder() {
#ifdef SIMT_CPU
    simt::set_stream_seed(0);
    order_is_chosen = false;
#endif
}

bool StreamOrder::is_chosen() {
    return order_is_chosen;
}

unsigned StreamOrder::longest_chain() {
#ifdef SIMT_CPU
    return simt::longest_chain();
#else
    return 0;
#endif
}

unsigned StreamOrder::chain_links() {
#ifdef SIMT_CPU
    return simt::chain_links();
#else
    return 0;
#endif
}

FewMultiprocessors::FewMultiprocessors(int count) {
#ifdef SIMT_CPU
    simt::set_multiprocessors(count);
#else
    PretendedGpu::instance().multiprocessors = count;
#endif
}

FewMultiprocessors::~FewMultiprocessors() {
#ifdef SIMT_CPU
    simt::set_multiprocessors(0);
#else
    PretendedGpu::instance().multiprocessors = 0;
#endif
}

int FewMultiprocessors::count() {
    int device = 0;
    int count = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}

FewBlocks::FewBlocks([[maybe_unused]] unsigned resident,
                     [[maybe_unused]] bool last_first) {
#ifdef SIMT_CPU
    simt::set_resident_blocks(resident);
    simt::set_backwards(last_first);
#endif
}

FewBlocks::~FewBlocks() {
#ifdef SIMT_CPU
    simt::set_resident_blocks(0);
    simt::set_backwards(false);
#endif
}

OlderGpu::OlderGpu(int compute_capability) {
#ifdef SIMT_CPU
    simt::set_compute_capability(compute_capability);
#else
    PretendedGpu::instance().compute_capability = compute_capability;
#endif
}

OlderGpu::~OlderGpu() {
#ifdef SIMT_CPU
    simt::set_compute_capability(0);
#else
    PretendedGpu::instance().compute_capability = 0;
#endif
}

LittleSharedMemory::LittleSharedMemory(int bytes) {
#ifdef SIMT_CPU
    simt::set_shared_per_block(static_cast<std::size_t>(bytes));
#else
    PretendedGpu::instance().shared_bytes = bytes;
#endif
}

LittleSharedMemory::~LittleSharedMemory() {
#ifdef SIMT_CPU
    simt::set_shared_per_block(0);
#else
    PretendedGpu::instance().shared_bytes = 0;
#endif
}

SmallCache::SmallCache(std::size_t bytes) {
#ifdef SIMT_CPU
    simt::set_l2_bytes(bytes);
#else
    PretendedGpu::instance().l2_bytes = static_cast<int>(bytes);
#endif
}

SmallCache::~SmallCache() {
#ifdef SIMT_CPU
    simt::set_l2_bytes(0);
#else
    PretendedGpu::instance().l2_bytes = 0;
#endif
}

unsigned long graphs_instantiated() {
#ifdef SIMT_CPU
    return simt::issue_counters().instantiations;
#else
    return 0;
#endif
}

}  // namespace wb::testing
