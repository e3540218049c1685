/// simt/check.h: what a program can ask the checker of simt-c++ --check.
///
/// The functions may be called in any program: without the checker they do nothing, so
/// that a test framework need not be compiled twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simt/counters.h"

namespace simt::check {

/// A mistake that the checker has found. The strings live until the program ends.
struct FindingView {
    const char* kind;     // "race", "out_of_bounds", ..., as in the JSON
    const char* what;     // a few words
    const char* kernel;   // "" in host code
    const char* section;  // see begin_section()
    const char* file;     // the place of the access
    int line;
    const char* text;  // the report as printed
    uint64_t count;    // how often it was seen
};

}  // namespace simt::check

// Defined by the checker. Weak: null in a program without it.
extern "C" {
[[gnu::weak]] size_t simt_check_findings();
[[gnu::weak]] void simt_check_finding(size_t number, simt::check::FindingView* view);
[[gnu::weak]] void simt_check_section(const char* name);
[[gnu::weak]] void simt_check_forget(const void* address, size_t bytes);
}

namespace simt::check {

/// True in a program that was linked with the checker.
inline bool active() {
    return simt_check_findings != nullptr;
}

/// How many different mistakes have been found so far.
inline size_t num_findings() {
    return active() ? simt_check_findings() : 0;
}

/// One of them, 0 being the first.
inline FindingView finding(size_t number) {
    FindingView view{};
    if (number < num_findings()) simt_check_finding(number, &view);
    return view;
}

/// The launches from here on belong to a part of the program, say a rung of a ladder:
/// they are counted under this name, and findings carry it.
inline void begin_section(const char* name) {
    if (active()) simt_check_section(name);
}
inline void end_section() {
    if (active()) simt_check_section("");
}

/// Device memory that the host has filled, but only to make mistakes visible: a kernel
/// that reads it before writing it reads uninitialised memory.
inline void forget(const void* address, size_t bytes) {
    if (active()) simt_check_forget(address, bytes);
}

}  // namespace simt::check
