/// checker/sites.h: the instructions of the program that access memory, by number.
#pragma once

#include <cstdint>
#include <string>

namespace simt::check {

/// A line of a source file; line 0 if it is not known.
struct Place {
    std::string file;  // as the compiler was given it
    int line = 0;
};

/// One instruction, or one line if a library function that it calls does the access.
struct Site {
    uintptr_t pc;  // inside the calling instruction
    uint16_t bytes;
    bool write;
    bool atomic;
    bool of_block;  // see Access
    Place place;
};

/// The site of an access.
///
/// @param pc     the address that the compiler's hook returns to
/// @param frame  the frame pointer of the function that holds pc
/// Code of the simulator's headers, such as __ldg(), stands for the line that calls it:
/// the frames are climbed until a file of the user's is met. Runs addr2line of the
/// binutils, once for the whole program.
/// @param same      set to whether the instruction's accesses all belong to this site
/// @param of_block  an atomic operation whose scope is its thread's block
uint32_t site_of(uintptr_t pc,
                 void* const* frame,
                 uint16_t bytes,
                 bool write,
                 bool atomic,
                 bool* same = nullptr,
                 bool of_block = false);

/// True if the file holds the user's wrappers of instructions (SIMT_CHECK_THROUGH names
/// a part of their paths): as with the simulator's headers, what they access belongs to
/// the line that calls them.
bool is_wrapper(const std::string& file);

/// A site by its number.
const Site& site(uint32_t number);

/// The line of the innermost frame in a file of the user's, from `pc` outwards.
Place user_place_of(uintptr_t pc, void* const* frame);

/// True if the code at `pc` is the simulator's library, not the program.
bool is_library_code(uintptr_t pc);

/// True if the code at `pc` works for thrust, cub or cuRAND's generators, which run on
/// the host what a GPU would do.
bool serves_algorithm(uintptr_t pc, void* const* frame);

}  // namespace simt::check
