#include <wb/testing/guarded_buffer.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "support.h"

namespace {

using wb::testing::contains;
using wb::testing::GuardedBuffer;

std::vector<unsigned char> contents(const GuardedBuffer& buffer) {
    std::vector<unsigned char> bytes(buffer.bytes());
    buffer.download(bytes.data());
    return bytes;
}

void write_byte(void* where) {
    CUDA_CHECK(cudaMemset(where, 0x11, 1));
}

char* address(const GuardedBuffer& buffer) {
    return static_cast<char*>(buffer.data());
}

}  // namespace

TEST_CASE("guarded buffer: it starts as poison, and poison comes back") {
    GuardedBuffer buffer(100);
    CHECK(contents(buffer) == std::vector<unsigned char>(100, 0xFF));
    write_byte(buffer.data());
    CHECK(contents(buffer)[0] == 0x11);
    buffer.poison();
    CHECK(contents(buffer) == std::vector<unsigned char>(100, 0xFF));
}

TEST_CASE("guarded buffer: what is uploaded is downloaded, of any size") {
    const std::size_t size = GENERATE(as<std::size_t>(), 1, 3, 255, 256, 1000);
    std::vector<unsigned char> bytes(size);
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
    GuardedBuffer buffer(size);
    buffer.upload(bytes.data());
    CHECK(contents(buffer) == bytes);
    CHECK(!buffer.damage());
}

TEST_CASE("guarded buffer: its address is aligned for any vector type") {
    const GuardedBuffer buffer(1000);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 16 == 0);
}

TEST_CASE("guarded buffer: it may begin where only small types may") {
    const GuardedBuffer buffer(1000, 4);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 16 == 4);
    write_byte(address(buffer));
    write_byte(address(buffer) + 999);
    CHECK(!buffer.damage());
    write_byte(address(buffer) - 1);
    CHECK(buffer.damage() == -1);
}

TEST_CASE("guarded buffer: it may begin at 16 bytes and no more") {
    const GuardedBuffer buffer(1024, 16, true, 16);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 32 == 16);
    write_byte(address(buffer) + 1023);
    CHECK(!buffer.damage());
    write_byte(address(buffer) + 1024);
    CHECK(buffer.damage() == 0);
}

TEST_CASE("guarded buffer: the learner's code cannot switch the canaries off") {
    REQUIRE(setenv("WB_CANARIES", "0", 1) == 0);
    const GuardedBuffer buffer(1000);
    unsetenv("WB_CANARIES");
    write_byte(address(buffer) - 1);
    CHECK(buffer.damage() == -1);
}

TEST_CASE("guarded buffer: writing every byte damages nothing") {
    const GuardedBuffer buffer(1000);
    CUDA_CHECK(cudaMemset(buffer.data(), 0, 1000));
    CHECK(!buffer.damage());
}

TEST_CASE("guarded buffer: one byte outside of it is noticed, and where") {
    const GuardedBuffer buffer(1000);
#ifndef SIMT_CPU  // there, the memory ends at an inaccessible page instead
    write_byte(address(buffer) + 1000 + 12);
    CHECK(buffer.damage() == 12);
#endif
    write_byte(address(buffer) - 1);
    CHECK(buffer.damage() == -1);
}

TEST_CASE("guarded buffer: the far end of the canary is looked at too") {
    const GuardedBuffer buffer(1000);
    write_byte(address(buffer) - 1024);
    CHECK(buffer.damage() == -1);
}

TEST_CASE("guarded buffer: new poison repairs the canaries") {
    GuardedBuffer buffer(1000);
    write_byte(address(buffer) - 1);
    buffer.poison();
    CHECK(!buffer.damage());
}

TEST_CASE("guarded buffer: of zero bytes, nothing can be copied") {
    GuardedBuffer buffer(0);
    CHECK_NOTHROW(buffer.upload(nullptr));
    CHECK_NOTHROW(buffer.download(nullptr));
    CHECK_NOTHROW(buffer.poison());
    CHECK(!buffer.damage());
}

TEST_CASE("guarded buffer: without canaries the bounds are the allocation's own") {
    GuardedBuffer buffer(1000, 0, /*canaries=*/false);
    CHECK(contents(buffer) == std::vector<unsigned char>(1000, 0xFF));
    CHECK(!buffer.damage());
    GuardedBuffer empty(0, 0, false);
    CHECK(empty.data() == nullptr);
}
