/// checker/access.h: one memory access of a kernel, and where each goes.
#pragma once

#include <cstdint>

#include "core/scheduler.h"

namespace simt::check {

enum class Space : uint8_t {
    global,    // an allocation, or a __device__ variable
    shared,    // of the running block
    constant,  // a variable in static storage that is not written
};

struct Access {
    char* address;
    uint32_t bytes;
    bool write;  // atomics write, too
    bool atomic;
    Space space;
    uint32_t site;
    // A structure that may need several instructions: its alignment is not known.
    bool structure;
    bool relaxed;       // volatile, or an atomic load or store: races with no atomic
    bool stores;        // an atomic operation that does not read
    bool releases;      // an atomic operation with release semantics
    bool acquires;      // the same with acquire semantics
    uintptr_t pc;       // of the instruction, also if it is the simulator's
    const char* frame;  // frame pointer of its function
    // In shared memory: the block whose it is; null: the running one.
    detail::Block* home = nullptr;
    bool announced = false;  // memory still holds what it did before the access
    // By the tensor cores of a warpgroup, on the thread's behalf: for which product.
    uint32_t product = 0;
    bool of_block = false;  // an atomic operation whose scope is the thread's block
};

/// An access by the runtime on behalf of the running thread.
inline Access access_by_runtime(
    const void* p, size_t bytes, bool write, Space space, uint32_t site) {
    Access a{};
    a.address = static_cast<char*>(const_cast<void*>(p));
    a.bytes = static_cast<uint32_t>(bytes);
    a.write = write;
    a.space = space;
    a.site = site;
    return a;
}

/// The block in whose shared memory the access is.
inline detail::Block& home_of(const Access& access, const detail::Worker& worker) {
    return access.home ? *access.home : *worker.block;
}
/// The block whose shared memory the address lies in, if it is another one of the
/// running one's cluster; else null.
detail::Block* peer_of(const detail::Worker& worker, const void* address);

/// The parts of the checker, each called for every access of a kernel to memory that
/// exists, outside the thread's own stack.
void check_safety(const Access& access, detail::Worker& worker);
void count_access(const Access& access, detail::Worker& worker);

/// For divergence: the running thread has entered a basic block.
/// @param pc     inside it
/// @param frame  frame pointer of its function
void count_basic_block(uintptr_t pc, const char* frame, detail::Worker& worker);

/// True while kernels are counted, not only checked (simt-c++ --check=count).
extern bool counting;

}  // namespace simt::check
