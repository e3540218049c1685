/// wb/model/arena.h: all memory of a step in one piece, planned before the first step.
///
///     wb::model::ArenaPlan plan;
///     const int normed = plan.add("normed", bytes, 0, 1);   // written in 0, read in 1
///     const int qkv = plan.add("qkv", bytes, 1, 9);
///     plan.place();
///     char* memory = …;                                     // plan.bytes() of them
///     auto* x = reinterpret_cast<float*>(memory + plan.offset(normed));
///
/// Arrays whose times do not meet may share memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wb::model {

class ArenaPlan {
 public:
    /// Wants an array.
    ///
    /// @param name         for messages and listings
    /// @param bytes        >= 0
    /// @param first, last  the moments, of whatever the caller counts, from which and
    ///                     to which the array is in use: 0 <= first <= last
    /// @return             its number, for offset()
    /// Throws wb::InvalidArgument
    int add(const std::string& name, int64_t bytes, int64_t first, int64_t last);

    /// Finds a place for each array: the larger first, each at the lowest offset where
    /// it meets none that is in use at the same time. That is not always the least
    /// memory there is (finding that takes more than polynomial time), but never more
    /// than all arrays side by side, and no less than least().
    void place();

    /// Where an array begins: a multiple of 256. After place().
    int64_t offset(int array) const;

    /// All of the memory, after place(): a multiple of 256.
    int64_t bytes() const { return bytes_; }

    /// The bytes in use at the fullest moment: no plan has less.
    int64_t least() const;

    /// A line for each array, in order of their offsets: "  4096 + 512  qkv  1..9".
    std::string describe() const;

 private:
    struct Array {
        std::string name;
        int64_t bytes;  // rounded up to a multiple of 256
        int64_t first;
        int64_t last;
        int64_t offset;
    };
    std::vector<Array> arrays_;
    int64_t bytes_ = 0;
};

}  // namespace wb::model
