// compare: does the simulator count what the table of an example expects?
//
//     compare expected/NAME.tsv NAME.cu report.json
//
// report.json is what the example, compiled with simt-c++ --check=count, has written to
// the file that SIMT_CHECK_JSON names. Exit status 1: some line differs.
#include <cmath>
#include <cstdio>
#include <exception>

#include "cost.h"

namespace {

constexpr double kAboutPercent = 2;

std::string show(const std::optional<double>& value) {
    if (!value) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.10g", std::round(*value * 100) / 100);
    return text;
}

bool agree(const std::optional<double>& expected, double counted, bool about) {
    if (!expected) return true;
    return std::fabs(examples::difference_percent(*expected, counted)) <=
           (about ? kAboutPercent : 0);
}

int compare(const char* table, const char* source, const char* report) {
    const auto expected = examples::read_expected(table, source);
    const auto counted = examples::read_simulator(report);
    std::printf("%-24s %-16s %-14s %8s %9s %10s\n",
                "kernel",
                "line",
                "access",
                "requests",
                "cost",
                "a request");
    int wrong = 0;
    for (const auto& row : expected) {
        const auto found = counted.find(row.key());
        const auto cost = found == counted.end() ? examples::Cost{} : found->second;
        const bool right = found != counted.end() &&
                           agree(row.requests, cost.requests, false) &&
                           agree(row.cost, cost.cost, row.about);
        const std::string access =
            row.op == "lanes" ? "active lanes" : row.space + " " + row.op;
        const double a_request =
            row.op == "lanes" ? cost.cost : cost.cost / cost.requests;
        std::printf("%-24s %-16s %-14s %8s %9s %10.2f%s\n",
                    row.kernel.c_str(),
                    row.marker.c_str(),
                    access.c_str(),
                    row.op == "lanes" ? "-" : show(cost.requests).c_str(),
                    show(cost.cost).c_str(),
                    a_request,
                    right ? "" : "  WRONG");
        if (right) continue;
        ++wrong;
        std::printf("    expected %s requests, cost %s%s: %s\n",
                    show(row.requests).c_str(),
                    row.about ? "about " : "",
                    show(row.cost).c_str(),
                    row.why.c_str());
    }
    std::printf("%zu lines compared, %d wrong\n", expected.size(), wrong);
    return wrong == 0 && !expected.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: compare expected/NAME.tsv NAME.cu report.json\n");
        return 2;
    }
    try {
        return compare(argv[1], argv[2], argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "compare: %s\n", error.what());
        return 2;
    }
}
