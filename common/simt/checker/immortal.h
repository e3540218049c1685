/// checker/immortal.h: an object that exists before the program's static objects are
/// made and after they have been destroyed: their code is checked, too.
#pragma once

#include <new>

namespace simt::check {

/// Defined as a constinit variable, and constructed by a function that runs early:
///
///     constinit Immortal<std::string> g_name;
///     [[gnu::constructor(101)]] void make() { g_name.construct(); }
template <class T>
union Immortal {
    T value;
    char none;
    constexpr Immortal() : none(0) {}
    ~Immortal() {}
    void construct() { new (&value) T; }
};

}  // namespace simt::check
