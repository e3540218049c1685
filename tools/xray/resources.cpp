#include "resources.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace xray {
namespace {

constexpr int kWarpSize = 32;
constexpr int kRegisterUnit = 256;  // registers are given to a warp in such portions
constexpr int kWarpUnit = 4;        // one for each of the four schedulers
constexpr int kSharedUnit = 128;

std::string demangled(const std::string& symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    const std::string name = status == 0 ? text : symbol;
    std::free(text);
    return name;
}

/// What stands between two texts in a line; "" if one is missing.
std::string between(const std::string& line, const char* before, char after) {
    const std::size_t start = line.find(before);
    if (start == std::string::npos) return "";
    const std::size_t from = start + std::string(before).size();
    const std::size_t to = line.find(after, from);
    return to == std::string::npos ? "" : line.substr(from, to - from);
}

/// The number that stands before a text in a line; 0 if there is none.
int number_before(const std::string& line, const std::string& text) {
    const std::size_t at = line.find(text);
    if (at == std::string::npos) return 0;
    std::size_t start = at;
    while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9')
        --start;
    return start == at ? 0 : std::atoi(line.c_str() + start);
}

int rounded_up(int value, int unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace

std::vector<Resources> parse_ptxas(const std::string& text) {
    std::vector<Resources> found;
    std::istringstream stream(text);
    bool in_kernel = false;
    for (std::string line; std::getline(stream, line);) {
        const std::string entry = between(line, "Compiling entry function '", '\'');
        if (!entry.empty()) {
            found.push_back({demangled(entry)});
            in_kernel = true;
        } else if (line.find("Function properties for ") != std::string::npos) {
            // A function that is called, not inlined, has lines of its own.
            const std::string name = line.substr(line.find("for ") + 4);
            in_kernel = !found.empty() && demangled(name) == found.back().kernel;
        } else if (found.empty()) {
            continue;
        } else if (line.find(" registers") != std::string::npos) {
            found.back().registers = number_before(line, " registers");
            found.back().shared = number_before(line, " bytes smem");
        } else if (in_kernel && line.find("bytes stack frame") != std::string::npos) {
            found.back().stack = number_before(line, " bytes stack frame");
            found.back().spill_stores = number_before(line, " bytes spill stores");
            found.back().spill_loads = number_before(line, " bytes spill loads");
        }
    }
    return found;
}

std::vector<Resources> read_ptxas(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::ostringstream text;
    text << file.rdbuf();
    return parse_ptxas(text.str());
}

Occupancy occupancy(const Resources& resources,
                    int threads_per_block,
                    double dynamic_shared,
                    const Gpu& gpu) {
    const int warps = std::max(1, rounded_up(threads_per_block, kWarpSize) / kWarpSize);
    Occupancy result{gpu.max_warps / warps, 0, 0.0, "warps"};
    const auto limit = [&](int blocks, const char* what) {
        if (blocks >= result.blocks) return;
        result.blocks = blocks;
        result.limit = what;
    };
    limit(gpu.max_blocks, "blocks");
    if (resources.registers > 0) {
        const int warp = rounded_up(resources.registers * kWarpSize, kRegisterUnit);
        limit(gpu.registers / warp / kWarpUnit * kWarpUnit / warps, "registers");
    }
    const int asked = resources.shared + static_cast<int>(dynamic_shared);
    const int shared = rounded_up(asked + gpu.shared_reserved, kSharedUnit);
    if (shared > 0) limit(gpu.shared_bytes / shared, "shared memory");
    result.warps = result.blocks * warps;
    result.fraction = gpu.max_warps > 0 ? double(result.warps) / gpu.max_warps : 0.0;
    return result;
}

}  // namespace xray
