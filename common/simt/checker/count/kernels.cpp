#include "kernels.h"

#include <algorithm>
#include <cstdlib>

#include "checker/findings.h"
#include "checker/kernel_name.h"
#include "request.h"

namespace simt::check {
namespace {

// Never destroyed: reports are written while the program exits.
auto& g_kernels = *new std::deque<Kernel>;

bool is_wanted(const std::string& name) {
    static const char* const part = std::getenv("SIMT_CHECK_KERNEL");
    return !part || name.find(part) != std::string::npos;
}

void add_global(Cost& cost, const Request& request, Touched* read, Touched* written) {
    const Sectors sectors = sectors_of(request);
    cost.sectors += sectors.count;
    cost.ideal_sectors += sectors.ideal;
    for (unsigned i = 0; i < sectors.count; ++i) {
        if (read) read->add(sectors.number[i]);
        if (written) written->add(sectors.number[i]);
    }
}

void add_shared(Cost& cost, const Request& request) {
    const Wavefronts waves = wavefronts_of(request);
    cost.wavefronts += waves.count;
    cost.ideal_wavefronts += waves.ideal;
    cost.max_ways = std::max(cost.max_ways, waves.ways);
}

void add_atomic(Cost& cost, const Request& request, bool shared) {
    const Contention contention = contention_of(request, shared);
    cost.wavefronts += contention.steps;
    cost.ideal_wavefronts += 1;
    cost.max_same_address = std::max(cost.max_same_address, contention.same_address);
    if (shared) cost.max_ways = std::max(cost.max_ways, contention.steps);
}

}  // namespace

void Cost::add(const Cost& other) {
    requests += other.requests;
    lanes += other.lanes;
    sectors += other.sectors;
    ideal_sectors += other.ideal_sectors;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    max_ways = std::max(max_ways, other.max_ways);
    max_same_address = std::max(max_same_address, other.max_same_address);
}

Cost& Kernel::cost_at(uint32_t point) {
    if (point >= row_of_.size()) row_of_.resize(orders().size());
    uint32_t& row = row_of_[point];
    if (row == 0) {
        rows_.push_back({point, {}});
        row = static_cast<uint32_t>(rows_.size());
    }
    return rows_[row - 1].cost;
}

void Kernel::count(uint32_t number, uint32_t lanes, const Event* events) {
    Cost& cost = cost_at(number);
    cost.requests += 1;
    cost.lanes += static_cast<unsigned>(__builtin_popcount(lanes));
    const Point& p = point(number);
    if (p.what == What::block) return;
    Request request;
    request.lanes = lanes;
    request.bytes = p.bytes;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        request.address[l] = address_in(events[l]);
    }
    const bool atomic = p.what == What::atomic;
    const bool write = atomic || p.what == What::store;
    switch (p.space) {
        case Space::global:
            add_global(cost,
                       request,
                       p.what == What::store ? nullptr : &read_,
                       write ? &written_ : nullptr);
            if (atomic) add_atomic(cost, request, false);
            break;
        case Space::shared:
            if (atomic)
                add_atomic(cost, request, true);
            else
                add_shared(cost, request);
            break;
        case Space::constant:
            cost.wavefronts += words_of(request);
            cost.ideal_wavefronts += 1;
            break;
    }
}

void Kernel::count_barrier(const char* op, const char* file, int line) {
    ++barriers_[{op ? op : "", file ? file : "", line}];
}

void Kernel::end_launch() {
    bytes_touched += read_.count() * kSectorBytes;
    bytes_touched_written += written_.count() * kSectorBytes;
    read_.clear();
    written_.clear();
}

Kernel* kernel_of(const detail::Launch& launch) {
    const std::string& name = kernel_name(launch);
    if (!is_wanted(name)) return nullptr;
    const std::string& section = current_section();
    Kernel* kernel = nullptr;
    for (Kernel& k : g_kernels)
        if (k.name == name && k.section == section) kernel = &k;
    if (!kernel) kernel = &g_kernels.emplace_back();
    const Config& config = *launch.config;
    kernel->name = name;
    kernel->section = section;
    kernel->address = launch.body->address;
    kernel->launch_file = config.file ? config.file : "";
    kernel->launch_line = config.line;
    kernel->grid = config.grid;
    kernel->block = config.block;
    kernel->dynamic_shared = config.smem;
    kernel->launches += 1;
    kernel->warps += launch.num_blocks * ((launch.block_size + 31) / 32);
    return kernel;
}

const std::deque<Kernel>& kernels() {
    return g_kernels;
}

}  // namespace simt::check
