#include <cstdio>

#include "../../core/pool.h"
#include "harness.h"
#include "simt/last_fault.h"

namespace test {
namespace {

struct Test {
    const char* name;
    void (*body)();
};

std::vector<Test>& tests() {
    static std::vector<Test> instance;
    return instance;
}

int g_failures = 0;
std::string g_report;

}  // namespace

bool add(const char* name, void (*body)()) {
    tests().push_back({name, body});
    return true;
}

void fail(const char* file, int line, const std::string& what) {
    if (++g_failures > 3) return;  // enough to see what is wrong
    std::printf("  %s:%d: failed: %s\n", file, line, what.c_str());
    if (!g_report.empty()) std::printf("  the last report was: %s\n", g_report.c_str());
}

int run(const char* filter) {
    int failed = 0, ran = 0;
    for (const Test& t : tests()) {
        if (!std::strstr(t.name, filter)) continue;
        g_failures = 0;
        g_report.clear();
        const double start = simt::detail::now();
        t.body();
        if (const int code = take_fault())
            fail("main.cpp", __LINE__, "the test left fault " + std::to_string(code));
        std::printf("%-4s %s (%.0f ms)\n",
                    g_failures ? "FAIL" : "ok",
                    t.name,
                    (simt::detail::now() - start) * 1e3);
        failed += g_failures != 0;
        ++ran;
    }
    std::printf("%d of %d tests passed\n", ran - failed, ran);
    return ran == 0 ? 1 : failed;
}

int take_fault() {
    const int code = simt::detail::sticky_error() != cudaSuccess
                         ? simt::detail::sticky_error()
                         : simt::detail::last_error();
    g_report = simt::last_fault();
    simt::detail::clear_sticky_error();
    simt::clear_last_fault();
    return code;
}

bool report_contains(const std::string& text) {
    return g_report.find(text) != std::string::npos;
}

std::string here(const char* file, int line) {
    const char* slash = std::strrchr(file, '/');
    return std::string(slash ? slash + 1 : file) + ":" + std::to_string(line);
}

}  // namespace test

int main(int argc, char** argv) {
    return test::run(argc > 1 ? argv[1] : "") == 0 ? 0 : 1;
}
