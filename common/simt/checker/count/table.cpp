#include "table.h"

#include <cstdio>
#include <fstream>

#include "core/fault.h"

namespace simt::check {
namespace {

using detail::format;

/// The text of a line without its indentation, at most 44 characters; "" if the file
/// cannot be read.
std::string text_of(const std::string& file, int line) {
    std::ifstream stream(file);
    std::string text;
    for (int i = 0; i < line; ++i)
        if (!std::getline(stream, text)) return "";
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return "";
    return text.substr(begin, 44);
}

double ratio(uint64_t a, uint64_t b) {
    return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::string costs_of(const LineSummary& line) {
    const Cost& c = line.cost;
    std::string text;
    if (line.space == Space::global)
        text = format("%8.2f %5.2f %4.0f%%",
                      ratio(c.sectors, c.requests),
                      ratio(c.ideal_sectors, c.requests),
                      100 * ratio(c.ideal_sectors, c.sectors));
    else
        text = format("%8s %5s %5s", "-", "-", "-");
    if (line.what == What::atomic)
        return text + format("  1 address: %2u", c.max_same_address);
    if (line.space == Space::shared)
        return text + format("  %4.1f (max %2u)",
                             ratio(c.wavefronts, c.ideal_wavefronts),
                             c.max_ways);
    if (line.space == Space::constant)
        return text + format("  words: %4.1f ", ratio(c.wavefronts, c.requests));
    return text + "              -";
}

}  // namespace

std::string table_of(const KernelSummary& summary) {
    const Kernel& k = *summary.kernel;
    std::string table = format(
        "\n%s%s%s: %llu %s, %llu bytes moved, %llu needed\n",
        k.name.c_str(),
        k.section.empty() ? "" : " in ",
        k.section.c_str(),
        static_cast<unsigned long long>(k.launches),
        k.launches == 1 ? "launch" : "launches",
        static_cast<unsigned long long>(summary.totals.bytes_moved),
        static_cast<unsigned long long>(k.bytes_touched + k.bytes_touched_written));
    table += format("%5s  %-19s %9s %5s %8s %5s %5s %14s  source\n",
                    "line",
                    "access",
                    "requests",
                    "lanes",
                    "sect/req",
                    "ideal",
                    "eff.",
                    "bank ways");
    for (const LineSummary& line : summary.lines)
        table += format("%5d  %-6s %-8s %3u %9llu %5.1f %s  %s\n",
                        line.line,
                        name_of(line.what),
                        name_of(line.space),
                        line.bytes * 8,
                        static_cast<unsigned long long>(line.cost.requests),
                        ratio(line.cost.lanes, line.cost.requests),
                        costs_of(line).c_str(),
                        text_of(line.file, line.line).c_str());
    for (const BranchSummary& b : summary.branches)
        if (b.lanes < b.executions * 31)
            table += format("%5d  divergence: %.1f lanes of 32 go through  %s\n",
                            b.line,
                            ratio(b.lanes, b.executions),
                            text_of(b.file, b.line).c_str());
    return table;
}

}  // namespace simt::check
