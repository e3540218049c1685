// Where bytes lie in a swizzled tile, and what a descriptor says: arithmetic that the
// tensor cores and the TMA unit take on trust. A wrong bit is no error, only a wrong
// result.
#include <wb/ptx/tile_layout.h>
#include <wb/testing/catch.h>

#include <set>

using wb::ptx::swizzle_128b;
using wb::ptx::wgmma_descriptor;

TEST_CASE("the swizzle moves 16-byte pieces within their row") {
    for (uint32_t row = 0; row < 64; ++row) {
        std::set<uint32_t> places;
        for (uint32_t byte = 0; byte < 128; ++byte) {
            const uint32_t place = swizzle_128b(row, byte);
            REQUIRE(place / 128 == row);
            REQUIRE(place % 16 == byte % 16);
            places.insert(place);
        }
        REQUIRE(places.size() == 128);
    }
}

TEST_CASE("the swizzle: rows 0, 1 and 9 by hand") {
    CHECK(swizzle_128b(0, 0) == 0);
    CHECK(swizzle_128b(0, 100) == 100);
    CHECK(swizzle_128b(1, 0) == 128 + 16);
    CHECK(swizzle_128b(1, 16) == 128);
    CHECK(swizzle_128b(7, 0) == 7 * 128 + 112);
    CHECK(swizzle_128b(9, 40) == 9 * 128 + 56);
}

TEST_CASE("eight rows of one 16-byte column lie in all 32 banks") {
    for (uint32_t column = 0; column < 128; column += 16) {
        std::set<uint32_t> banks;
        for (uint32_t row = 0; row < 8; ++row)
            for (uint32_t byte = 0; byte < 16; byte += 4)
                banks.insert(swizzle_128b(row, column + byte) / 4 % 32);
        REQUIRE(banks.size() == 32);
    }
}

TEST_CASE("a tile's bytes depend on their address only: 1024 and 32 bytes further") {
    // What makes "add 32 to the address" step 16 columns further: the hardware swizzles
    // the bits of the address, so the pieces of a row are found from any start in it.
    for (uint32_t row = 0; row < 8; ++row) {
        for (uint32_t byte = 0; byte < 128; byte += 16) {
            const uint32_t plain = row * 128 + byte;
            CHECK(swizzle_128b(row, byte) == (plain ^ (plain >> 7 & 7) << 4));
            CHECK(swizzle_128b(row + 8, byte) == swizzle_128b(row, byte) + 1024);
        }
    }
}

TEST_CASE("descriptors: each field in its bits") {
    constexpr uint64_t plain = wgmma_descriptor(0, 0, 0);
    CHECK(plain == uint64_t{1} << 62);
    CHECK((wgmma_descriptor(1024, 0, 0) ^ plain) == 64);
    CHECK((wgmma_descriptor(0, 16384, 0) ^ plain) == uint64_t{1024} << 16);
    CHECK((wgmma_descriptor(0, 0, 1024) ^ plain) == uint64_t{64} << 32);
    // Shared memory ends at 228 KB: 18 bits of an address are enough.
    CHECK((wgmma_descriptor(227 * 1024, 0, 0) ^ plain) == 227 * 64);
    CHECK(wgmma_descriptor(0x40000 + 1024, 0, 0) == wgmma_descriptor(1024, 0, 0));
}

TEST_CASE("descriptors count in 16 bytes: sums step through a tile") {
    // start_scores adds 32 bytes for 16 columns, start_output 2048 for 16 keys.
    const uint64_t tile = wgmma_descriptor(3 * 16384, 16384);
    CHECK(tile + 32 / 16 == wgmma_descriptor(3 * 16384 + 32, 16384));
    CHECK(tile + 2048 / 16 == wgmma_descriptor(3 * 16384 + 2048, 16384));
    CHECK(wgmma_descriptor(64) ==
          (uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{1} << 16 | uint64_t{4}));
}
