// Compares the hash of every function's results with what an H100 gave.
//
//     digest                compares, exit status 1 if a hash differs
//     digest --print        prints the table of hashes (for digest_expected.inc)
//     digest --dump FILE    writes name, count and results of every function to FILE
#include <cinttypes>
#include <cstring>
#include <string>

#include "digest.h"

namespace digest {

std::vector<Entry>& entries() {
    static std::vector<Entry> all;
    return all;
}

struct Expected {
    const char* name;
    uint64_t hash;
};
const Expected kExpected[] = {
#include "digest_expected.inc"
};

uint64_t hash(const std::vector<uint64_t>& results) {
    uint64_t sum = 0;
    for (size_t i = 0; i < results.size(); ++i) {
        sum += random_bits(results[i] * 2654435761u + i);
    }
    return sum;
}

int dump(const char* path) {
    std::FILE* file = std::fopen(path, "wb");
    if (file == nullptr) return 2;
    for (const Entry& entry : entries()) {
        const auto values = entry.results(kDumped);
        std::fprintf(file, "%s %zu\n", entry.name, values.size());
        std::fwrite(values.data(), sizeof values[0], values.size(), file);
    }
    return std::fclose(file) == 0 ? 0 : 2;
}

int compare() {
    int passed = 0;
    int failed = 0;
    for (const Expected& expected : kExpected) {
        bool found = false;
        for (const Entry& entry : entries()) {
            if (std::strcmp(entry.name, expected.name) != 0) continue;
            found = true;
            const uint64_t got = hash(entry.results(kInputs));
            if (got == expected.hash) {
                ++passed;
            } else {
                ++failed;
                std::printf("%s: results differ from the GPU's\n", entry.name);
            }
        }
        if (!found) {
            ++failed;
            std::printf("%s: no such function in this program\n", expected.name);
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

}  // namespace digest

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "--dump" && argc > 2) return digest::dump(argv[2]);
    if (mode == "--print") {
        for (const auto& entry : digest::entries()) {
            std::printf("{\"%s\", 0x%016" PRIx64 "},\n",
                        entry.name,
                        digest::hash(entry.results(digest::kInputs)));
        }
        return 0;
    }
    return digest::compare();
}
