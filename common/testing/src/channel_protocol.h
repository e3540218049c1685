/// channel_protocol.h: what a test program and its supervisor say to each other, over a
/// socket whose number stands in the environment variable WB_CHANNEL.
///
/// The supervisor begins: a Hello, and behind it the program's arguments, each ended by
/// a zero byte. The program answers in frames: a FrameHead and its payload.
#pragma once

#include <array>
#include <cstdint>

namespace wb::testing {

/// Random, and only known to the two: a frame without it is not from the grader.
using Nonce = std::array<unsigned char, 16>;

struct Hello {
    Nonce nonce;
    std::uint64_t bytes;  ///< of all arguments
};

enum class Frame : std::uint64_t {
    document,    ///< JSON, as docs/verdict.md describes
    names,       ///< what --wb-list prints
    exit,        ///< exit() is at work, before the tests have ended; payload: the stack
    quick_exit,  ///< likewise
    crash,       ///< a signal has come; payload: the stack
};

struct FrameHead {
    Nonce nonce;
    Frame type;
    std::uint64_t bytes;  ///< of the payload
};

/// More is no document: someone writes at random.
constexpr std::uint64_t kLongestFrame = 64 << 20;

}  // namespace wb::testing
