// Runs all tests, or the tests and groups of tests that the command line names.

#define TEST_GROUP "main"
#include "check.h"

#include <cstring>
#include <vector>

int main(int argc, char** argv) {
    std::vector<const check::Test*> chosen;
    for (const check::Test* test = check::tests(); test; test = test->next) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; ++i)
            wanted |= std::strcmp(argv[i], test->group) == 0 ||
                      std::strcmp(argv[i], test->name) == 0;
        if (wanted) chosen.insert(chosen.begin(), test);
    }
    if (chosen.empty()) {
        std::printf("no test matches\n");
        return 2;
    }
    for (const check::Test* test : chosen) {
        const int before = check::failures();
        test->run();
        const bool ok = check::failures() == before;
        std::printf("%s %s.%s\n", ok ? "ok    " : "FAILED", test->group, test->name);
        std::fflush(stdout);
    }
    std::printf("%d checks, %d failed\n", check::checks(), check::failures());
    return check::failures() == 0 ? 0 : 1;
}
