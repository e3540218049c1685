/// simt/wmma/memory.h: loading and storing fragments. The last lane of the warp that
/// comes to the call moves the whole tile, so that all lanes see memory at the same
/// moment.
#pragma once
#include "simt/fault.h"
#include "simt/seen.h"
#include "simt/warp.h"
#include "simt/wmma/fragment.h"

namespace nvcuda::wmma {

namespace simt_detail {
/// What a lane brings to a load or a store.
struct Transfer {
    void* elements;
    void* memory;
    unsigned ldm;
    bool row_major;
    const char* op;
    const char* file;
    int line;
};

constexpr int kLaunchFailure = 719;      // cudaErrorLaunchFailure
constexpr int kMisalignedAddress = 716;  // cudaErrorMisalignedAddress

inline void check_agreement(const Transfer& mine, const Transfer& other) {
    if (mine.memory == other.memory && mine.ldm == other.ldm &&
        mine.row_major == other.row_major) {
        return;
    }
    simt::detail::fault(kLaunchFailure,
                        mine.file,
                        mine.line,
                        "%s: the lanes of the warp disagree about pointer, leading "
                        "dimension or layout",
                        mine.op);
}
/// CUDA asks for multiples of 16 bytes, or of a whole line of the tile if that is
/// shorter.
inline void check_alignment(const Transfer& t, size_t element_size, size_t line_bytes) {
    const size_t unit = line_bytes < 16 ? line_bytes : 16;
    if (reinterpret_cast<uintptr_t>(t.memory) % unit != 0) {
        simt::detail::fault(kMisalignedAddress,
                            t.file,
                            t.line,
                            "%s: the tile at %p is not aligned to %zu bytes",
                            t.op,
                            t.memory,
                            unit);
    }
    if (t.ldm * element_size % unit != 0) {
        simt::detail::fault(kMisalignedAddress,
                            t.file,
                            t.line,
                            "%s: leading dimension %u; it must be a multiple of %zu "
                            "elements (%zu bytes)",
                            t.op,
                            t.ldm,
                            unit / element_size,
                            unit);
    }
}

/// Moves the whole tile between memory and the lanes' elements.
template <bool kLoad, class Use, int M, int N, int K, class Element>
void transfer(simt::detail::WarpArg* const* lanes, uint32_t mask) {
    constexpr int kDistinct = kRows<Use, M, N, K> * kCols<Use, M, N, K> / 32;
    constexpr int kElements =
        std::is_same_v<Element, __half> && !std::is_same_v<Use, accumulator>
            ? 16
            : kDistinct;
    const auto& first = *static_cast<Transfer*>(lanes[__builtin_ctz(mask)]->p);
    const int line_length = first.row_major ? kCols<Use, M, N, K> : kRows<Use, M, N, K>;
    check_alignment(first, sizeof(Element), line_length * sizeof(Element));
    for (int lane = 0; lane < 32; ++lane) {
        if (lanes[lane] == nullptr) continue;
        const auto& mine = *static_cast<Transfer*>(lanes[lane]->p);
        check_agreement(mine, first);
        auto* elements = static_cast<Element*>(mine.elements);
        auto* memory = static_cast<Element*>(mine.memory);
        for (int i = 0; i < (kLoad ? kElements : kDistinct); ++i) {
            const Position at = position<Use, M, N, K, Element>(lane, i % kDistinct);
            const size_t offset = mine.row_major ? size_t(at.row) * mine.ldm + at.col
                                                 : size_t(at.col) * mine.ldm + at.row;
            if constexpr (kLoad) {
                elements[i] = memory[offset];
            } else {
                memory[offset] = elements[i];
            }
        }
    }
}

#ifdef SIMT_CHECK
/// Tells the checker what the lane moves: neighbours together, up to 4 bytes at once.
template <bool kLoad, class Use, int M, int N, int K, class Element>
void announce(const Transfer& t) {
    constexpr int kDistinct = kRows<Use, M, N, K> * kCols<Use, M, N, K> / 32;
    constexpr int kMost = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;
    const auto* memory = static_cast<const Element*>(t.memory);
    const auto offset = [&](int i) {
        const Position at =
            position<Use, M, N, K, Element>(simt::detail::thread_rank % 32, i);
        return t.row_major ? size_t(at.row) * t.ldm + at.col
                           : size_t(at.col) * t.ldm + at.row;
    };
    for (int i = 0; i < kDistinct;) {
        int run = 1;
        while (run < kMost && i + run < kDistinct && offset(i + run) == offset(i) + run)
            ++run;
        simt_access_seen(memory + offset(i), run * sizeof(Element), !kLoad);
        i += run;
    }
}
#endif

template <bool kLoad, class Use, int M, int N, int K, class Element>
void collective(Transfer transfer_of_lane) {
#ifdef SIMT_CHECK
    announce<kLoad, Use, M, N, K, Element>(transfer_of_lane);
#endif
    simt::detail::WarpArg arg{
        0, 0, 0, &transfer_of_lane, transfer<kLoad, Use, M, N, K, Element>};
    simt::detail::warp_op(simt::detail::WarpOp::custom,
                          0xffffffffu,
                          arg,
                          transfer_of_lane.op,
                          transfer_of_lane.file,
                          transfer_of_lane.line);
}
}  // namespace simt_detail

/// Loads the tile of matrix_a or matrix_b that starts at `memory`.
///
/// @param ldm  elements between the starts of two rows (row_major) or columns
/// (col_major);
///             a multiple of 16 bytes. Error 716 otherwise, or if the tile is
///             misaligned.
template <class Use, int M, int N, int K, class T, class Layout>
void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& f,
                      const simt_detail::Storage<T>* memory,
                      unsigned ldm,
                      SIMT_SITE) {
    using Element = simt_detail::Storage<T>;
    simt_detail::collective<true, Use, M, N, K, Element>(
        {f.x,
         const_cast<Element*>(memory),
         ldm,
         std::is_same_v<Layout, row_major>,
         "wmma::load_matrix_sync",
         file,
         line});
}
/// Loads an accumulator.
template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f,
                      const std::type_identity_t<T>* memory,
                      unsigned ldm,
                      layout_t layout,
                      SIMT_SITE) {
    simt_detail::collective<true, accumulator, M, N, K, T>({f.x,
                                                            const_cast<T*>(memory),
                                                            ldm,
                                                            layout == mem_row_major,
                                                            "wmma::load_matrix_sync",
                                                            file,
                                                            line});
}
/// Stores an accumulator.
template <int M, int N, int K, class T>
void store_matrix_sync(std::type_identity_t<T>* memory,
                       const fragment<accumulator, M, N, K, T>& f,
                       unsigned ldm,
                       layout_t layout,
                       SIMT_SITE) {
    simt_detail::collective<false, accumulator, M, N, K, T>({const_cast<T*>(f.x),
                                                             memory,
                                                             ldm,
                                                             layout == mem_row_major,
                                                             "wmma::store_matrix_sync",
                                                             file,
                                                             line});
}
/// Sets all elements to one value.
template <class Use, int M, int N, int K, class T, class Layout>
void fill_fragment(fragment<Use, M, N, K, T, Layout>& f,
                   const std::type_identity_t<simt_detail::Storage<T>>& value) {
    for (auto& element : f.x) {
        element = value;
    }
}

}  // namespace nvcuda::wmma
