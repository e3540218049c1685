/// async/blackwell/tensor_memory.h: a block's tensor memory, and what is under way in
/// it.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "async/hopper/operands.h"

namespace simt::detail {

constexpr unsigned kTmemLanes = 128;
constexpr unsigned kTmemColumns = 512;

/// The fields of an instruction descriptor, for kind::f16.
///
/// Source: PTX ISA, "Instruction descriptor", table for kind::f16.
struct InstructionDescriptor {
    int m, n;
    ptx::detail::WgmmaFormat format;
    bool transpose_a, transpose_b;
};

/// A product, or (with a barrier) a commit.
struct TmemOperation {
    unsigned thread = 0;  // that has issued it
    uint64_t* barrier = nullptr;
    uint32_t d = 0;
    bool a_in_tmem = false;
    uint32_t a_tmem = 0;
    MatrixDescriptor a{}, b{};
    InstructionDescriptor instruction{};
    bool accumulate = false;
    WgmmaOperands operands;                      // as they were at the issue
    std::shared_ptr<std::vector<float>> values;  // of the accumulator, [m][n]
    const char* file = nullptr;
    int line = 0;
};

/// A tcgen05.ld whose registers have not been filled, or a tcgen05.st that has not
/// arrived.
struct TmemTransfer {
    unsigned thread;
    bool load;
    uint32_t* registers;
    std::vector<uint32_t> values;
    uint32_t address;
    int count;
    const char* file;
    int line;
};

struct TensorMemory : AsyncUnit {
    std::vector<uint32_t> cells;  // [lane][column]
    std::vector<int> owner;  // of each column: first column of its allocation, or -1
    std::deque<TmemOperation> operations;
    std::vector<TmemTransfer> transfers;

    TensorMemory() : cells(kTmemLanes * kTmemColumns, ~0u), owner(kTmemColumns, -1) {}
    uint32_t& cell(unsigned lane, unsigned column) {
        return cells[lane * kTmemColumns + column];
    }
    void land_commits(Worker& w, uint64_t* barrier) override;
    /// Reports columns that the block has not freed.
    void block_ends(Worker& w) override;
};

inline unsigned tmem_lane(uint32_t address) {
    return address >> 16;
}
inline unsigned tmem_column(uint32_t address) {
    return address & 0xffff;
}

TensorMemory& tensor_memory(Worker& w);

}  // namespace simt::detail
