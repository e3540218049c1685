// What the two programs that train a small model have in common: its letters, the text
// that it is trained on, and how its numbers are printed.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <vector>

constexpr int kLetters = 28;  // a to z, a space, and all else

inline int letter(char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    if (c >= 'A' && c <= 'Z') return c - 'A';
    return c == ' ' || c == '\n' ? 26 : 27;
}

/// The letters of files, spaces that follow each other as one. Says so if they are few.
/// @param files  from files[1] on
inline std::vector<int> text_of(int count, char** files) {
    std::vector<int> text;
    for (int i = 1; i < count; ++i) {
        std::ifstream file(files[i]);
        for (char c = 0; file.get(c);)
            if (const int it = letter(c); it != 26 || text.empty() || text.back() != 26)
                text.push_back(it);
    }
    if (text.size() >= 10000) return text;
    std::fprintf(stderr, "too little text\n");
    return {};
}

/// Numbers in units of 1/4096, as whole numbers of 16 bits.
inline void print(const char* name, const std::vector<float>& values) {
    std::printf("inline constexpr short %s[%zu] = {\n", name, values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        std::printf("%s%d,%s",
                    i % 10 == 0 ? "    " : " ",
                    static_cast<int>(std::lround(values[i] * 4096.0f)),
                    i % 10 == 9 || i + 1 == values.size() ? "\n" : "");
    std::printf("};\n");
}
