// Copies of tiles by TMA.

#include "simt/hopper/tma.h"

#include "core/cluster.h"
#include "core/observer.h"
#include "simt/cluster.h"
#include "simt/shared.h"
#include "state.h"
#include "tensor_map.h"

namespace simt::detail {
namespace {

constexpr size_t kPiece = TensorCopy::kPiece;

struct Site {
    const char* op;
    const char* file;
    int line;
    bool to_cluster = false;  // the tile may be another block's
};

void check_shared_address(Worker& w, const void* shared, unsigned multiple, Site at) {
    if (reinterpret_cast<uintptr_t>(shared) % multiple == 0 && is_shared(shared))
        return;
    if (reinterpret_cast<uintptr_t>(shared) % multiple == 0 &&
        is_cluster_shared(shared) && at.to_cluster)
        return;
    hopper_fault(w,
                 at.file,
                 at.line,
                 "%s: the tile at %p must lie in shared memory, at a multiple of %u",
                 at.op,
                 shared,
                 multiple);
}

TensorCopy new_copy(Worker& w, const void* shared, Site at) {
    TensorCopy copy;
    copy.begin = static_cast<char*>(const_cast<void*>(shared));
    copy.thread = w.thread->rank;
    copy.file = at.file;
    copy.line = at.line;
    return copy;
}

/// The pieces of a box, in the order in which they lie in shared memory before
/// swizzling.
void add_box(TensorCopy& copy, const TensorMapContents& map, const int* at) {
    const size_t element = map.element_bytes;
    const size_t row = map.box[0] * element;
    size_t rows = 1;
    for (unsigned d = 1; d < map.rank; ++d)
        rows *= map.box[d];
    copy.pieces.reserve(rows * row / kPiece);
    for (size_t r = 0; r < rows; ++r) {
        char* global = map.address;
        bool inside = true;
        size_t rest = r;
        for (unsigned d = 1; d < map.rank; ++d) {
            const int64_t i = at[d] + static_cast<int64_t>(rest % map.box[d]);
            rest /= map.box[d];
            inside = inside && i >= 0 && i <= int64_t{map.last[d]};
            global += i * static_cast<int64_t>(map.strides[d - 1]);
        }
        for (size_t byte = 0; byte < row; byte += kPiece) {
            const int64_t from = at[0] * int64_t(element) + int64_t(byte);
            const int64_t left = (int64_t{map.last[0]} + 1) * int64_t(element) - from;
            const auto to = reinterpret_cast<uintptr_t>(copy.begin) + r * row + byte;
            TensorCopy::Piece piece{
                reinterpret_cast<char*>(swizzled(to, map.swizzle_bytes)),
                global + from,
                0};
            if (inside && from >= 0 && left > 0)
                piece.valid = left < int64_t(kPiece) ? size_t(left) : kPiece;
            copy.pieces.push_back(piece);
        }
    }
}

/// A store may stick out of the tensor at its far end only: one that began before the
/// tensor has ended a kernel on an H100 with an illegal instruction.
void check_store(Worker& w, const CUtensorMap& map, const int* at, Site site) {
    const TensorMapContents contents = TensorMapContents::of(map);
    for (int d = 0; d < contents.rank; ++d)
        if (at[d] < 0 || static_cast<uint32_t>(at[d]) > contents.last[d])
            hopper_fault(w,
                         site.file,
                         site.line,
                         "%s to coordinate %d of dimension %d: a store must begin "
                         "inside of the tensor.\n    A GPU may end the kernel with an "
                         "illegal instruction",
                         site.op,
                         at[d],
                         d);
}

/// The copy of a box.
TensorCopy box_copy(Worker& w,
                    const CUtensorMap* map,
                    const void* shared,
                    const int* at,
                    int rank,
                    Site site) {
    const TensorMapContents contents = TensorMapContents::of(*map);
    if (!contents.valid())
        hopper_fault(w,
                     site.file,
                     site.line,
                     "%s: the tensor map was not made by cuTensorMapEncodeTiled",
                     site.op);
    if (rank != contents.rank)
        hopper_fault(w,
                     site.file,
                     site.line,
                     "%s: %d coordinates for a tensor of %d dimensions",
                     site.op,
                     rank,
                     contents.rank);
    if (at[0] * contents.element_bytes % int(kPiece) != 0)
        hopper_fault(w,
                     site.file,
                     site.line,
                     "%s: the rows of a box begin at a multiple of 16 bytes; this one "
                     "begins at element %d.\n    A GPU ends such a kernel with an "
                     "illegal instruction",
                     site.op,
                     at[0]);
    check_shared_address(w, shared, 128, site);
    TensorCopy copy = new_copy(w, shared, site);
    add_box(copy, contents, at);
    return copy;
}

void check_end(Worker& w, const TensorCopy& copy, Site at) {
    check_shared_address(w, copy.begin + copy.bytes() - kPiece, 16, at);
}

void tell_global(const TensorCopy& copy, bool write) {
    for (size_t i = 0; i < copy.pieces.size();) {  // a row at a time
        const TensorCopy::Piece& first = copy.pieces[i];
        size_t bytes = 0;
        while (i < copy.pieces.size() &&
               copy.pieces[i].global == first.global + bytes &&
               copy.pieces[i].valid != 0)
            bytes += copy.pieces[i++].valid;
        if (bytes == 0)
            ++i;
        else
            observer->async_access(first.global, bytes, write);
    }
}

void issue_load(Worker& w, TensorCopy copy, uint64_t* barrier, Site at) {
    check_end(w, copy, at);
    copy.barrier = barrier;
    copy.data.resize(copy.bytes());
    w.in_runtime = false;  // this may fault
    for (size_t i = 0; i < copy.pieces.size(); ++i)
        std::memcpy(
            &copy.data[i * kPiece], copy.pieces[i].global, copy.pieces[i].valid);
    w.in_runtime = true;
    if (observer) {
        tell_global(copy, false);
        observer->async_access(copy.begin, copy.bytes(), true);
        observer->async_pending(copy.begin, copy.bytes(), true);
    }
    std::memset(copy.begin, 0xff, copy.bytes());
    Block& home = home_of(w, copy.begin);
    if (&home != &home_of(w, barrier))
        hopper_fault(w,
                     at.file,
                     at.line,
                     "%s: the tile and the mbarrier that counts its bytes must lie in "
                     "the shared memory of one block",
                     at.op);
    if (home.alive == 0)
        hopper_fault(w,
                     at.file,
                     at.line,
                     "%s to the shared memory of block %s of the cluster, which has "
                     "ended",
                     at.op,
                     triple(home.index).c_str());
    hopper_state(home).loads.push_back(std::move(copy));
    mbarrier_copy_issued(w, barrier, at.file, at.line);
}

/// A copy of bytes as they lie.
TensorCopy bulk_copy(Worker& w, void* shared, const void* from, int bytes, Site site) {
    constexpr int kUnit = TensorCopy::kPiece;
    if (bytes < kUnit || bytes % kUnit != 0 ||
        reinterpret_cast<uintptr_t>(from) % kUnit != 0)
        hopper_fault(w,
                     site.file,
                     site.line,
                     "cp.async.bulk of %d bytes from %p: both must be multiples of 16",
                     bytes,
                     from);
    check_shared_address(w, shared, kUnit, site);
    TensorCopy copy = new_copy(w, shared, site);
    for (int i = 0; i < bytes; i += kUnit)
        copy.pieces.push_back({copy.begin + i,
                               static_cast<char*>(const_cast<void*>(from)) + i,
                               static_cast<size_t>(kUnit)});
    return copy;
}

/// Calls f(rank) for each block of a multicast's mask.
template <class F>
void for_each_block(Worker& w, unsigned blocks, Site site, F f) {
    const Cluster* cluster = w.block->cluster.get();
    const size_t size = cluster ? cluster->blocks.size() : 1;
    if (blocks == 0 || blocks >> size != 0)
        hopper_fault(w,
                     site.file,
                     site.line,
                     "%s to the blocks 0x%x of a cluster of %zu",
                     site.op,
                     blocks,
                     size);
    for (unsigned block = 0; block < size; ++block)
        if (blocks >> block & 1) f(block);
}

void perform_store(Worker& w, const TensorCopy& store) {
    if (observer) tell_global(store, true);
    w.in_runtime = false;  // this may fault
    for (const TensorCopy::Piece& piece : store.pieces)
        std::memcpy(piece.global, piece.shared, piece.valid);
    w.in_runtime = true;
}

}  // namespace

void land_loads(Worker& w, uint64_t* barrier) {
    auto& loads = hopper_state(w).loads;
    const uint64_t phase = *barrier >> 63;
    for (size_t i = 0; i < loads.size() && *barrier >> 63 == phase;) {
        if (loads[i].barrier != barrier) {
            ++i;
            continue;
        }
        const TensorCopy copy = std::move(loads[i]);
        loads.erase(loads.begin() + static_cast<std::ptrdiff_t>(i));
        for (size_t k = 0; k < copy.pieces.size(); ++k)
            std::memcpy(copy.pieces[k].shared, &copy.data[k * kPiece], kPiece);
        if (observer) observer->async_pending(copy.begin, copy.bytes(), false);
        mbarrier_bytes_arrived(w, barrier, copy.bytes(), copy.file, copy.line);
    }
    auto& words = hopper_state(w).words;
    for (size_t i = 0; i < words.size() && *barrier >> 63 == phase;) {
        if (words[i].barrier != barrier) {
            ++i;
            continue;
        }
        const AsyncStore word = words[i];
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
        std::memcpy(word.to, word.data, word.bytes);
        if (observer) observer->async_pending(word.to, word.bytes, false);
        mbarrier_bytes_arrived(w, barrier, word.bytes, word.file, word.line);
    }
}

}  // namespace simt::detail

namespace simt::ptx {

using simt::detail::TensorCopy;
using simt::detail::Worker;

void tma_load(void* shared,
              const TensorMap* map,
              uint64_t* barrier,
              const int* at,
              int rank,
              const char* file,
              int line) {
    const simt::detail::Site site{"TMA load", file, line};
    Worker& w = simt::detail::kernel_worker(site.op, file, line);
    const simt::detail::InRuntime guard(w);
    simt::detail::issue_load(
        w, simt::detail::box_copy(w, map, shared, at, rank, site), barrier, site);
}

void tma_load_multicast(void* shared,
                        const TensorMap* map,
                        uint64_t* barrier,
                        const int* at,
                        int rank,
                        unsigned blocks,
                        const char* file,
                        int line) {
    const simt::detail::Site site{"TMA multicast load", file, line, true};
    Worker& w = simt::detail::kernel_worker(site.op, file, line);
    simt::detail::for_each_block(w, blocks, site, [&](unsigned block) {
        void* const to = simt::detail::map_shared(shared, block, file, line);
        void* const counts = simt::detail::map_shared(barrier, block, file, line);
        const simt::detail::InRuntime guard(w);
        simt::detail::issue_load(w,
                                 simt::detail::box_copy(w, map, to, at, rank, site),
                                 static_cast<uint64_t*>(counts),
                                 site);
    });
}

void tma_store(const TensorMap* map,
               const void* shared,
               const int* at,
               int rank,
               const char* file,
               int line) {
    const simt::detail::Site site{"TMA store", file, line};
    Worker& w = simt::detail::kernel_worker(site.op, file, line);
    const simt::detail::InRuntime guard(w);
    TensorCopy copy = simt::detail::box_copy(w, map, shared, at, rank, site);
    simt::detail::check_store(w, *map, at, site);
    simt::detail::check_end(w, copy, site);
    if (simt::detail::observer)
        simt::detail::observer->async_access(copy.begin, copy.bytes(), false);
    auto& state = simt::detail::hopper_state(w);
    copy.group = state.store_group[copy.thread];
    state.stores.push_back(std::move(copy));
}

void bulk_load(void* shared,
               const void* global,
               int bytes,
               uint64_t* barrier,
               const char* file,
               int line) {
    const simt::detail::Site site{"cp.async.bulk", file, line, true};
    Worker& w = simt::detail::kernel_worker(site.op, file, line);
    const simt::detail::InRuntime guard(w);
    simt::detail::issue_load(
        w, simt::detail::bulk_copy(w, shared, global, bytes, site), barrier, site);
}

void bulk_load_multicast(void* shared,
                         const void* global,
                         int bytes,
                         uint64_t* barrier,
                         unsigned blocks,
                         const char* file,
                         int line) {
    Worker& w = simt::detail::kernel_worker("cp.async.bulk", file, line);
    const simt::detail::Site site{"cp.async.bulk", file, line, true};
    simt::detail::for_each_block(w, blocks, site, [&](unsigned block) {
        bulk_load(simt::detail::map_shared(shared, block, file, line),
                  global,
                  bytes,
                  static_cast<uint64_t*>(
                      simt::detail::map_shared(barrier, block, file, line)),
                  file,
                  line);
    });
}

void store_async(void* to,
                 const void* value,
                 int bytes,
                 uint64_t* barrier,
                 const char* file,
                 int line) {
    Worker& w = simt::detail::kernel_worker("st.async", file, line);
    const simt::detail::InRuntime guard(w);
    const simt::detail::Site site{"st.async", file, line, true};
    simt::detail::check_shared_address(w, to, static_cast<unsigned>(bytes), site);
    simt::detail::Block& home = simt::detail::home_of(w, to);
    if (&home != &simt::detail::home_of(w, barrier) || home.alive == 0)
        simt::detail::hopper_fault(
            w,
            file,
            line,
            "st.async: the word and the mbarrier that counts its "
            "bytes must lie in the shared memory of one block "
            "that has not ended");
    simt::detail::AsyncStore word{
        static_cast<char*>(to), {}, unsigned(bytes), barrier, file, line};
    std::memcpy(word.data, value, word.bytes);
    if (simt::detail::observer) {
        simt::detail::observer->async_access(to, word.bytes, true);
        simt::detail::observer->async_pending(to, word.bytes, true);
    }
    std::memset(to, 0xff, word.bytes);
    simt::detail::hopper_state(home).words.push_back(word);
    simt::detail::mbarrier_copy_issued(w, barrier, file, line);
}

void tma_store_commit() {
    Worker& w = simt::detail::kernel_worker("cp.async.bulk.commit_group", nullptr, 0);
    const simt::detail::InRuntime guard(w);
    ++simt::detail::hopper_state(w).store_group[w.thread->rank];
}

void tma_store_wait_read(int pending) {
    Worker& w = simt::detail::kernel_worker("cp.async.bulk.wait_group", nullptr, 0);
    const simt::detail::InRuntime guard(w);
    auto& state = simt::detail::hopper_state(w);
    const unsigned rank = w.thread->rank;
    const uint64_t open = state.store_group[rank];
    std::vector<TensorCopy> due, others;
    for (TensorCopy& store : state.stores) {
        const bool is_due = store.thread == rank && store.group < open &&
                            open - store.group > static_cast<uint64_t>(pending);
        (is_due ? due : others).push_back(std::move(store));
    }
    state.stores = std::move(others);
    for (const TensorCopy& store : due)
        simt::detail::perform_store(w, store);
}

}  // namespace simt::ptx
