/// checker/shadow.h: what the checker knows about each byte of a range of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "record.h"

namespace simt::check {

/// The shadow of one address range. It is as large as the range needs, but the system
/// provides memory only for what has been accessed.
class Shadow {
 public:
    constexpr Shadow() = default;
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;

    /// Begins to watch a range; ends the program if the system has no addresses left.
    void map(const char* begin, size_t bytes);

    bool contains(const void* p) const {
        return static_cast<size_t>(static_cast<const char*>(p) - begin_) < bytes_;
    }
    bool mapped() const { return bytes_ != 0; }
    const char* begin() const { return begin_; }

    /// The cell of the word that contains an address.
    Cell* cell(const void* p) const {
        return cells_ +
               (static_cast<size_t>(static_cast<const char*>(p) - begin_) >> 2);
    }

    /// The word's last load through the read-only cache, see read_only.cpp.
    Record& read_only(const void* p) {
        if (!read_only_) [[unlikely]]
            map_read_only();
        return read_only_[cell(p) - cells_];
    }

    size_t size() const { return bytes_; }
    /// A bit for each byte from `p` on, which is a multiple of 8 bytes from the start.
    uint8_t* initialised_bits(const char* p) const {
        return initialised_ + (static_cast<size_t>(p - begin_) >> 3);
    }

    /// True if somebody has written all of at most 16 bytes.
    bool initialised(const char* p, size_t n) const { return written(p, n) == mask(n); }
    /// A bit for each of at most 16 bytes that has been written.
    uint32_t written(const char* p, size_t n) const {
        const auto at = static_cast<size_t>(p - begin_);
        uint32_t bits;
        std::memcpy(&bits, initialised_ + (at >> 3), sizeof bits);
        return bits >> (at & 7) & mask(n);
    }
    /// Notes that at most 16 bytes have been written.
    void initialise(const char* p, size_t n) {
        const auto at = static_cast<size_t>(p - begin_);
        uint32_t bits;
        std::memcpy(&bits, initialised_ + (at >> 3), sizeof bits);
        bits |= mask(n) << (at & 7);
        std::memcpy(initialised_ + (at >> 3), &bits, sizeof bits);
    }

    /// The same for any number of bytes.
    void set_initialised(const char* p, size_t n, bool value);
    bool any_initialised(const char* p, size_t n) const;
    bool all_initialised(const char* p, size_t n) const;
    /// The bytes at `to` are as well initialised as those at `from` of another shadow.
    void copy_initialised(const char* to,
                          const Shadow& other,
                          const char* from,
                          size_t n);

    /// Forgets all accesses, but not what is initialised.
    void forget_accesses();

    /// Forgets all about whole pages of memory, and gives the shadow's pages back.
    void forget(const char* p, size_t n);

 private:
    static uint32_t mask(size_t n) { return (1u << n) - 1; }
    void map_read_only();

    const char* begin_ = nullptr;
    size_t bytes_ = 0;
    Cell* cells_ = nullptr;
    Record* read_only_ = nullptr;     // by word; null: there was no such load yet
    uint8_t* initialised_ = nullptr;  // a bit for each byte
};

}  // namespace simt::check
