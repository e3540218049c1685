#include "large_launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/fault.h"
#include "core/pool.h"
#include "kernel_name.h"

namespace simt::check {
namespace {

// A launch is judged after so many seconds, and named if it will take so many more.
constexpr double kPatience = 3;
constexpr double kTooLong = 10;

double g_begin = 0;
uint64_t g_blocks = 0;
uint64_t g_barriers = 0;
bool g_told = false;

}  // namespace

void note_launch_begins(const detail::Launch&) {
    g_begin = detail::now();
    g_blocks = g_barriers = 0;
    g_told = false;
}

void note_block_synchronised(const detail::Worker& worker) {
    // The clock is not free.
    if (g_told || g_blocks != 0 || ++g_barriers % 256 != 0) return;
    const double spent = detail::now() - g_begin;
    if (spent < kTooLong) return;
    g_told = true;
    const detail::Launch& launch = *worker.launch;
    std::fprintf(
        stderr,
        "==SIMT== note: kernel %s (launched at %s) is large for --check: after "
        "%.0f s its first block of\n    %llu has not ended. Mistakes show at "
        "small sizes, too: let a block do less.\n",
        kernel_name(launch).c_str(),
        detail::place(launch.config->file, launch.config->line).c_str(),
        spent,
        static_cast<unsigned long long>(launch.num_blocks));
}

void note_block_ends(const detail::Worker& worker) {
    ++g_blocks;
    if (g_told) return;
    const double spent = detail::now() - g_begin;
    if (spent < kPatience) return;
    const detail::Launch& launch = *worker.launch;
    // All blocks of a cooperative launch have begun before the first one ends.
    const uint64_t begun = std::min<uint64_t>(
        launch.next_block.load() * launch.cluster_size, launch.num_blocks);
    const double total = spent / static_cast<double>(std::max(g_blocks, begun)) *
                         static_cast<double>(launch.num_blocks);
    g_told = true;
    if (total - spent < kTooLong) return;
    const auto fits = static_cast<unsigned long long>(static_cast<double>(g_blocks) *
                                                      kTooLong / spent);
    std::fprintf(
        stderr,
        "==SIMT== note: kernel %s (%llu blocks of %u threads, launched at %s) is large "
        "for --check:\n    this launch will take about %.0f s. Mistakes show at small "
        "sizes, too: about %llu blocks take %.0f s.\n",
        kernel_name(launch).c_str(),
        static_cast<unsigned long long>(launch.num_blocks),
        launch.block_size,
        detail::place(launch.config->file, launch.config->line).c_str(),
        total,
        fits ? fits : 1,
        fits ? kTooLong : spent / static_cast<double>(g_blocks));
}

}  // namespace simt::check
