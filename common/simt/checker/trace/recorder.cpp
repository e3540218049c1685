// Collects the steps of the block that is recorded while it runs.

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <unordered_map>

#include "checker/count/request.h"
#include "checker/findings.h"
#include "checker/kernel_name.h"
#include "core/cluster.h"
#include "core/memory.h"
#include "document.h"
#include "trace.h"

namespace simt::check {

bool tracing = [] {
    const char* file = std::getenv("SIMT_TRACE");
    return file && *file;
}();

namespace {

// What is kept in memory before loops are folded.
constexpr size_t kMostSteps = 500'000;

/// When the events of a lane's trace happened, in the order of the trace.
struct Times {
    std::vector<uint32_t> of_event;
    size_t used = 0;  // by replay()
};

struct Recorder {
    const detail::Block* block = nullptr;
    const detail::Launch* launch = nullptr;
    uint32_t clock = 0;
    std::vector<Times> lanes;
    std::vector<uint32_t> last_time;  // of each warp's last step
    Document document;
    std::map<Pattern, uint32_t> patterns;
    std::map<std::pair<std::string, int>, uint32_t> places;
    std::unordered_map<uint32_t, uint32_t> place_of_point;
    std::unordered_map<uint32_t, int> findings;  // by time
    std::set<std::string> kernels;               // that were launched
};

Recorder& recorder() {
    static auto& instance = *new Recorder;
    return instance;
}

/// The block that SIMT_TRACE_BLOCK names, "x,y,z" or "x".
const uint3& wanted_block() {
    static const uint3 wanted = [] {
        uint3 index{};
        if (const char* text = std::getenv("SIMT_TRACE_BLOCK"))
            std::sscanf(text, "%u,%u,%u", &index.x, &index.y, &index.z);
        return index;
    }();
    return wanted;
}

bool is_wanted(const char* variable, const std::string& name) {
    const char* const part = std::getenv(variable);
    return !part || name.find(part) != std::string::npos;
}

uint32_t number_of(Recorder& r, const Place& place) {
    const auto [it, fresh] = r.places.try_emplace(
        {place.file, place.line}, static_cast<uint32_t>(r.document.places.size()));
    if (fresh) r.document.places.push_back(place);
    return it->second;
}

uint32_t number_of(Recorder& r, Pattern pattern) {
    const auto [it, fresh] = r.patterns.try_emplace(
        pattern, static_cast<uint32_t>(r.document.trace.patterns.size()));
    if (fresh) r.document.trace.patterns.push_back(std::move(pattern));
    return it->second;
}

uint32_t place_of_point(Recorder& r, uint32_t number) {
    const auto [it, fresh] = r.place_of_point.try_emplace(number);
    if (fresh) {
        const Point& p = point(number);
        Place place =
            p.what == What::block ? user_place_of(p.pc, nullptr) : site(p.site).place;
        // Inside of a wrapper is where nobody is.
        if (p.what == What::block && is_wrapper(place.file)) place = {};
        it->second = number_of(r, place);
    }
    return it->second;
}

Doing doing_of(What what) {
    switch (what) {
        case What::block:
            return Doing::at;
        case What::load:
            return Doing::load;
        case What::store:
            return Doing::store;
        case What::atomic:
            return Doing::atomic;
        case What::async:
            return Doing::copy;
        case What::landed:
            return Doing::landed;
        case What::release:
            return Doing::release;
        case What::acquire:
            break;
    }
    return Doing::acquire;
}

/// What the memory system does for the step.
void add_cost(Step& step, const Request& request) {
    if (step.doing == Doing::atomic) {
        step.cost = contention_of(request, step.space == Space::shared).steps;
        step.ideal = 1;
    } else if (step.space == Space::shared) {
        const Wavefronts waves = wavefronts_of(request);
        step.cost = waves.count;
        step.ideal = waves.ideal;
    } else if (step.space == Space::global) {
        const Sectors sectors = sectors_of(request);
        step.cost = sectors.count;
        step.ideal = sectors.ideal;
    } else {
        step.cost = words_of(request);
        step.ideal = 1;
    }
}

/// The other block of the cluster in whose shared memory the address lies, or null.
const detail::Block* neighbour_with(const Recorder& r, const char* p) {
    return r.block->cluster ? r.block->cluster->owner_of(p) : nullptr;
}

/// Where the address lies: its offset in shared memory or its allocation.
void locate(const Recorder& r, Step& step, uintptr_t address) {
    const auto* p = reinterpret_cast<const char*>(address);
    const detail::SharedArena& arena = r.block->shared;
    detail::Allocation allocation;
    if (p >= arena.begin && p < arena.end) {
        step.space = Space::shared;
        step.base = p - arena.begin;
    } else if (const detail::Block* other = neighbour_with(r, p)) {
        step.space = Space::shared;
        step.object = 1 + static_cast<int>(other->cluster_rank);
        step.base = p - other->shared.begin;
    } else if (detail::find_allocation(p, &allocation)) {
        step.object = allocation.id;
        step.base = p - allocation.begin;
    }
}

void add(Recorder& r, const Step& step) {
    r.document.trace.steps.push_back(step);
}

/// A step of the block, or of a warp that replay() has not found.
Step step_now(Recorder& r, int warp, Doing doing, const Place& place) {
    Step step;
    step.time = ++r.clock;
    step.warp = warp;
    step.doing = doing;
    step.place = number_of(r, place);
    return step;
}

[[noreturn]] void write_and_end(Recorder& r) {
    const char* most = std::getenv("SIMT_TRACE_STEPS");
    const long steps = most ? std::atol(most) : 0;
    r.document.left_out =
        tidy(r.document.trace, steps > 0 ? static_cast<size_t>(steps) : 20'000);
    for (const detail::SharedVariable& v : r.block->shared.variables)
        r.document.variables.push_back({v.key ? v.name : "",
                                        v.begin - r.block->shared.begin,
                                        v.size,
                                        {v.file ? v.file : "", v.line}});
    write_document(r.document, std::getenv("SIMT_TRACE"));
    std::fflush(nullptr);
    _exit(0);
}

/// If no block was recorded: which kernels there were.
void say_nothing_was_recorded() {
    std::fputs("==SIMT== no block was recorded; these kernels ran:\n", stderr);
    for (const std::string& name : recorder().kernels)
        std::fprintf(stderr, "    %s\n", name.c_str());
}

}  // namespace

void trace_launch_begins(const detail::Launch& launch) {
    Recorder& r = recorder();
    if (r.kernels.empty()) std::atexit(say_nothing_was_recorded);
    const dim3 grid = launch.config->grid;
    char shape[64];
    std::snprintf(shape, sizeof shape, ", %u x %u x %u blocks", grid.x, grid.y, grid.z);
    r.kernels.insert(kernel_name(launch) + shape);
    const bool wanted = is_wanted("SIMT_CHECK_KERNEL", kernel_name(launch)) &&
                        is_wanted("SIMT_TRACE_SECTION", current_section());
    r.launch = wanted ? &launch : nullptr;
}

void trace_launch_ends() {
    Recorder& r = recorder();
    r.launch = nullptr;
    if (!r.block) return;
    r.document.end = End::fault;
    write_and_end(r);
}

void trace_block_begins(const detail::Block& block) {
    Recorder& r = recorder();
    const uint3& wanted = wanted_block();
    if (!r.launch || r.block || block.index.x != wanted.x ||
        block.index.y != wanted.y || block.index.z != wanted.z)
        return;
    r.block = &block;
    r.lanes.resize((block.size + 31) / 32 * 32);
    r.last_time.resize(r.lanes.size() / 32);
    number_of(r, Place{});
    number_of(r, Pattern{0, 0});
    const Config& config = *r.launch->config;
    Document& d = r.document;
    d.kernel = kernel_name(*r.launch);
    d.seed = r.launch->seed;
    d.grid = config.grid;
    d.block = config.block;
    d.cluster_size = static_cast<unsigned>(r.launch->cluster_size);
    d.index = block.index;
    d.launched = {config.file ? config.file : "", config.line};
}

void trace_block_ends(const detail::Block& block) {
    if (recorder().block == &block) write_and_end(recorder());
}

void trace_stops() {
    recorder().document.end = End::limit;
    write_and_end(recorder());
}

bool is_traced(const detail::Block& block) {
    const Recorder& r = recorder();
    return r.block == &block && r.document.trace.steps.size() < kMostSteps;
}

void trace_event(uint32_t rank) {
    Recorder& r = recorder();
    r.lanes[rank].of_event.push_back(++r.clock);
}

void trace_step(unsigned warp, uint32_t number, uint32_t lanes, const Event* events) {
    Recorder& r = recorder();
    const Point& p = point(number);
    Step step;
    step.warp = static_cast<int>(warp);
    step.doing = doing_of(p.what);
    step.space = p.space;
    step.bytes = p.bytes;
    step.place = place_of_point(r, number);
    step.time = r.last_time[warp];
    Request request;
    request.lanes = lanes;
    request.bytes = p.bytes;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto l = static_cast<unsigned>(__builtin_ctz(rest));
        request.address[l] = address_in(events[l]);
        Times& times = r.lanes[warp * 32 + l];
        // The warp is through when its last lane is.
        const uint32_t time = times.of_event[times.used++];
        step.time = std::max(step.time, time);
        if (const auto found = r.findings.find(time); found != r.findings.end())
            step.finding = found->second;
    }
    r.last_time[warp] = step.time;
    if (step.place == 0) return;  // the simulator's own
    const bool has_address = p.what != What::block;
    step.pattern =
        number_of(r, pattern_of(lanes, has_address ? request.address : nullptr));
    if (has_address) locate(r, step, request.address[__builtin_ctz(lanes)]);
    if (has_address && step.doing <= Doing::copy) add_cost(step, request);
    add(r, step);
}

void trace_barrier(const detail::Block& block,
                   const char* op,
                   const char* file,
                   int line) {
    Recorder& r = recorder();
    r.document.barrier_names.insert(op ? op : "");
    Step step = step_now(r, kNobody, Doing::barrier, {file ? file : "", line});
    uint32_t alive = 0;
    for (size_t w = 0; w < block.warps.size(); ++w)
        alive |= uint32_t{block.warps[w].alive != 0} << w;
    step.pattern = number_of(r, Pattern{alive, 0});
    add(r, step);
}

void trace_warp_op(const detail::Block&,
                   unsigned warp,
                   uint32_t lanes,
                   const Place& place) {
    Recorder& r = recorder();
    Step step = step_now(r, static_cast<int>(warp), Doing::warp_op, place);
    step.pattern = number_of(r, Pattern{lanes, 0});
    add(r, step);
}

void trace_tile(const detail::Worker& worker,
                const void* to,
                size_t bytes,
                bool begins,
                const Place& place) {
    Recorder& r = recorder();
    const int warp = begins ? static_cast<int>(worker.thread->rank / 32) : kNobody;
    const Doing doing = begins ? Doing::tile : Doing::tile_landed;
    Step step = step_now(r, warp, doing, place);
    locate(r, step, reinterpret_cast<uintptr_t>(to));
    step.bytes = static_cast<uint32_t>(bytes);
    if (begins)
        step.pattern = number_of(r, Pattern{1u << (worker.thread->rank & 31), 0});
    add(r, step);
}

void trace_product(const detail::Worker& worker,
                   detail::TensorType,
                   uint64_t operations,
                   const Place& place) {
    Recorder& r = recorder();
    Step step =
        step_now(r, static_cast<int>(worker.thread->rank / 32), Doing::product, place);
    step.pattern = number_of(r, Pattern{~uint32_t{0}, 0});
    step.base = static_cast<int64_t>(operations);
    add(r, step);
}

void trace_finding(size_t number) {
    Recorder& r = recorder();
    if (r.block) r.findings[r.clock + 1] = static_cast<int>(number);
}

}  // namespace simt::check
