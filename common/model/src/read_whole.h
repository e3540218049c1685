// A file as a row of bytes.
#pragma once

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace wb::model {

/// Reads a file.
/// @param fail  is called with the reason, and throws, if it cannot be read
template <class Fail>
std::string read_whole(const std::string& path, Fail fail) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(std::string("cannot be opened: ") + std::strerror(errno));
    // A folder can be opened; its first byte cannot be read.
    std::ostringstream bytes;
    try {
        file.exceptions(std::ios::badbit);
        if (file.peek() != std::ifstream::traits_type::eof()) bytes << file.rdbuf();
    } catch (const std::ios_base::failure&) {
        fail("cannot be read");
    }
    if (file.bad() || bytes.fail()) fail("cannot be read");
    return std::move(bytes).str();
}

}  // namespace wb::model
