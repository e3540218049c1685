// blackwell_attention.cu: the numbers that tell Blackwell's tensor cores where things
// are, and attention that uses them.
#include "blackwell_attention.h"

#include <wb/exercise.h>

#include "launch.h"

/// Bits first to last of a word hold `value`; what does not fit is cut off.
static __host__ __device__ constexpr uint64_t field(uint64_t value,
                                                    int first,
                                                    int last) {
    const uint64_t mask = (uint64_t{1} << (last - first + 1)) - 1;
    return (value & mask) << first;
}

/// Your functions; the contract says what they return. The kernel calls them, too.
struct Packing {
    // #region shared-descriptor
    static __host__ __device__ uint64_t shared_descriptor(uint32_t address,
                                                          uint32_t leading_bytes,
                                                          uint32_t stride_bytes,
                                                          Swizzle swizzle) {
        // TODO(learner): put the fields into their bits; of addresses and distances,
        // the units of 16 bytes in the low 18 bits (about 5 lines; field() helps)
        // #solution
        const uint64_t units = 0x3ffff;
        return field((address & units) >> 4, 0, 13) |
               field((leading_bytes & units) >> 4, 16, 29) |
               field((stride_bytes & units) >> 4, 32, 45) | field(1, 46, 48) |
               field(static_cast<uint64_t>(swizzle), 61, 63);
        // #end
        // #starter return 0;
    }
    // #endregion shared-descriptor

    // #region instruction-descriptor
    static __host__ __device__ uint32_t instruction_descriptor(
        int m, int n, Element type, bool transpose_a, bool transpose_b) {
        // TODO(learner): d is float, a and b are both of `type` (about 7 lines)
        // #solution
        const auto element = static_cast<uint64_t>(type);
        return static_cast<uint32_t>(
            field(1, 4, 5) | field(element, 7, 9) | field(element, 10, 12) |
            field(transpose_a, 15, 15) | field(transpose_b, 16, 16) |
            field(static_cast<uint64_t>(n / 8), 17, 22) |
            field(static_cast<uint64_t>(m / 16), 24, 28));
        // #end
        // #starter return 0;
    }
    // #endregion instruction-descriptor

    // #region tensor-address
    static __host__ __device__ uint32_t tensor_address(uint32_t base,
                                                       int lane,
                                                       int column) {
        // TODO(learner): the two halves of the address (1 line)
        // #solution
        return base + (static_cast<uint32_t>(lane) << 16) +
               static_cast<uint32_t>(column);
        // #end
        // #starter return base;
    }
    // #endregion tensor-address

    // #region layouts
    static __host__ __device__ int swizzled_byte(int row, int byte) {
        // TODO(learner): 128 bytes a row; in it, the 16-byte units change places (1 or
        // 2 lines)
        // #solution
        const int unit = byte / 16;
        return row * 128 + (unit ^ row % 8) * 16 + byte % 16;
        // #end
        // #starter return 0;
    }

    static __host__ __device__ int key_step_bytes(int rows, int step) {
        // TODO(learner): 16 elements are 32 bytes, and a panel holds four steps; the
        // next panel begins after all rows of this one (1 line)
        // #solution
        return step / 4 * rows * 128 + step % 4 * 32;
        // #end
        // #starter return 0;
    }

    static __host__ __device__ WeightPlace weight_place(int row, int key) {
        // TODO(learner): see the contract (1 line)
        // #solution
        return {row, key / 2, key % 2 * 16};
        // #end
        // #starter return {0, 0, 0};
    }
    // #endregion layouts
};

/// The contract's functions first ask whether you are done.
static void check_solved() {
    // #starter WB_NOT_SOLVED();  // delete this line when all six TODOs are written
}

uint64_t shared_descriptor(uint32_t address,
                           uint32_t leading_bytes,
                           uint32_t stride_bytes,
                           Swizzle swizzle) {
    check_solved();
    return Packing::shared_descriptor(address, leading_bytes, stride_bytes, swizzle);
}

uint32_t instruction_descriptor(
    int m, int n, Element type, bool transpose_a, bool transpose_b) {
    check_solved();
    return Packing::instruction_descriptor(m, n, type, transpose_a, transpose_b);
}

uint32_t tensor_address(uint32_t base, int lane, int column) {
    check_solved();
    return Packing::tensor_address(base, lane, column);
}

int swizzled_byte(int row, int byte) {
    check_solved();
    return Packing::swizzled_byte(row, byte);
}

int key_step_bytes(int rows, int step) {
    check_solved();
    return Packing::key_step_bytes(rows, step);
}

WeightPlace weight_place(int row, int key) {
    check_solved();
    return Packing::weight_place(row, key);
}

void blackwell_attention(const wb::AttentionShape& shape,
                         const __nv_bfloat16* q,
                         const __nv_bfloat16* k,
                         const __nv_bfloat16* v,
                         __nv_bfloat16* o,
                         float* lse,
                         cudaStream_t stream) {
    check_solved();
    run_attention<Packing>(shape, q, k, v, o, lse, stream);
}
