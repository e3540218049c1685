/// src/check/findings.h: the mistakes that the checker has found.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simt/core.h"
#include "sites.h"

namespace simt::check {

/// What a finding is about; kind_name() gives the names of the JSON.
enum class Kind : uint8_t {
    race,
    out_of_bounds,
    use_after_free,
    uninitialised,
    misaligned,
    host_pointer,
    device_pointer_on_host,
    divergent_barrier,
    missing_lanes,
    fault,
};

const char* kind_name(Kind kind);

/// A thread of a launch.
struct Who {
    uint3 block{};
    uint3 thread{};
};

/// One mistake, at one place (a race: at two).
struct Finding {
    Kind kind = Kind::fault;
    std::string what;      // a few words: "write after read"
    std::string kernel;    // "" in host code
    std::string section;   // see begin_section() of simt/check.h
    std::string space;     // "global", "shared", "local", "static" or ""
    std::string variable;  // "shared `partial` (32 bytes, declared at dot.cu:67)"
    Place place;
    Who who;
    bool has_other = false;
    Place other_place;
    Who other;
    std::string text;     // the report as printed
    std::string fix;      // how it is usually fixed
    std::string chapter;  // of the workbook
    uint64_t count = 1;   // how often it was seen
};

/// All findings so far, in the order in which they were first seen.
const std::vector<Finding>& findings();

/// What makes two findings the same.
struct FindingKey {
    Kind kind;
    uint64_t first;   // a place
    uint64_t second;  // another
    uint64_t detail;
    bool operator==(const FindingKey&) const = default;
};

/// Counts the finding; if it is new, `make` describes it and it is printed.
void add_finding(const FindingKey& key, const std::function<Finding()>& make);

/// The name that begin_section() has set, or "".
const std::string& current_section();

/// At the program's end: what was found, in a few lines. Returns the exit status that
/// the findings ask for, or 0.
int conclude_findings();

}  // namespace simt::check
