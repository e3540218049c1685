/// wb/model/text.h: a text as a row of bytes, and the pieces of it that a model is
/// trained on.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace wb::model {

/// A text that cannot be read, or is too short for what is asked of it.
class TextError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Which part of a text.
enum class Part { training, validation };

/// A text in two parts: the last tenth (rounded down) is kept back for validation.
class Text {
 public:
    /// Throws TextError if the text is empty.
    explicit Text(std::string bytes);

    /// Throws TextError, whose message has the path, if the file cannot be read or is
    /// empty.
    static Text from_file(const std::string& path);

    int64_t size(Part part) const;

    /// Pieces that begin anywhere. Which ones depends on the arguments alone: so a
    /// training that was stopped goes on with the pieces that it would have had.
    ///
    /// @param step    of the training
    /// @param count   pieces, >= 0
    /// @param length  tokens of a piece, > 0
    /// @return        [count, length + 1]: token i + 1 is what follows token i
    /// Throws TextError if the part has not length + 1 bytes, wb::InvalidArgument for
    /// sizes below 0.
    std::vector<int32_t> pieces(
        Part part, uint64_t seed, int64_t step, int64_t count, int64_t length) const;

 private:
    int64_t first(Part part) const;

    std::string bytes_;
};

}  // namespace wb::model
