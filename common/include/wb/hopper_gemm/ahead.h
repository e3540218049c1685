/// wb/hopper_gemm/ahead.h: what an Epilogue reads from memory, before it is needed. See
/// epilogue.h.
#pragma once

#include <cuda_runtime.h>

namespace wb::hopper_gemm {

/// What an Epilogue has fetched that reads nothing.
struct NothingAhead {};

// #region ahead
template <class Epilogue>
struct AheadOf {
    using Type = NothingAhead;
};
template <class Epilogue>
requires requires {
    typename Epilogue::Ahead;
}
struct AheadOf<Epilogue> {
    using Type = typename Epilogue::Ahead;
};

/// What an Epilogue has fetched, for a pair of columns in each 8 columns.
template <int kCount, class Epilogue>
struct Fetched {
    typename AheadOf<Epilogue>::Type of[kCount];
};

/// Has an Epilogue fetch what it needs for columns col, col + 8, ..., kCount of them,
/// and their neighbours.
template <int kCount, class Epilogue>
__device__ __forceinline__ Fetched<kCount, Epilogue> fetch_columns(
    const Epilogue& epilogue, int col) {
    Fetched<kCount, Epilogue> fetched = {};
    if constexpr (requires { typename Epilogue::Ahead; }) {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
            fetched.of[i] = epilogue.fetch(col + 8 * i);
    }
    return fetched;
}
// #endregion ahead

}  // namespace wb::hopper_gemm
