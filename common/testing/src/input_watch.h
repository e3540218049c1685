/// input_watch.h: does a launcher write to its inputs, if only for a while?
#pragma once

#include <wb/testing/verdict.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace wb::testing {

/// The first write to an input.
struct InputWrite {
    std::int64_t offset;  ///< in bytes
    Place place;          ///< no file: not known
};

/// Watches an input in the simulator, as long as it lives. On a GPU: nothing; there the
/// inputs are compared with what they were before.
class InputWatch {
 public:
    InputWatch(const void* input, std::size_t bytes);
    ~InputWatch();
    InputWatch(const InputWatch&) = delete;
    InputWatch& operator=(const InputWatch&) = delete;

    /// Ends it, and says what was written first.
    std::optional<InputWrite> end();

 private:
    const void* input_;
};

}  // namespace wb::testing
