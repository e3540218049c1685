/// checker/trace/document.h: a recorded trace with all that the page needs beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checker/sites.h"
#include "simt/core.h"
#include "steps.h"

namespace simt::check {

/// A shared variable of the block.
struct TracedVariable {
    std::string name;  // "" for dynamic shared memory
    int64_t begin;     // in the block's shared memory
    size_t bytes;
    Place place;
};

/// What has ended the recording.
enum class End : uint8_t { block, fault, limit };

struct Document {
    std::string kernel;
    uint64_t seed = 0;
    dim3 grid{}, block{};
    unsigned cluster_size = 1;
    uint3 index{};  // of the block
    Place launched;
    std::vector<Place> places;  // by the numbers of the steps; the first is "nowhere"
    std::vector<TracedVariable> variables;
    std::set<std::string> barrier_names;
    size_t left_out = 0;  // steps beyond the limit
    End end = End::block;
    Trace trace;
};

/// The document as JSON, version 1. README.md of the simulator describes it.
std::string json_of(const Document& document);

/// Writes it to a file; a line on stderr says if that cannot be done.
void write_document(const Document& document, const char* file);

}  // namespace simt::check
