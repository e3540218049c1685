/// wb/arguments.h: a launcher validates what it was given before it touches anything.
///
///     wb::Arguments("saxpy").size("n", n).device("x", x, n).device("y", y, n);
///
/// A wrong argument throws wb::InvalidArgument (<wb/errors.h>), whose message names the
/// function, the parameter and its value. Nothing is clipped, nothing has been written
/// by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace wb {

/// One of the arrays of a call. If there is none, it is null.
struct NamedArray {
    const char* name;
    const void* begin;
    int64_t bytes;
    bool is_written;
};

/// The checks of one call. Each returns *this, so that they chain.
class Arguments {
 public:
    /// @param function  the name that starts every message
    explicit Arguments(const char* function) : function_(function) {}

    /// A number of things: >= 0. Zero is legal: there is nothing to do.
    const Arguments& size(const char* name, int64_t value) const;

    /// A number of things of which there must be one at least.
    const Arguments& positive(const char* name, int64_t value) const;

    /// Any condition; `value` and `requirement` are told: "stride is 0, but must be
    /// > 0 (it is a divisor)".
    const Arguments& require(bool condition,
                             const char* name,
                             int64_t value,
                             const char* requirement) const;

    /// The same of a real number: "eps is -0.5, but must be > 0".
    const Arguments& require_real(bool condition,
                                  const char* name,
                                  double value,
                                  const char* requirement) const;

    /// A real number: neither NaN nor infinite.
    const Arguments& finite(const char* name, double value) const;

    /// A real number that is not below 0, neither NaN nor infinite.
    const Arguments& not_negative(const char* name, double value) const;

    /// A real number from -most to most.
    const Arguments& magnitude(const char* name, double value, double most) const;

    /// A real number above 0, neither NaN nor infinite.
    const Arguments& above_zero(const char* name, double value) const;

    /// An array of `count` elements in device (or managed) memory, aligned to its
    /// type. May be anything, null too, when count is 0.
    template <class T>
    const Arguments& device(const char* name, const T* pointer, int64_t count) const {
        return device_bytes(name, pointer, count, alignof(T));
    }

    /// Two arrays that have no byte in common: threads run in any order, so that a byte
    /// that one overwrites may not have been read yet by another. Either may be empty.
    ///
    /// @param names  "y - x": how the distance from the first to the second array reads
    ///               in a message
    const Arguments& apart(const char* names,
                           const void* x,
                           int64_t x_bytes,
                           const void* y,
                           int64_t y_bytes) const;

    /// The same for each two of these arrays, if one of the two is written: "dx - x".
    const Arguments& apart(std::initializer_list<NamedArray> arrays) const;

    /// The product of sizes, each >= 0; throws if it does not fit into int64_t.
    /// @param names  how the product reads in a message, for example "N * C * H * W"
    int64_t product(const char* names, std::initializer_list<int64_t> sizes) const;

 private:
    const Arguments& device_bytes(const char* name,
                                  const void* pointer,
                                  int64_t count,
                                  std::size_t alignment) const;

    const char* function_;
};

}  // namespace wb
