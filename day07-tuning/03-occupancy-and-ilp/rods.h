/// rods.h: a given kernel that needs many registers, compiled with several promises.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "driver.h"

/// Cells of a rod, all of which one thread keeps in registers; threads in a block.
inline constexpr int kRodCells = 64;
inline constexpr int kRodThreads = 256;

/// What the compiler is told about the kernel.
enum class RodVariant {
    at_least_1,  ///< __launch_bounds__(256, 1): as many registers as you like
    at_least_2,  ///< __launch_bounds__(256, 2): two blocks must fit
    at_least_3,
    at_least_4,
    at_least_8,
    rolled  ///< as at_least_1, but the loops over the cells are not unrolled
};
inline constexpr RodVariant kRodVariants[] = {RodVariant::at_least_1,
                                              RodVariant::at_least_2,
                                              RodVariant::at_least_3,
                                              RodVariant::at_least_4,
                                              RodVariant::at_least_8,
                                              RodVariant::rolled};

/// "bounds (256, 2)".
const char* name_of(RodVariant variant);

/// The blocks that the compiler was told to make room for.
int promised_blocks(RodVariant variant);

/// Heat in n rods of kRodCells cells, whose ends are kept at 0:
///
///     cell[j] += c * (cell[j - 1] - 2 cell[j] + cell[j + 1]), `steps` times
///
/// @param rods  [n / kRodThreads, kRodCells, kRodThreads] device memory: neighbouring
///              threads, neighbouring floats
/// @param n     >= 0, a multiple of kRodThreads
///
/// Error    <= gamma_(3 steps + 3) * max |rods|, for 0 <= c <= 0.5
/// Throws   wb::InvalidArgument
void launch_rods(RodVariant variant,
                 float* rods,
                 int64_t n,
                 int steps,
                 float c,
                 cudaStream_t stream);

/// What the driver says of its kernel, in blocks of `threads` <= kRodThreads threads.
Facts rods_facts(RodVariant variant, int threads, int64_t dynamic_shared);
