/// checker/report.h: findings in words.
#pragma once

#include <string>

#include "access.h"
#include "findings.h"
#include "record.h"

namespace simt::check {

/// What is known where a finding is made.
struct Scene {
    const detail::Launch* launch;  // null in host code
    Who who;
    bool has_thread = true;                // false where only the launch is known
    const detail::Block* block = nullptr;  // the running one, where there is a thread
};

/// The running thread.
Scene scene_of(const detail::Worker& worker);
/// A thread given by the number of its block and its rank.
Who who_is(const detail::Launch& launch, uint64_t block, uint32_t rank);
Who who_is(const dim3& grid, const dim3& size, uint64_t block, uint32_t rank);

/// What lies at an address, in words: "shared `tile` (4224 bytes, declared at
/// t.cu:12)", "argument 2, device allocation #3 (4096 bytes)"; and the byte in it.
struct Named {
    std::string name;
    long byte = 0;
};
Named name_of(const Scene& scene, const Access& access);

/// What is special about a race.
enum class Special : uint8_t {
    none,
    proxy,    // ordered, but by different ways to memory, and no fence is between them
    barrier,  // the same of the making of an mbarrier and an arrival at it
    same_value,      // two lines have written the same
    launch_before,   // the other is an access of the launch before, which may still run
    launch_beside,   // it is of a launch of another stream, and nothing orders the two
    not_released,    // an atomic operation tells of a write, and no fence is before it
    not_acquired,    // one has been told of it, and no fence is behind it
    scopes,          // both are atomic, but the scope of one is its block alone
    told_the_block,  // an atomic operation tells of a write, but its block alone
    in_flight,       // the access is a copy that nobody had waited for at the write
};

/// Adds a race between an access and a remembered one.
///
/// @param by  who did the remembered access
void report_race(const Scene& scene,
                 const Access& now,
                 Record old,
                 bool old_write,
                 Who by,
                 Special special = Special::none);

/// Adds a load through the read-only cache of what the kernel writes.
///
/// @param address  of a byte that both access
void report_read_only(const detail::Launch& launch,
                      const char* address,
                      Record read,
                      Record write);

/// Adds an access to memory that does not exist.
///
/// @param kind   what is wrong with the address
/// @param where  "8 bytes past the end of ..."
void report_bad_access(const Scene& scene,
                       const Access& access,
                       Kind kind,
                       const std::string& where,
                       Detail detail = Detail::none);

/// Adds a read of memory that nobody has written, or whose asynchronous copy has not
/// been waited for.
void report_uninitialised(const Scene& scene, const Access& access, bool in_flight);

/// Adds a mistake at a place that is not an access: an index, an alignment, a fault.
void report_at(const Scene& scene,
               Kind kind,
               const Place& place,
               const std::string& what,
               const std::string& space,
               const std::string& text);

}  // namespace simt::check
