// Runs every check, or those whose name contains the argument. With the variable
// WB_VERDICT, it also writes what they found to that file (docs/verdict.md).
#include "conformance.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace conformance {
namespace {

using Json = nlohmann::ordered_json;

struct Check {
    const char* name;
    void (*function)();
};

std::vector<Check>& checks() {
    static std::vector<Check> all;
    return all;
}

Json finding(const std::string& what) {
    return {{"kind", "check_failed"},
            {"detail", ""},
            {"what", what},
            {"places", Json::array()},
            {"numbers", Json::object()},
            {"times", 1},
            {"text", {what}}};
}

/// A reader sees what was found until now, also if the next check ends the program.
void write(const Json& document) {
    if (const char* file = std::getenv("WB_VERDICT"))
        std::ofstream(file) << document.dump(
                                   1, ' ', true, Json::error_handler_t::replace)
                            << '\n';
}

}  // namespace

bool add(const char* name, void (*check)()) {
    checks().push_back({name, check});
    return true;
}

}  // namespace conformance

int main(int argc, char** argv) {
    using namespace conformance;
    int passed = 0;
    int failed = 0;
    Json document = {{"format", "warpbook verdict 1"},
                     {"chapter", ""},
                     {"program", "conformance"},
                     {"ended", false},
                     {"cases", Json::array()},
                     {"findings", Json::array()}};
    write(document);
    for (const auto& [name, check] : checks()) {
        if (argc > 1 && std::strstr(name, argv[1]) == nullptr) continue;
        Json one = {{"name", name}, {"verdict", "passed"}, {"findings", Json::array()}};
        try {
            check();
            ++passed;
            std::printf("ok    %s\n", name);
        } catch (const std::exception& error) {
            ++failed;
            std::printf("WRONG %s: %s\n", name, error.what());
            one["verdict"] = "failed";
            one["findings"].push_back(finding(error.what()));
        }
        std::fflush(stdout);
        document["cases"].push_back(one);
        write(document);
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    document["ended"] = true;
    write(document);
    return failed == 0 && passed > 0 ? 0 : 1;
}
