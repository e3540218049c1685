// What the programs have in common that compute what a rounding loses: their options,
// and how a claim of a lesson is checked.
#pragma once

#include <cstdio>
#include <cstring>

/// Says so if a claim does not hold. @return  whether it does
inline bool claim(bool holds, const char* text) {
    if (!holds) std::printf("not true any more: %s\n", text);
    return holds;
}

/// main() of such a program: without options it writes to stdout, with --json FILE to a
/// file; with --check it asks whether the claims hold.
///
/// @param check  @return  the exit status
/// @param write  all numbers, as JSON
inline int errors_main(int argc,
                       char** argv,
                       const char* usage,
                       int (*check)(),
                       void (*write)(std::FILE*)) {
    if (argc == 2 && std::strcmp(argv[1], "--check") == 0) return check();
    if (argc == 1) {
        write(stdout);
        return 0;
    }
    if (argc != 3 || std::strcmp(argv[1], "--json") != 0) {
        std::fputs(usage, stderr);
        return 2;
    }
    std::FILE* const file = std::fopen(argv[2], "w");
    if (file == nullptr) return 1;
    write(file);
    return std::fclose(file) == 0 ? 0 : 1;
}
