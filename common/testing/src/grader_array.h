/// grader_array.h: one array of a launch that is graded.
#pragma once

#include <wb/testing/grader.h>
#include <wb/testing/guarded_buffer.h>

#include <optional>
#include <string>
#include <vector>

#include "input_watch.h"

namespace wb::testing {

struct Grader::Array {
    std::string name;
    Role role;
    Shape shape;
    std::size_t element_bytes;
    bool is_floating;
    ReadElement read;
    std::vector<unsigned char> original;  // what is there before each launch
    GuardedBuffer buffer;
    // What calls have left there:
    std::vector<unsigned char> first{};
    std::vector<unsigned char> other{};  // the second one, with other inputs
    std::vector<unsigned char> again{};  // the third one, with the first one's
    std::optional<InputWrite> write{};   // an input's: what the first call wrote to it
    mutable std::vector<bool>
        is_nan_of_ones{};  // empty, or what is a result, and looks
                           // like memory that nobody wrote
};

/// Memory of the test's own.
struct Grader::Watched {
    std::string name;
    const void* memory;
    std::size_t bytes;
    std::size_t element_bytes;
    std::optional<InputWrite> write{};
};

}  // namespace wb::testing
