/// groups.h: given with "Go faster": a row as its threads see it. Which threads have a
/// row together, and how what their warps know of it is merged, is in
/// wb/row_groups.h and wb/moments.h. There is nothing to write here.
#pragma once

#include <cuda_runtime.h>
#include <wb/moments.h>
#include <wb/row_groups.h>

#include <cstdint>

#include "numbers.h"
#include "rows.h"

using wb::Group;
using wb::has_vectors;
using wb::load_or;
using wb::merge_warps;
using wb::merged;
using wb::Moments;
using wb::rstd_of;
using wb::Shape;
using wb::shape_of;

// #region row
/// A row, or a piece of one, as its threads see it.
template <class T>
struct Row {
    const T* x;
    T* y;
    const T* gamma;  ///< null: all are 1
    const T* beta;   ///< null: nothing is added
    int accesses;    ///< of kPer elements; 0 if there is no row
};

/// A row from column `first` on; a thread holds no more of it than it can.
template <class T, int kPer>
__device__ __forceinline__ Row<T> row_of(const Norm<T>& norm,
                                         int64_t row,
                                         int64_t first) {
    return {norm.x + row * norm.columns + first,
            norm.y + row * norm.columns + first,
            norm.gamma == nullptr ? nullptr : norm.gamma + first,
            norm.beta == nullptr ? nullptr : norm.beta + first,
            row < norm.rows ? static_cast<int>((norm.columns - first) / kPer) : 0};
}
// #endregion row
