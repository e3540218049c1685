/// wb/hopper_gemm/choose.h: launches a product with the tiles, and in the parts of K,
/// with which it should be done first, by what was measured.
#pragma once

#include <cstddef>

#include "wb/hopper_gemm/split_k.h"

namespace wb::hopper_gemm {

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
