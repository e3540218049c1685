// Memory that kernels allocate by malloc or new: it is theirs, although it lies among
// the host's.

#include <cstdlib>
#include <map>

#include "core/scheduler.h"
#include "safety.h"

extern "C" void* __libc_malloc(size_t bytes);
extern "C" void __libc_free(void* p);

namespace simt::check {
namespace {

using detail::Worker;
using detail::worker;

/// By start; never destroyed.
std::map<const char*, size_t>& blocks() {
    static auto& instance = *new std::map<const char*, size_t>;
    return instance;
}

/// True if a kernel's own code is running; the simulator allocates, too.
bool in_users_code() {
    const Worker* w = worker;
    return w && w->thread && !w->in_runtime;
}

}  // namespace

HeapBlock heap_block_before(const void* address) {
    const auto it = blocks().upper_bound(static_cast<const char*>(address));
    if (it == blocks().begin()) return {};
    const auto& [begin, size] = *std::prev(it);
    return {begin, size};
}

bool is_heap_of_kernels(const void* address) {
    const HeapBlock block = heap_block_before(address);
    return static_cast<const char*>(address) < block.begin + block.size;
}

}  // namespace simt::check

// In place of the C library's, for the whole program.
extern "C" void* malloc(size_t bytes) {
    using namespace simt::check;
    void* p = __libc_malloc(bytes);
    if (p && in_users_code()) {
        worker->in_runtime = true;
        blocks()[static_cast<const char*>(p)] = bytes;
        worker->in_runtime = false;
    }
    return p;
}

extern "C" void free(void* p) {
    using namespace simt::check;
    if (p && in_users_code()) {
        worker->in_runtime = true;
        blocks().erase(static_cast<const char*>(p));
        worker->in_runtime = false;
    }
    __libc_free(p);
}
