/// wb/ptx/hopper.h: what the wrappers of Hopper's instructions have in common.
///
/// wgmma.h, mbarrier.h, tma.h and warp_specialize.h wrap instructions of sm_90 and
/// sm_90a. Each wrapper has three bodies:
///
///     WB_HOPPER_SIM      the simulator: simt::ptx::<same name>(<same arguments>, file,
///                        line), from simt/hopper.h
///     WB_HOPPER_DEVICE   nvcc for sm_90a: the instruction
///     neither            an older GPU: the kernel traps
///
/// WB_HOPPER_DEVICE asks for sm_90a, not sm_90: wgmma and setmaxnreg are promised for
/// no later GPU, so the compiler wants to be told that the code is for this one alone.
/// WB_TMA_DEVICE is for what later GPUs have as well: mbarriers and TMA.
#pragma once

#include "wb/ptx/site.h"

#if defined(SIMT_CPU)
#if __has_include("simt/hopper.h")
#include "simt/hopper.h"
#define WB_HOPPER_SIM
#endif
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WB_HOPPER_DEVICE
#endif
#if !defined(SIMT_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WB_TMA_DEVICE
#endif
