/// document.h: the verdict document (docs/verdict.md) as the supervisor writes it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace wb::supervise {

using Json = nlohmann::ordered_json;

/// Of a program that said nothing.
inline Json empty_document(const std::string& program) {
    return {{"format", "warpbook verdict 1"},
            {"chapter", ""},
            {"program", std::filesystem::path(program).filename()},
            {"backend", ""},
            {"checked", false},
            {"ended", false},
            {"cases", Json::array()},
            {"findings", Json::array()}};
}

/// The words of a finding, for the terminal.
inline std::string words_of(const Json& finding) {
    std::string words;
    for (const Json& line : finding["text"])
        words += "wb| " + line.get<std::string>() + "\n";
    return words;
}

inline std::string text_of(const Json& document) {
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// One line that carries the verdict of a single test case where nothing but printed
/// text can travel, such as in CTest's JUnit file: "wb-verdict {...}"; "" if not a
/// single case has run. See docs/verdict.md.
std::string summary_of(const Json& document);

}  // namespace wb::supervise
