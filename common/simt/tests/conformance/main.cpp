// Runs every check, or those whose name contains the argument.
#include "conformance.h"

#include <cstring>

namespace conformance {
namespace {

struct Check {
    const char* name;
    void (*function)();
};

std::vector<Check>& checks() {
    static std::vector<Check> all;
    return all;
}

}  // namespace

bool add(const char* name, void (*check)()) {
    checks().push_back({name, check});
    return true;
}

}  // namespace conformance

int main(int argc, char** argv) {
    int passed = 0;
    int failed = 0;
    for (const auto& [name, check] : conformance::checks()) {
        if (argc > 1 && std::strstr(name, argv[1]) == nullptr) continue;
        try {
            check();
            ++passed;
            std::printf("ok    %s\n", name);
        } catch (const std::exception& error) {
            ++failed;
            std::printf("WRONG %s: %s\n", name, error.what());
        }
        std::fflush(stdout);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
