/// wb/hopper_gemm/choose.h: which tiles a product is done with, and in how many parts
/// of K: those with which it should be done first, by what was measured.
#pragma once

#include <cstddef>
#include <limits>

#include "wb/hopper_gemm/split_k.h"

namespace wb::hopper_gemm {

// #region candidate
/// Tiles that may be taken, and how long they take on an H100, in nanoseconds.
struct Candidate {
    Tiling tiling;
    int band;            ///< rows of clusters that are worked on together
    int step_ns;         ///< of a stage, with all multiprocessors at work
    int tile_ns;         ///< of a tile, beside its stages
    int most_parts = 1;  ///< that K may be cut into
};

/// Of any launch: until the first stage is there, and since the last one is.
inline constexpr double kLaunchNs = 5000.0;
/// Of the second kernel of a product in parts. Not measured, as the next one.
inline constexpr double kTotalNs = 3000.0;
/// Bytes a nanosecond at which sums of parts are written, and read again: L2's.
inline constexpr double kPartsBytesPerNs = 4000.0;
/// Stages that are worth a cluster.
inline constexpr int kLeastSteps = 4;

/// How a product is done with a candidate.
struct Plan {
    double ns = std::numeric_limits<double>::infinity();
    int parts = 1;  ///< as many are wanted; see Parts::of()
};

/// The best one for these tiles.
///
/// @param M, N             of C, > 0
/// @param steps            stages of a tile, > 0
/// @param multiprocessors  > 0
inline Plan plan_of(
    const Candidate& c, int64_t M, int64_t N, int steps, int multiprocessors) {
    const Tiling& t = c.tiling;
    const int of_cluster = t.cluster_rows * t.cluster_columns;
    const int64_t tiles = wb::ceil_div(M, int64_t{t.block_rows} * t.cluster_rows) *
                          wb::ceil_div(N, int64_t{t.block_columns} * t.cluster_columns);
    const int64_t room = std::max(multiprocessors / of_cluster, 1);
    Plan best;
    for (int wanted = 1; wanted <= c.most_parts; ++wanted) {
        const Parts parts = Parts::of(steps, wanted);
        if (wanted > 1 && parts.steps < kLeastSteps) break;
        const auto rounds =
            static_cast<double>(wb::ceil_div(tiles * parts.count, room));
        double ns = kLaunchNs + rounds * (static_cast<double>(parts.steps) * c.step_ns +
                                          static_cast<double>(c.tile_ns));
        if (parts.count > 1) {
            const double bytes = 8.0 * static_cast<double>(M * N) * parts.count;
            ns += kTotalNs + bytes / kPartsBytesPerNs;
        }
        if (ns < best.ns) best = {ns, wanted};
    }
    return best;
}
// #endregion candidate

// #region launch-fastest
/// Launches one candidate.
template <class Epilogue, LayoutB kLayoutB, Candidate kCandidate, class T, class CType>
void launch_candidate(const Product<T, CType>& product,
                      const typename Epilogue::Params& params,
                      int wanted_parts) {
    using S = TileSizes<T, CType, kLayoutB, kCandidate.tiling>;
    if constexpr (kCandidate.most_parts > 1) {
        const int steps = problem_of<S>(product, 1).steps;
        const Parts parts = Parts::of(steps, wanted_parts);
        if (parts.count > 1)
            return launch_parts<S, Epilogue>(product, params, kCandidate.band, parts);
    }
    launch<S, Epilogue>(product, params, {.band = kCandidate.band});
}

/// Launches the candidate with which the product should be done first; of equals, the
/// first one.
template <class Epilogue,
          LayoutB kLayoutB,
          Candidate... kCandidates,
          class T,
          class CType>
void launch_fastest(const Product<T, CType>& product,
                    const typename Epilogue::Params& params) {
    constexpr int64_t kDepth = wb::ptx::kSwizzleBytes / sizeof(T);  // of a stage
    const auto steps = static_cast<int>(wb::ceil_div(product.K, kDepth));
    const Plan plans[] = {
        plan_of(kCandidates, product.M, product.N, steps, wb::multiprocessors())...};
    size_t best = 0;
    for (size_t i = 1; i < sizeof...(kCandidates); ++i)
        if (plans[i].ns < plans[best].ns) best = i;
    size_t i = 0;
    const auto launch_if_best = [&]<Candidate kCandidate>() {
        if (i++ == best)
            launch_candidate<Epilogue, kLayoutB, kCandidate>(
                product, params, plans[best].parts);
    };
    (launch_if_best.template operator()<kCandidates>(), ...);
}
// #endregion launch-fastest

}  // namespace wb::hopper_gemm
