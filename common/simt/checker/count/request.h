/// checker/count/request.h: what the memory system does for one instruction of a warp.
///
/// Pure functions of the lanes' addresses. The terms are Nsight Compute's: a request is
/// a load or store executed by a warp; global memory serves it in sectors of 32 bytes,
/// shared memory in wavefronts, each of which takes at most one 4-byte word from each
/// of 32 banks and gives it to all lanes that want it.
///
/// Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and
/// "Shared Memory and Memory Banks"; Nsight Compute documentation, "Metrics Decoder".
#pragma once

#include <cstdint>

#include "checker/record.h"

namespace simt::check {

constexpr unsigned kSectorBytes = 32;
constexpr unsigned kBanks = 32;

/// One load, store or atomic of a warp.
struct Request {
    uint32_t lanes = 0;     // that take part; not 0
    uint32_t bytes = 4;     // per lane: 1, 2, 4, 8 or 16
    uintptr_t address[32];  // of the lanes that take part
};

/// The different sectors that a request touches, in ascending order.
struct Sectors {
    unsigned count = 0;
    unsigned ideal = 0;    // the least that could hold the bytes that are wanted
    uintptr_t number[64];  // address / 32
};
Sectors sectors_of(const Request& request);

/// What a request to shared memory costs.
struct Wavefronts {
    unsigned count = 0;
    unsigned ideal = 0;  // without bank conflicts
    unsigned ways = 0;   // the most words that one bank must give in one pass
};
/// 8-byte accesses are served by half warps, 16-byte accesses by quarter warps; by
/// twice as many lanes at a time if all lanes that are 1 apart, or all that are 2
/// apart, want the same word. NVIDIA does not document this: an H100 does it in all the
/// patterns of examples/shared_banks.cu, where Nsight Compute's counts were compared.
Wavefronts wavefronts_of(const Request& request);

/// Who meets whom in an atomic operation.
struct Contention {
    unsigned same_address = 0;  // lanes that want the same address, at most
    unsigned steps = 0;         // operations that must follow one another
};
/// Lanes with the same address follow one another; in shared memory also lanes whose
/// addresses are in the same bank.
Contention contention_of(const Request& request, bool shared);

/// How many different words a request for constant memory names: they are read one
/// after another.
unsigned words_of(const Request& request);

}  // namespace simt::check
