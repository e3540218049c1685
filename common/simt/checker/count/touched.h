/// checker/count/touched.h: the set of sectors that a kernel has touched.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace simt::check {

class Touched {
 public:
    /// @param sector  address / 32
    void add(uintptr_t sector) {
        const uintptr_t page = sector / kPage;
        if (page != last_ || !bits_) {
            auto& slot = pages_[page];
            if (!slot) slot = std::make_unique<Bits>();
            bits_ = slot.get();
            last_ = page;
        }
        bits_->set(sector % kPage);
    }
    /// How many different sectors there are.
    uint64_t count() const {
        uint64_t sum = 0;
        for (const auto& [page, bits] : pages_)
            sum += bits->count();
        return sum;
    }
    void clear() {
        pages_.clear();
        bits_ = nullptr;
    }

 private:
    static constexpr uintptr_t kPage = 4096;  // sectors: 128 KiB
    using Bits = std::bitset<kPage>;
    std::unordered_map<uintptr_t, std::unique_ptr<Bits>> pages_;
    uintptr_t last_ = 0;
    Bits* bits_ = nullptr;
};

}  // namespace simt::check
