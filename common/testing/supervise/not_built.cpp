#include "not_built.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "document.h"

namespace wb::supervise {
namespace {

/// CTest escapes commas, which mean something to Catch2.
std::string unescaped(const std::string& test_case) {
    std::string name;
    for (std::size_t i = 0; i < test_case.size(); ++i) {
        if (test_case[i] == '\\' && i + 1 < test_case.size()) ++i;
        name += test_case[i];
    }
    return name;
}

}  // namespace

std::optional<Ending> not_built(const std::vector<std::string>& command) {
    namespace fs = std::filesystem;
    const fs::path program = command.front();
    const fs::path note = command.front() + ".not_built";
    std::error_code none;
    const auto noted = fs::last_write_time(note, none);
    if (none) return {};
    const auto made = fs::last_write_time(program, none);
    if (!none && made > noted) return {};
    std::ifstream file(note);
    const Json finding = Json::parse(file, nullptr, false);
    if (!finding.is_object()) return {};

    Json document = empty_document(program);
    document["cases"].push_back(
        {{"name", command.size() > 1 ? unescaped(command[1]) : ""},
         {"verdict", "failed"},
         {"reason", ""},
         {"seconds", 0},
         {"functions", Json::object()},
         {"findings", {finding}}});
    return Ending{text_of(document), words_of(finding), 1, summary_of(document)};
}

}  // namespace wb::supervise
