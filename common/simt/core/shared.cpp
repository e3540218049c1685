// Shared memory of a block.

#include "simt/shared.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "fault.h"
#include "observer.h"
#include "pages.h"
#include "simt/cluster.h"
#include "simt/fault.h"

namespace simt::detail {
namespace {

constexpr size_t kArenaBytes = 320 * 1024;
constexpr size_t kStaticLimit = 48 * 1024;  // nvcc refuses more
constexpr size_t kDynamicAlignment = 128;
constexpr size_t kLargestAlignment = 1024;
// Bytes after each variable that nobody may change: NaN, but not the 0xFF of the
// poison.
constexpr size_t kZone = 32;
constexpr unsigned char kPattern[2] = {0xfe, 0xff};

void fill_zone(char* begin, char* end) {
    for (char* p = begin; p < end; ++p)
        *p = static_cast<char>(kPattern[reinterpret_cast<uintptr_t>(p) & 1]);
}

/// The first changed byte in [begin, end), or null.
const char* find_change(const char* begin, const char* end) {
    for (const char* p = begin; p < end; ++p)
        if (static_cast<unsigned char>(*p) !=
            kPattern[reinterpret_cast<uintptr_t>(p) & 1])
            return p;
    return nullptr;
}

/// All arenas lie in a range of 4 GiB: 32 bits then tell the addresses of all blocks of
/// a cluster apart, as PTX wants it.
class Window {
 public:
    /// Room for an arena, or null.
    char* take() {
        const std::lock_guard lock(mutex_);
        if (!begin_ && !reserve()) return nullptr;
        if (!free_.empty()) {
            char* const p = free_.back();
            free_.pop_back();
            return p;
        }
        if (next_ + kSlot > kBytes) return nullptr;
        next_ += kSlot;
        return begin_ + next_ - kSlot;
    }
    void give_back(char* p) {
        const std::lock_guard lock(mutex_);
        free_.push_back(p);
    }
    char* begin() const { return begin_; }

 private:
    static constexpr uint64_t kBytes = uint64_t{1} << 32;
    static constexpr uint64_t kSlot = 512 * 1024;
    static_assert(kArenaBytes + kPage <= kSlot, "an arena and its guard page");

    bool reserve() {
        void* p = mmap(nullptr,
                       2 * kBytes,
                       PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1,
                       0);
        if (p == MAP_FAILED) return false;
        begin_ = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(p) + kBytes - 1) &
                                         ~(kBytes - 1));
        next_ = kSlot;  // no variable has the address 0
        return true;
    }

    std::mutex mutex_;
    char* begin_ = nullptr;
    uint64_t next_ = 0;
    std::vector<char*> free_;
};

Window& window() {
    static Window* const instance = new Window;
    return *instance;
}

bool map_arena(SharedArena& arena) {
    char* const room = window().take();
    if (!room) return false;
    void* p = mmap(room,
                   kArenaBytes,
                   PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                   -1,
                   0);
    if (p == MAP_FAILED) return false;
    arena.begin = room;
    arena.end = arena.begin + kArenaBytes;
    return true;
}

SharedArena& mapped_arena(Worker& w, Block& b) {
    if (!b.shared.begin && !map_arena(b.shared))
        w.abandon(make_fault(w,
                             cudaErrorLaunchOutOfResources,
                             nullptr,
                             0,
                             "the system has no memory for shared memory"));
    return b.shared;
}

size_t dynamic_bytes(const Worker& w) {
    return w.launch->config->smem;
}

/// Static and dynamic shared memory together may be 48 KiB, unless the kernel was
/// allowed more dynamic shared memory (which launch() has checked).
void check_limits(Worker& w, size_t used, const char* file, int line) {
    const size_t dynamic = dynamic_bytes(w);
    if (used <= kStaticLimit &&
        (dynamic > kStaticLimit || used + dynamic <= kStaticLimit))
        return;
    w.abandon(make_fault(
        w,
        cudaErrorInvalidValue,
        file,
        line,
        used > kStaticLimit
            ? format(
                  "the kernel's __shared__ variables need %zu bytes; nvcc refuses "
                  "more than %zu.\n    Use dynamic shared memory (extern __shared__, "
                  "cudaFuncSetAttribute) for more.",
                  used,
                  kStaticLimit)
            : format(
                  "%zu bytes of __shared__ variables and %zu bytes of dynamic shared "
                  "memory exceed %zu bytes.\n    Allow more with "
                  "cudaFuncSetAttribute(kernel, "
                  "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
                  used,
                  dynamic,
                  kStaticLimit)));
}

SharedVariable* new_variable(Worker& w,
                             Block& b,
                             const void* key,
                             size_t size,
                             size_t align,
                             const char* name,
                             const char* file,
                             int line) {
    SharedArena& arena = mapped_arena(w, b);
    const size_t at = round_up(arena.used, align < 16 ? 16 : align);
    size_t total = size;
    for (const SharedVariable& v : arena.variables)
        if (v.key) total += v.size;
    check_limits(w, total, file, line);
    char* begin = arena.begin + at;
    arena.used = at + size + kZone;
    arena.variables.push_back({key, begin, size, name, file, line});
    if (observer) observer->shared_variable(w, b, arena.variables.back());
    if (w.launch->poison) std::memset(begin, 0xff, size);
    fill_zone(begin + size, begin + size + kZone);
    return &arena.variables.back();
}

void report_overrun(Worker& w,
                    const Block& b,
                    const SharedVariable& v,
                    const char* at) {
    const bool after = at >= v.begin + v.size;
    auto fault = make_fault(
        w,
        cudaErrorIllegalAddress,
        v.file,
        v.line,
        format("the block has written %td bytes %s of shared `%s` (%zu bytes),\n"
               "    which is declared there. Found when the block had ended.",
               after ? at - (v.begin + v.size) : v.begin - at,
               after ? "past the end" : "before the start",
               v.name,
               v.size),
        FindingKind::out_of_bounds);
    fault->thread = nullptr;
    fault->block = const_cast<Block*>(&b);
    w.abandon(std::move(fault));
}

}  // namespace

SharedArena::~SharedArena() {
    if (!begin) return;
    // The guard page and the room stay.
    mmap(begin,
         kArenaBytes,
         PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1,
         0);
    window().give_back(begin);
}

void open_shared(Block& b) {
    b.shared.variables.clear();
    b.shared.used = 0;
    b.shared.dynamic = nullptr;  // laid out by the first thread that asks for it
    b.shared.dynamic_missing = false;
}

void check_shared(Worker& w, Block& b) {
    if (observer && observer->knows_damage(*w.launch)) return;
    for (const SharedVariable& v : b.shared.variables) {
        const bool is_dynamic = v.key == nullptr;
        const char* end = v.begin + v.size;
        const char* bad = find_change(end, is_dynamic ? b.shared.end : end + kZone);
        if (!bad && is_dynamic) bad = find_change(v.begin - kZone, v.begin);
        if (bad) report_overrun(w, b, v, bad);
    }
}

void* shared_slot(const void* key,
                  size_t size,
                  size_t align,
                  const char* name,
                  const char* file,
                  int line) {
    Worker& w = kernel_worker("a __shared__ variable", file, line);
    w.in_runtime = true;  // nobody else may add a variable while this one is looked up
    char* begin = nullptr;
    for (const SharedVariable& v : w.block->shared.variables)
        if (v.key == key) begin = v.begin;
    if (!begin)
        begin = new_variable(w, *w.block, key, size, align, name, file, line)->begin;
    w.in_runtime = false;
    return begin;
}

namespace {

char* new_dynamic(Worker& w, Block& b) {
    SharedArena& arena = mapped_arena(w, b);
    const Config& config = *w.launch->config;
    char* begin = arena.end - round_up(config.smem, 16);
    if (!w.launch->tight)
        begin = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(begin) &
                                        ~uintptr_t{kDynamicAlignment - 1});
    arena.dynamic = begin;
    arena.variables.push_back(
        {nullptr, begin, config.smem, "dynamic", config.file, config.line});
    if (observer) observer->shared_variable(w, b, arena.variables.back());
    if (w.launch->poison) std::memset(begin, 0xff, config.smem);
    fill_zone(begin + config.smem, arena.end);
    fill_zone(begin - kZone, begin);
    return begin;
}

}  // namespace

void* dynamic_smem() {
    if (!in_kernel()) return nullptr;
    Worker& w = *worker;
    Block& b = *w.block;
    if (b.shared.dynamic) return b.shared.dynamic;
    if (dynamic_bytes(w) == 0) {
        b.shared.dynamic_missing = true;
        return nullptr;
    }
    w.in_runtime = true;
    char* const begin = new_dynamic(w, b);
    w.in_runtime = false;
    return begin;
}

char* peer_variable(Worker& w, Block& b, const SharedVariable& v) {
    if (!v.key) return b.shared.dynamic ? b.shared.dynamic : new_dynamic(w, b);
    for (const SharedVariable& known : b.shared.variables)
        if (known.key == v.key) return known.begin;
    // Of a large alignment, so that it is that of the type.
    const auto at = reinterpret_cast<uintptr_t>(v.begin);
    const size_t align = std::min(at & -at, kLargestAlignment);
    return new_variable(w, b, v.key, v.size, align, v.name, v.file, v.line)->begin;
}

void poison_shared(Worker& w, Block& b) {
    if (!w.launch->poison) return;
    for (const SharedVariable& v : b.shared.variables)
        std::memset(v.begin, 0xff, v.size);
}

void* shared_pointer(uint32_t address) {
    return window().begin() + address;
}

bool is_shared(const void* address) {
    if (!in_kernel()) return false;
    const auto* p = static_cast<const char*>(address);
    return p >= worker->block->shared.begin && p < worker->block->shared.end;
}

}  // namespace simt::detail
