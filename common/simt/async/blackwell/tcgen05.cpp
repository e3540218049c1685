// tcgen05.mma and tcgen05.commit.

#include "simt/blackwell/tcgen05.h"

#include <algorithm>
#include <cstring>

#include "core/observer.h"
#include "tensor_memory.h"

namespace simt::detail {
namespace {

using ptx::detail::WgmmaFormat;

/// Source: PTX ISA, "Shared memory descriptor" of tcgen05.
MatrixDescriptor decode_shared(Worker& w, uint64_t bits, const char* file, int line) {
    const unsigned mode = static_cast<unsigned>(bits >> 61);
    if ((bits >> 46 & 7) != 1 || (bits >> 52 & 0x1ff) != 0)
        hopper_fault(w,
                     file,
                     line,
                     "tcgen05.mma: bits 46 to 48 of a shared memory descriptor must be "
                     "001, bits 52 to 60 zeros\n    (bit 52, absolute addresses, is "
                     "not supported); this one is 0x%016llx",
                     static_cast<unsigned long long>(bits));
    if ((mode & 1) != 0)
        hopper_fault(w,
                     file,
                     line,
                     "tcgen05.mma: swizzling mode %u; 0, 2, 4 and 6 are supported",
                     mode);
    constexpr int kWidth[4] = {0, 128, 64, 32};
    MatrixDescriptor d = MatrixDescriptor::decode(bits);
    d.swizzle_bytes = kWidth[mode / 2];
    return d;
}

InstructionDescriptor decode_instruction(Worker& w,
                                         uint32_t bits,
                                         const char* file,
                                         int line) {
    const unsigned a = bits >> 7 & 7, b = bits >> 10 & 7;
    const InstructionDescriptor d{
        static_cast<int>(bits >> 24 & 31) * 16,
        static_cast<int>(bits >> 17 & 63) * 8,
        a == 1 ? WgmmaFormat::bfloat16 : WgmmaFormat::binary16,
        (bits >> 15 & 1) != 0,
        (bits >> 16 & 1) != 0};
    constexpr uint32_t kUnsupported = 0xe080604f;  // sparsity, negation, reserved bits
    if ((bits & kUnsupported) != 0 || (bits >> 4 & 3) != 1 || a > 1 || a != b ||
        d.m != 128 || d.n < 16 || d.n > 256 || d.n % 16 != 0)
        hopper_fault(w,
                     file,
                     line,
                     "tcgen05.mma: the instruction descriptor 0x%08x does not say: "
                     "dense, bf16 or fp16 (both alike)\n    to float, M 128, N 16 to "
                     "256 in steps of 16; nothing else is supported",
                     bits);
    return d;
}

/// Rows of 32 bytes from tensor memory: two elements in a column.
std::vector<unsigned char> read_tmem(Worker& w, uint32_t address, int rows) {
    TensorMemory& memory = tensor_memory(w);
    std::vector<unsigned char> bytes(static_cast<size_t>(rows) * 32);
    for (int row = 0; row < rows; ++row)
        std::memcpy(&bytes[static_cast<size_t>(row) * 32],
                    &memory.cell(static_cast<unsigned>(row), tmem_column(address)),
                    32);
    return bytes;
}

void read_operands(Worker& w, const TmemOperation& op, WgmmaOperands& to) {
    const InstructionDescriptor& i = op.instruction;
    to.a = op.a_in_tmem ? read_tmem(w, op.a_tmem, i.m)
                        : read_operand(w,
                                       op.a,
                                       i.m,
                                       i.transpose_a,
                                       "tcgen05.mma: matrix a",
                                       op.file,
                                       op.line);
    to.b = read_operand(
        w, op.b, i.n, i.transpose_b, "tcgen05.mma: matrix b", op.file, op.line);
}

void check_columns(Worker& w,
                   uint32_t address,
                   int columns,
                   const char* what,
                   const char* file,
                   int line) {
    const unsigned begin = tmem_column(address);
    const unsigned end = begin + static_cast<unsigned>(columns);
    const TensorMemory& memory = tensor_memory(w);
    bool right = tmem_lane(address) == 0 && end <= kTmemColumns;
    for (unsigned c = begin; c < end && right; ++c)
        right = memory.owner[c] >= 0;
    if (!right)
        hopper_fault(
            w,
            file,
            line,
            "tcgen05.mma: matrix %s at lane %u, columns %u to %u: it must begin "
            "at lane 0, in columns that are allocated",
            what,
            tmem_lane(address),
            begin,
            end - 1);
}

/// The accumulator of an earlier product in flight, or its contents; poisons it.
void take_accumulator(Worker& w, TmemOperation& op) {
    TensorMemory& memory = tensor_memory(w);
    const auto n = static_cast<unsigned>(op.instruction.n);
    const unsigned begin = tmem_column(op.d);
    for (const TmemOperation& other : memory.operations) {
        if (!other.values) continue;
        const unsigned at = tmem_column(other.d);
        const auto size = static_cast<unsigned>(other.instruction.n);
        if (at == begin && size == n)
            op.values = other.values;
        else if (begin < at + size && at < begin + n)
            hopper_fault(w,
                         op.file,
                         op.line,
                         "tcgen05.mma: the accumulator overlaps that of the product at "
                         "%s, which is running",
                         place(other.file, other.line).c_str());
    }
    if (op.values) return;
    op.values = std::make_shared<std::vector<float>>(kTmemLanes * n);
    for (unsigned lane = 0; lane < kTmemLanes; ++lane) {
        std::memcpy(&(*op.values)[lane * n], &memory.cell(lane, begin), n * 4);
        std::memset(&memory.cell(lane, begin), 0xff, n * 4);
    }
}

void issue(Worker& w, TmemOperation op) {
    check_columns(w, op.d, op.instruction.n, "d", op.file, op.line);
    if (op.a_in_tmem) check_columns(w, op.a_tmem, 8, "a", op.file, op.line);
    read_operands(w, op, op.operands);
    if (observer) {
        if (!op.a_in_tmem)
            tell_operand_reads(
                w, op.a, op.instruction.m, op.instruction.transpose_a, 0, 1, 0);
        tell_operand_reads(
            w, op.b, op.instruction.n, op.instruction.transpose_b, 0, 1, 0);
    }
    take_accumulator(w, op);
    op.thread = w.thread->rank;
    tensor_memory(w).operations.push_back(std::move(op));
}

void compute(Worker& w, TmemOperation op) {
    WgmmaOperands now;
    read_operands(w, op, now);
    if (now.a != op.operands.a || now.b != op.operands.b)
        hopper_fault(w,
                     op.file,
                     op.line,
                     "tcgen05.mma: matrix %s was overwritten while the product was "
                     "running: wait for the\n    mbarrier of its commit",
                     now.a != op.operands.a ? "a" : "b");
    const InstructionDescriptor& i = op.instruction;
    multiply(i.format, op.accumulate, i.m, i.n, now, op.values->data());
    if (op.values.use_count() > 1) return;  // a later product goes on with it
    TensorMemory& memory = tensor_memory(w);
    const auto n = static_cast<unsigned>(i.n);
    for (unsigned lane = 0; lane < kTmemLanes; ++lane)
        std::memcpy(
            &memory.cell(lane, tmem_column(op.d)), &(*op.values)[lane * n], n * 4);
}

}  // namespace

void TensorMemory::land_commits(Worker& w, uint64_t* barrier) {
    const uint64_t phase = *barrier >> 63;
    while (*barrier >> 63 == phase) {
        const auto commit =
            std::find_if(operations.begin(), operations.end(), [&](const auto& op) {
                return op.barrier == barrier;
            });
        if (commit == operations.end()) return;
        // It waits for what its own thread has issued, and for nothing else.
        const auto next =
            std::find_if(operations.begin(), operations.end(), [&](const auto& op) {
                return op.thread == commit->thread;
            });
        TmemOperation op = std::move(*next);
        operations.erase(next);
        if (op.barrier)
            mbarrier_commit_arrives(w, op.barrier, op.file, op.line);
        else
            compute(w, std::move(op));
    }
}

}  // namespace simt::detail

namespace simt::ptx {

namespace d = simt::detail;

void tcgen05_mma_ss(uint32_t accumulator,
                    uint64_t a,
                    uint64_t b,
                    uint32_t instruction,
                    bool accumulate,
                    const char* file,
                    int line) {
    d::Worker& w = d::kernel_worker("tcgen05.mma", file, line);
    const d::InRuntime guard(w);
    d::TmemOperation op;
    op.d = accumulator;
    op.file = file;
    op.line = line;
    op.instruction = d::decode_instruction(w, instruction, file, line);
    op.a = d::decode_shared(w, a, file, line);
    op.b = d::decode_shared(w, b, file, line);
    op.accumulate = accumulate;
    d::issue(w, std::move(op));
}

void tcgen05_mma_ts(uint32_t accumulator,
                    uint32_t a,
                    uint64_t b,
                    uint32_t instruction,
                    bool accumulate,
                    const char* file,
                    int line) {
    d::Worker& w = d::kernel_worker("tcgen05.mma", file, line);
    const d::InRuntime guard(w);
    d::TmemOperation op;
    op.d = accumulator;
    op.file = file;
    op.line = line;
    op.instruction = d::decode_instruction(w, instruction, file, line);
    op.a_in_tmem = true;
    op.a_tmem = a;
    op.b = d::decode_shared(w, b, file, line);
    op.accumulate = accumulate;
    d::issue(w, std::move(op));
}

void tcgen05_commit(uint64_t* barrier, const char* file, int line) {
    d::Worker& w = d::kernel_worker("tcgen05.commit", file, line);
    const d::InRuntime guard(w);
    d::TmemOperation op;
    op.thread = w.thread->rank;
    op.barrier = barrier;
    op.file = file;
    op.line = line;
    d::tensor_memory(w).operations.push_back(std::move(op));
    d::mbarrier_copy_issued(w, barrier, file, line);
}

}  // namespace simt::ptx
