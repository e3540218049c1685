/// multiprocessor.h: what a multiprocessor has to give away, by architecture.
///
/// Sources: CUDA C++ Programming Guide, "Compute Capabilities" (warps, blocks, shared
/// memory, the kilobyte that each block loses since 8.0); cuda_occupancy.h of the CUDA
/// 13.0 toolkit (the units in which registers and shared memory are handed out, the
/// four quarters). On a GPU the tests compare this with what the driver says.
#pragma once

#include <cstdint>

/// The same on every architecture from Turing to Blackwell.
inline constexpr int kRegisters = 65536;         ///< of 32 bits, a multiprocessor
inline constexpr int kQuarters = 4;              ///< that it is made of; each has its
                                                 ///< share of the registers, and a warp
                                                 ///< lives in one of them
inline constexpr int kRegisterUnit = 256;        ///< registers are given to warps so
inline constexpr int kRegistersOfAThread = 255;  ///< at most
inline constexpr int kThreadsOfABlock = 1024;    ///< at most

/// What differs between architectures.
struct Multiprocessor {
    int arch;              ///< 10 * compute capability: 90
    int warps;             ///< that it holds at once
    int blocks;            ///< likewise
    int64_t shared_bytes;  ///< of shared memory, for all blocks together
    int shared_unit;       ///< bytes: blocks get multiples of it
    int shared_reserved;   ///< bytes that the system takes for each block, on top
};

// #region table
/// The architectures that the workbook builds for.
inline constexpr Multiprocessor kMultiprocessors[] = {
    // arch, warps, blocks, shared, unit, reserved
    {75, 32, 16, 64 << 10, 256, 0},       // Turing: T4
    {80, 64, 32, 164 << 10, 128, 1024},   // Ampere: A100
    {86, 48, 16, 100 << 10, 128, 1024},   // Ampere: RTX 3090
    {89, 48, 24, 100 << 10, 128, 1024},   // Ada: RTX 4090
    {90, 64, 32, 228 << 10, 128, 1024},   // Hopper: H100
    {100, 64, 32, 228 << 10, 128, 1024},  // Blackwell: B200
    {120, 48, 24, 100 << 10, 128, 1024},  // Blackwell: RTX 5090
};
// #endregion table
