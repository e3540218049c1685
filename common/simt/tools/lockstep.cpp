// Finds `s[t] += s[t + 32]; s[t] += s[t + 16];` with s volatile.
#include "lockstep.h"

#include <set>

namespace rewriter {
namespace {

/// The names declared with `volatile` in tokens [first, last).
std::set<std::string_view> volatile_names(const Source& source,
                                          size_t first,
                                          size_t last) {
    std::set<std::string_view> names;
    for (size_t i = first; i < last; ++i) {
        if (!source.is(i, "volatile")) continue;
        std::string_view name;
        for (size_t k = i + 1; k < last && k < i + 8; ++k) {
            if (source.is_identifier(k)) {
                name = source.text(k);
            } else if (!source.is_any(k, {"*", "::", "<", ">"})) {
                break;
            }
        }
        if (!name.empty()) names.insert(name);
    }
    return names;
}

/// Does the statement in tokens [first, last) write one element of a name and read another?
bool combines_elements(const Source& source,
                       size_t first,
                       size_t last,
                       const std::set<std::string_view>& names) {
    std::string_view written;
    for (size_t i = first; i < last; ++i) {
        if (!names.contains(source.text(i)) || !source.is(i + 1, "[")) continue;
        const size_t close = source.match(i + 1);
        if (close == kNone || close >= last) return false;
        if (written.empty()) {
            if (!source.is_any(close + 1, {"+=", "*=", "="})) return false;
            written = source.text(i);
        } else if (source.text(i) == written && source.is(close - 2, "+")) {
            return true;
        }
        i = close;
    }
    return false;
}

}  // namespace

void warn_of_lockstep(Source& source, const Structure& structure) {
    for (const Function& f : structure.functions()) {
        if (f.body_open == kNone || !(f.is_device || f.is_global)) continue;
        if (source.in_system_header(f.name_token)) continue;
        const auto names = volatile_names(source, f.params_open, f.body_close);
        if (names.empty()) continue;
        bool before = false;  // was the last statement such a one?
        size_t start = f.body_open + 1;
        for (size_t i = start; i < f.body_close; ++i) {
            if (source.is_any(i, {"{", "}"})) start = i + 1;
            if (source.text(i).starts_with("__sync")) before = false;
            if (!source.is(i, ";")) continue;
            const bool combines = combines_elements(source, start, i, names);
            if (combines && before) {
                source.warning(
                    start,
                    "these statements rely on the lanes of a warp running in "
                    "lockstep, which CUDA does not promise (since Volta) and "
                    "the simulator does not do: put __syncwarp() between them");
                break;
            }
            before |= combines;
            start = i + 1;
        }
    }
}

}  // namespace rewriter
