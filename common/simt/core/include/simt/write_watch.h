/// simt/write_watch.h: memory that nobody is meant to write, for a program that wants
/// to know if somebody does: a test framework, say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace simt {

/// The first write to memory that was watched.
struct SeenWrite {
    std::size_t offset;  // of its first byte
    std::string kernel;  // "" in host code: also a copy, a fill, a library
    std::string file;    // of the line that wrote; "" where it is not known
    int line = 0;
    unsigned block[3] = {};
    unsigned thread[3] = {};
};

/// Watches bytes of one allocation of cudaMalloc: the first write to them is noted,
/// whatever is written, and nothing else happens. It costs nothing while nobody writes.
void watch_writes(const void* pointer, std::size_t bytes);

/// Ends that, and tells what was seen.
std::optional<SeenWrite> end_write_watch(const void* pointer);

}  // namespace simt
