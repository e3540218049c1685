// Tensor memory: allocation, loads and stores.

#include "tensor_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/observer.h"
#include "simt/blackwell/tcgen05.h"
#include "simt/shared.h"
#include "simt/warp.h"

namespace simt::detail {
namespace {

/// Where a warp's transfer begins; checks that the warp may access it.
void check_transfer(Worker& w,
                    const char* op,
                    uint32_t address,
                    int count,
                    const char* file,
                    int line) {
    const unsigned warp = w.thread->rank / 32;
    if (tmem_lane(address) != warp % 4 * 32)
        hopper_fault(w,
                     file,
                     line,
                     "%s at lane %u by warp %u of the block: it may access lanes %u to "
                     "%u only",
                     op,
                     tmem_lane(address),
                     warp,
                     warp % 4 * 32,
                     warp % 4 * 32 + 31);
    const TensorMemory& memory = tensor_memory(w);
    const unsigned begin = tmem_column(address);
    for (unsigned c = begin; c < begin + static_cast<unsigned>(count); ++c)
        if (c >= kTmemColumns || memory.owner[c] < 0)
            hopper_fault(w,
                         file,
                         line,
                         "%s of columns %u to %u: column %u has not been allocated",
                         op,
                         begin,
                         begin + static_cast<unsigned>(count) - 1,
                         c);
}

uint32_t* cells_of_thread(Worker& w, unsigned thread, uint32_t address) {
    return &tensor_memory(w).cell(tmem_lane(address) + thread % 32,
                                  tmem_column(address));
}

/// What a thread's transfer does, at last.
void complete(Worker& w, const TmemTransfer& transfer) {
    uint32_t* const cells = cells_of_thread(w, transfer.thread, transfer.address);
    const size_t bytes = static_cast<size_t>(transfer.count) * 4;
    if (transfer.load)
        std::memcpy(transfer.registers, cells, bytes);
    else
        std::memcpy(cells, transfer.values.data(), bytes);
}

/// What the lanes of a warp bring to a wait.
struct Wait05 {
    bool loads;
    unsigned thread;
    const char* file;
    int line;
};

[[noreturn]] void report_part_of_warp(Worker& w,
                                      const Wait05& wait,
                                      const TmemTransfer* transfer,
                                      unsigned missing) {
    hopper_fault(w,
                 transfer ? transfer->file : wait.file,
                 transfer ? transfer->line : wait.line,
                 "tcgen05.%s without lane %u of warp %u: all lanes of a warp make the "
                 "same ones,\n    and wait for them together, also lanes that have no "
                 "use for them",
                 wait.loads ? "ld" : "st",
                 missing,
                 wait.thread / 32);
}

/// The transfers of a warp arrive: its loads, or its stores.
template <bool kLoads>
void complete_transfers(WarpArg* const* lanes, uint32_t present) {
    Worker& w = *worker;
    std::vector<const TmemTransfer*> of_lane[32];
    std::vector<TmemTransfer> now, others;
    const auto first_lane = static_cast<unsigned>(__builtin_ctz(present));
    const auto& wait = *static_cast<Wait05*>(lanes[first_lane]->p);
    auto& transfers = tensor_memory(w).transfers;
    for (TmemTransfer& transfer : transfers) {
        const bool mine =
            transfer.thread / 32 == wait.thread / 32 && transfer.load == kLoads;
        (mine ? now : others).push_back(std::move(transfer));
    }
    transfers = std::move(others);
    for (const TmemTransfer& transfer : now)
        of_lane[transfer.thread % 32].push_back(&transfer);
    for (unsigned lane = 0; lane < 32; ++lane) {
        const auto& some = of_lane[first_lane];
        const auto& its = of_lane[lane];
        if (!(present >> lane & 1))
            report_part_of_warp(w, wait, some.empty() ? nullptr : some[0], lane);
        for (size_t i = 0; i < std::max(some.size(), its.size()); ++i) {
            if (i >= its.size()) report_part_of_warp(w, wait, some[i], lane);
            if (i >= some.size()) report_part_of_warp(w, wait, its[i], first_lane);
            if (its[i]->address != some[i]->address || its[i]->count != some[i]->count)
                hopper_fault(w,
                             its[i]->file,
                             its[i]->line,
                             "tcgen05.%s: lanes %u and %u of a warp give addresses "
                             "0x%08x and 0x%08x: all give one",
                             kLoads ? "ld" : "st",
                             first_lane,
                             lane,
                             some[i]->address,
                             its[i]->address);
        }
    }
    for (const TmemTransfer& transfer : now)
        complete(w, transfer);
}

bool is_free(const TensorMemory& memory, int first, int columns) {
    for (int c = first; c < first + columns; ++c)
        if (memory.owner[static_cast<size_t>(c)] >= 0) return false;
    return true;
}

/// What the lanes of a warp bring to an allocation.
struct Allocation05 {
    uint32_t* address;  // null: it is freed
    uint32_t freed;
    int columns;
    const char* file;
    int line;
};

void allocate_or_free(WarpArg* const* lanes, uint32_t) {
    Worker& w = *worker;
    const auto& request = *static_cast<Allocation05*>(lanes[0]->p);
    TensorMemory& memory = tensor_memory(w);
    const int columns = request.columns;
    if (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0)
        hopper_fault(w,
                     request.file,
                     request.line,
                     "tensor memory is allocated in 32, 64, 128, 256 or 512 columns, "
                     "not %d",
                     columns);
    if (!request.address) {
        const int first = static_cast<int>(tmem_column(request.freed));
        for (int c = first; c < first + columns; ++c) {
            if (c >= 512 || memory.owner[static_cast<size_t>(c)] != first)
                hopper_fault(w,
                             request.file,
                             request.line,
                             "tcgen05.dealloc of columns that are no allocation");
            memory.owner[static_cast<size_t>(c)] = -1;
        }
        return;
    }
    for (int first = 0; first + columns <= 512; first += 32) {
        if (!is_free(memory, first, columns)) continue;
        for (int c = first; c < first + columns; ++c)
            memory.owner[static_cast<size_t>(c)] = first;
        *request.address = static_cast<uint32_t>(first);
        if (observer) observer->async_access(request.address, 4, true);
        return;
    }
    hopper_fault(w,
                 request.file,
                 request.line,
                 "tcgen05.alloc of %d columns: there are not as many free ones in a "
                 "row. A GPU would wait here",
                 columns);
}

void request_columns(Allocation05 request, const char* op) {
    WarpArg arg{0, 0, 0, &request, allocate_or_free};
    warp_op(WarpOp::custom, 0xffffffffu, arg, op, request.file, request.line);
}

template <bool kLoads>
void wait_for_transfers(const char* op, const char* file, int line) {
    Worker& w = kernel_worker(op, file, line);
    // Whoever the thread has told of its transfers too early goes on before they are.
    w.in_runtime = true;
    w.leave_row();
    w.make_ready(w.thread);
    w.note_activity();
    w.suspend();
    Wait05 wait{kLoads, w.thread->rank, file, line};
    WarpArg arg{0, 0, 0, &wait, complete_transfers<kLoads>};
    warp_op(WarpOp::custom, 0xffffffffu, arg, op, file, line);
}

}  // namespace

TensorMemory& tensor_memory(Worker& w) {
    HopperState& state = hopper_state(w);
    if (!state.tensor_memory) state.tensor_memory = std::make_unique<TensorMemory>();
    return static_cast<TensorMemory&>(*state.tensor_memory);
}

void TensorMemory::block_ends(Worker& w) {
    for (const int first : owner)
        if (first >= 0)
            hopper_fault(w,
                         nullptr,
                         0,
                         "the block has ended with tensor memory allocated: "
                         "tcgen05.dealloc is missing");
}

}  // namespace simt::detail

namespace simt::ptx {

namespace d = simt::detail;

void tcgen05_alloc(uint32_t* address, int columns, const char* file, int line) {
    d::request_columns({address, 0, columns, file, line}, "tcgen05.alloc");
}
void tcgen05_dealloc(uint32_t address, int columns, const char* file, int line) {
    d::request_columns({nullptr, address, columns, file, line}, "tcgen05.dealloc");
}

void detail::tcgen05_load(
    uint32_t* r, int count, uint32_t address, const char* file, int line) {
    d::Worker& w = d::kernel_worker("tcgen05.ld", file, line);
    const d::InRuntime guard(w);
    d::check_transfer(w, "tcgen05.ld", address, count, file, line);
    std::memset(r, 0xff, static_cast<size_t>(count) * 4);
    d::tensor_memory(w).transfers.push_back(
        {w.thread->rank, true, r, {}, address, count, file, line});
}

void detail::tcgen05_store(
    uint32_t address, const uint32_t* r, int count, const char* file, int line) {
    d::Worker& w = d::kernel_worker("tcgen05.st", file, line);
    const d::InRuntime guard(w);
    d::check_transfer(w, "tcgen05.st", address, count, file, line);
    std::memset(d::cells_of_thread(w, w.thread->rank, address),
                0xff,
                static_cast<size_t>(count) * 4);
    d::tensor_memory(w).transfers.push_back({w.thread->rank,
                                             false,
                                             nullptr,
                                             std::vector<uint32_t>(r, r + count),
                                             address,
                                             count,
                                             file,
                                             line});
}

void tcgen05_wait_ld(const char* file, int line) {
    d::wait_for_transfers<true>("tcgen05.wait::ld", file, line);
}
void tcgen05_wait_st(const char* file, int line) {
    d::wait_for_transfers<false>("tcgen05.wait::st", file, line);
}

}  // namespace simt::ptx
