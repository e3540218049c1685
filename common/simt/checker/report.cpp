#include "report.h"

#include <cstdarg>
#include <cstdio>
#include <fstream>

#include "advice.h"
#include "core/fault.h"
#include "core/finding.h"
#include "core/memory.h"
#include "core/options.h"
#include "kernel_name.h"
#include "order.h"
#include "past_launches.h"
#include "state.h"

namespace simt::check {

using detail::Allocation;
using detail::format;
using detail::Launch;
using detail::SharedVariable;
using detail::triple;
using detail::Worker;

namespace {

constexpr size_t kLongestQuote = 88;

std::string short_place(const Place& p) {
    return p.line == 0 ? "a line that is not known"
                       : detail::place(p.file.c_str(), p.line);
}

/// The line of the source, without its indentation.
std::string quote(const Place& p) {
    std::ifstream file(p.file);
    std::string line;
    for (int i = 0; i < p.line; ++i)
        if (!std::getline(file, line)) return "";
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.size() > kLongestQuote) line = line.substr(0, kLongestQuote) + "...";
    return line;
}

/// "block (0,0,0) thread (1,0,0) has read at dot.cu:86:" and the line.
std::string act(const Who& who, const std::string& verb, const Place& p) {
    std::string text = "    block " + triple(who.block) + " thread " +
                       triple(who.thread) + " " + verb + " " + short_place(p) + "\n";
    const std::string line = quote(p);
    if (!line.empty()) text += "        " + line + "\n";
    return text;
}

std::string closing(const Finding& f, const Launch* launch) {
    std::string text;
    if (!f.fix.empty()) text += "    Usual fix: " + f.fix + ".\n";
    if (!f.lesson.empty()) text += "    Explained in " + f.lesson + ".\n";
    if (launch) {
        text +=
            format("    Kernel %s, launched at %s.",
                   kernel_name(*launch).c_str(),
                   detail::place(launch->config->file, launch->config->line).c_str());
        if (launch->seed != 0)
            text += format(" Repeat with SIMT_SEED=%llu.",
                           static_cast<unsigned long long>(launch->seed));
        text += "\n";
    }
    return text;
}

/// Completes a finding whose text so far is its head and its acts.
Finding finish(Finding f, const Scene& scene, Detail detail, const std::string& body) {
    f.detail = detail;
    f.fix = advice(f.kind, detail);
    f.lesson = detail::lesson_of(f.kind, detail_name(detail));
    if (scene.launch) {
        f.kernel = kernel_name(*scene.launch);
        f.launched = {scene.launch->config->file, scene.launch->config->line};
    }
    f.who = scene.who;
    f.has_thread = scene.launch && scene.has_thread;
    f.text = "==SIMT== " + body + closing(f, scene.launch);
    return f;
}

std::string name_of_shared(const SharedVariable& v) {
    if (!v.key) return format("dynamic shared memory (%zu bytes)", v.size);
    return format("shared `%s` (%zu bytes, declared at %s)",
                  v.name,
                  v.size,
                  detail::place(v.file, v.line).c_str());
}

/// " of block (1,0,0)", if it is not the running one.
std::string of_block(const Access& access) {
    return access.home ? " of block " + triple(access.home->index) : "";
}

const char* kind_of(const Allocation& a) {
    switch (a.kind) {
        case detail::MemoryKind::managed:
            return "managed";
        case detail::MemoryKind::pinned:
            return "pinned host";
        case detail::MemoryKind::registered:
            return "registered host";
        default:
            return "device";
    }
}

/// "argument 2, device allocation #3 (4096 bytes)".
Named name_of_global(const Launch* launch, const char* p) {
    Allocation a;
    if (!detail::find_allocation(p, &a)) return {"a __device__ variable", 0};
    Named named{format("%s allocation #%d (%zu bytes)", kind_of(a), a.id, a.size),
                p - a.begin};
    if (!launch) return named;
    const char* best = nullptr;
    size_t number = 0;
    for (size_t i = 0; i < launch->body->pointer_count; ++i) {
        const auto* argument = static_cast<const char*>(launch->body->pointers[i]);
        if (!argument || argument < a.begin || argument >= a.begin + a.size) continue;
        if (argument > p || (best && argument <= best)) continue;
        best = argument;
        number = i + 1;
    }
    if (best) {
        named.name = format("argument %zu, ", number) + named.name;
        named.byte = p - best;
    }
    return named;
}

const char* space_name(Space space) {
    switch (space) {
        case Space::shared:
            return "shared";
        case Space::constant:
            return "static";
        default:
            return "global";
    }
}

/// Why a launch and the one before it are not ordered.
std::string early_text() {
    return format(
        "    The launch before, of %s at %s, may still run: this one has the "
        "attribute\n"
        "    programmatic stream serialization, and its block has not called "
        "cudaGridDependencySynchronize().\n",
        kernel_name(launch_before.name, launch_before.address).c_str(),
        detail::place(launch_before.file, launch_before.line).c_str());
}

std::string beside_text(Record old) {
    const LaunchBefore& other = past_launch(launch_order.beside_of(old)->number).what;
    return format(
        "    The other launch, of %s at %s, is in another stream, and nothing orders\n"
        "    the two: on a GPU they may run at the same time.\n",
        kernel_name(other.name, other.address).c_str(),
        detail::place(other.file, other.line).c_str());
}

/// Why an atomic operation does not order them.
std::string unfenced_text(const Scene& scene, bool same_block, bool released) {
    const uint32_t site = state_of(*scene.block).order.asked_site;
    const std::string at = short_place(check::site(site).place);
    const char* const why =
        released ? "has seen that the write was\n    done, but by itself it acquires "
                   "nothing, and no fence stands behind it."
                 : "is relaxed: it tells only of\n    what a fence before it covers, "
                   "and none covers the write.";
    return format("    Nothing orders the two %s. The atomic operation at %s %s\n",
                  same_block ? "threads" : "blocks",
                  at.c_str(),
                  why);
}

/// Why an atomic operation tells the other block nothing.
std::string narrow_text(const Scene& scene) {
    const Site& asked = check::site(state_of(*scene.block).order.asked_site);
    return format(
        "    Nothing orders the two blocks. The scope of the atomic operation at %s\n"
        "    is its block: it tells other blocks nothing.\n",
        short_place(asked.place).c_str());
}

/// Why two atomic operations do not exclude each other.
std::string scopes_text(bool now_narrow, bool old_narrow) {
    return format(
        "    They are not atomic to each other: the scope of %s is the block, and the\n"
        "    blocks differ.\n",
        !old_narrow   ? "the first"
        : !now_narrow ? "the second"
                      : "both");
}

/// The scene's thread, counted as the block counts them.
uint32_t rank_of(const Scene& scene) {
    const uint3 t = scene.who.thread;
    const dim3& size = scene.launch->config->block;
    return t.x + size.x * (t.y + size.y * t.z);
}

FindingKey key(Kind kind, const Place& a, const Place& b, uint64_t detail) {
    const std::hash<std::string> hash;
    return {kind,
            hash(a.file) + static_cast<uint64_t>(a.line),
            hash(b.file) + static_cast<uint64_t>(b.line),
            detail};
}

}  // namespace

Scene scene_of(const Worker& worker) {
    if (!worker.thread) return {nullptr, {}};
    return {
        worker.launch, {worker.block->index, worker.thread->index}, true, worker.block};
}

Who who_is(const Launch& launch, uint64_t block, uint32_t rank) {
    return who_is(launch.config->grid, launch.config->block, block, rank);
}

Who who_is(const dim3& grid, const dim3& size, uint64_t block, uint32_t rank) {
    return {{static_cast<unsigned>(block % grid.x),
             static_cast<unsigned>(block / grid.x % grid.y),
             static_cast<unsigned>(block / grid.x / grid.y)},
            {rank % size.x, rank / size.x % size.y, rank / size.x / size.y}};
}

Named name_of(const Scene& scene, const Access& access) {
    if (access.space != Space::shared || !scene.block)
        return name_of_global(scene.launch, access.address);
    const detail::Block& home = access.home ? *access.home : *scene.block;
    for (const SharedVariable& v : home.shared.variables)
        if (access.address >= v.begin && access.address < v.begin + v.size)
            return {name_of_shared(v) + of_block(access), access.address - v.begin};
    return {"shared memory" + of_block(access), 0};
}

void report_race(const Scene& scene,
                 const Access& now,
                 Record old,
                 bool old_write,
                 Who by,
                 Special special) {
    const bool proxy = special == Special::proxy;
    const bool barrier = special == Special::barrier;
    const bool early = special == Special::launch_before;
    const bool beside = special == Special::launch_beside;
    const bool unfenced =
        special == Special::not_released || special == Special::not_acquired;
    const bool scopes = special == Special::scopes;
    const bool narrow = special == Special::told_the_block;
    const bool in_flight = special == Special::in_flight;
    const Site& site = check::site(now.site);
    const Site& old_site = check::site(old.site());
    const char* what = proxy        ? "no proxy fence"
                       : barrier    ? "no fence of an mbarrier"
                       : scopes     ? "atomics of too narrow a scope"
                       : in_flight  ? "write while an asynchronous copy is in flight"
                       : !old_write ? "write after read"
                       : now.write  ? "write after write"
                                    : "read after write";
    const bool one_is_atomic = !scopes && now.atomic != old.atomic();
    const FindingKey k = key(Kind::race,
                             site.place,
                             old_site.place,
                             (scopes ? 32u : (old_write * 2u + now.write) * 4u) +
                                 static_cast<unsigned>(now.space));
    add_finding(k, [&] {
        Finding f;
        f.kind = Kind::race;
        f.what = what;
        f.space = space_name(now.space);
        f.place = site.place;
        f.has_other = true;
        f.other_place = old_site.place;
        f.other = by;
        const Named named = name_of(scene, now);
        f.variable = named.name;
        const uint3 a = scene.who.block, b = by.block;
        const bool same_block = a.x == b.x && a.y == b.y && a.z == b.z;
        const bool same_warp =
            same_block && rank_of(scene) / kLanes == old.thread() / kLanes;
        std::string body =
            format("RACE (%s) on %s, byte %ld\n", what, named.name.c_str(), named.byte);
        body += act(scene.who,
                    now.atomic  ? "updates it atomically at"
                    : scopes    ? "accesses it atomically at"
                    : now.write ? "writes it at"
                                : "reads it at",
                    site.place);
        body += act(by,
                    std::string(early    ? "of the launch before "
                                : beside ? "of another launch "
                                         : "") +
                        (old.atomic() ? "has updated it atomically at"
                         : old_write  ? "has written it at"
                                      : "has read it at"),
                    old_site.place);
        if (one_is_atomic)
            body += "    An atomic and an ordinary access do not exclude each other.\n";
        body += early    ? early_text()
                : beside ? beside_text(old)
                : proxy
                    ? "    The first is an ordinary write, the second is made by TMA "
                      "or the tensor cores, which see\n    memory by another way; no "
                      "fence.proxy.async stands between the two.\n"
                : barrier
                    ? "    The first is mbarrier.init, the second an arrival of TMA or "
                      "the tensor cores, which see\n    memory by another way; no "
                      "fence.mbarrier_init stands behind the first.\n"
                : unfenced
                    ? unfenced_text(scene, same_block, special == Special::not_acquired)
                : scopes      ? scopes_text(now.of_block, old_site.of_block)
                : narrow      ? narrow_text(scene)
                : in_flight   ? "    The copy had not been waited for when the other "
                                "wrote: on a GPU either may come\n    last.\n"
                : !same_block ? "    Nothing orders the two blocks.\n"
                : same_warp   ? "    Nothing orders the two lanes of this warp.\n"
                            : "    Nothing orders the two threads: on a GPU either may "
                              "come first.\n";
        if (special == Special::same_value)
            body += "    This time both have written the same value.\n";
        const bool same_line = site.place.line == old_site.place.line && old_write &&
                               now.space != Space::shared;
        const Detail detail =
            early                                       ? Detail::dependency
            : beside                                    ? Detail::streams
            : proxy                                     ? Detail::proxy
            : barrier                                   ? Detail::barrier
            : unfenced                                  ? Detail::fence
            : scopes || narrow                          ? Detail::scope
            : in_flight                                 ? Detail::async
            : !same_block && now.space == Space::shared ? Detail::cluster
            : same_line && !now.write                   ? Detail::update
            : same_line                                 ? Detail::writers
            : !same_block                               ? Detail::blocks
            : same_warp && scene.block->size > kLanes   ? Detail::warp_of_block
            : same_warp                                 ? Detail::same_warp
                                                        : Detail::same_block;
        return finish(std::move(f), scene, detail, body);
    });
}

void report_read_only(const Launch& launch,
                      const char* address,
                      Record read,
                      Record write) {
    const Place &place = site(read.site()).place, &other = site(write.site()).place;
    add_finding(key(Kind::race, place, other, 64), [&] {
        const auto who = [&](Record r) {
            return who_is(launch, launch_order.owner_of(r.segment()), r.thread());
        };
        const Scene scene{&launch, who(read)};
        Finding f;
        f.kind = Kind::race;
        f.what = "read-only data is written";
        f.space = space_name(Space::global);
        f.place = place;
        f.has_other = true;
        f.other_place = other;
        f.other = who(write);
        const Named named = name_of_global(&launch, address);
        f.variable = named.name;
        const std::string body =
            format("RACE (read-only data is written) on %s, byte %ld\n",
                   named.name.c_str(),
                   named.byte) +
            act(scene.who, "reads it as read-only at", place) +
            act(f.other, "writes it at", other) +
            "    It is read through the read-only cache (__ldg), but this kernel "
            "writes "
            "it: no\n    barrier, fence or atomic operation brings the write to that "
            "cache.\n";
        return finish(std::move(f), scene, Detail::read_only, body);
    });
}

void report_bad_access(const Scene& scene,
                       const Access& access,
                       Kind kind,
                       const std::string& where,
                       Detail detail) {
    const Site& site = check::site(access.site);
    const char* verb = access.atomic ? "ATOMIC" : access.write ? "WRITE" : "READ";
    add_finding(key(kind, site.place, {}, access.write), [&] {
        Finding f;
        f.kind = kind;
        f.what = format("%s of %u bytes, %s",
                        access.atomic  ? "atomic operation"
                        : access.write ? "write"
                                       : "read",
                        access.bytes,
                        where.c_str());
        f.space = space_name(access.space);
        f.place = site.place;
        f.variable = where;
        const char* title = kind == Kind::race             ? "RACE, "
                            : kind == Kind::out_of_bounds  ? "OUT-OF-BOUNDS "
                            : kind == Kind::use_after_free ? "USE AFTER FREE, "
                            : kind == Kind::host_pointer
                                ? "HOST POINTER, "
                                : "DEVICE POINTER IN HOST CODE, ";
        std::string body =
            format("%s%s of %u bytes, %s\n", title, verb, access.bytes, where.c_str());
        if (scene.launch)
            body += act(scene.who, "is at", site.place);
        else
            body += "    host code at " + short_place(site.place) + "\n        " +
                    quote(site.place) + "\n";
        return finish(std::move(f), scene, detail, body);
    });
}

void report_uninitialised(const Scene& scene, const Access& access, bool in_flight) {
    const Site& site = check::site(access.site);
    const Kind kind = in_flight ? Kind::race : Kind::uninitialised;
    add_finding(
        key(kind, site.place, {}, 16u + static_cast<unsigned>(access.space)), [&] {
            Finding f;
            f.kind = kind;
            f.what = in_flight ? "read while an asynchronous copy is in flight"
                               : "read of memory that nobody has written";
            f.space = space_name(access.space);
            f.place = site.place;
            const Named named = name_of(scene, access);
            f.variable = named.name;
            std::string body =
                in_flight ? "RACE (read before an asynchronous copy has landed)"
                          : "UNINITIALISED READ";
            body += format(" of %u bytes of %s, byte %ld\n",
                           access.bytes,
                           named.name.c_str(),
                           named.byte);
            body += act(scene.who, "is at", site.place);
            body += in_flight
                        ? "    A cp.async that writes these bytes is still under way.\n"
                        : "    Nobody has written these bytes.\n";
            const Detail detail = in_flight                       ? Detail::async
                                  : access.space == Space::shared ? Detail::shared
                                                                  : Detail::none;
            return finish(std::move(f), scene, detail, body);
        });
}

void report_at(const Scene& scene,
               Kind kind,
               const Place& place,
               const std::string& what,
               const std::string& space,
               const std::string& text) {
    add_finding(key(kind, place, {}, 32), [&] {
        Finding f;
        f.kind = kind;
        f.what = what;
        f.space = space;
        f.place = place;
        std::string body = text + "\n";
        if (scene.launch && scene.has_thread && place.line != 0)
            body += act(scene.who, "is at", place);
        return finish(std::move(f),
                      scene,
                      kind == Kind::out_of_bounds ? Detail::index : Detail::none,
                      body);
    });
}

}  // namespace simt::check
