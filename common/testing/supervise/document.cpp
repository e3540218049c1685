#include "document.h"

namespace wb::supervise {
namespace {

/// The innermost place that names a line; null if none does.
Json place_of(const Json& finding) {
    for (const Json& place : finding.value("places", Json::array()))
        if (place.value("line", 0) > 0) return place;
    return nullptr;
}

}  // namespace

std::string summary_of(const Json& document) {
    const Json& cases = document["cases"];
    if (cases.size() != 1) return "";
    const Json& only = cases[0];
    Json summary = {{"verdict", only["verdict"]}};
    const Json& findings =
        only["findings"].empty() ? document["findings"] : only["findings"];
    if (!findings.empty()) {
        const Json& first = findings[0];
        for (const char* field : {"kind", "detail", "implementation"})
            if (const Json value = first.value(field, ""); value != "")
                summary[field] = value;
        const Json numbers = first.value("numbers", Json::object());
        for (const char* field : {"array", "index"})
            if (numbers.contains(field)) summary[field] = numbers[field];
        if (const Json place = place_of(first); !place.is_null()) {
            summary["file"] = place.value("file", "");
            summary["line"] = place.value("line", 0);
        }
    }
    return "wb-verdict " + summary.dump(-1, ' ', true, Json::error_handler_t::replace) +
           "\n";
}

}  // namespace wb::supervise
