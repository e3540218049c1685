// Finds `s[t] += s[t + 32]; s[t] += s[t + 16];` with s volatile.
#include "lockstep.h"

#include <set>
#include <vector>

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

/// If the statement in tokens [first, last) writes one element of a name and reads a later
/// one, the token where its assignment begins; else kNone.
size_t combines_elements(const Source& source,
                         size_t first,
                         size_t last,
                         const std::set<std::string_view>& names) {
    std::string_view written;
    size_t begin = kNone;
    for (size_t i = first; i < last; ++i) {
        if (!names.contains(source.text(i)) || !source.is(i + 1, "[")) continue;
        const size_t close = source.match(i + 1);
        if (close == kNone || close >= last) return kNone;
        if (written.empty()) {
            if (!source.is_any(close + 1, {"+=", "*=", "="})) return kNone;
            written = source.text(i);
            begin = i;
        } else if (source.text(i) == written && source.is(close - 2, "+")) {
            return begin;
        }
        i = close;
    }
    return kNone;
}

/// An assignment that lockstep matters to: its first token and its semicolon.
struct Assignment {
    size_t begin;
    size_t semicolon;
};

/// Makes the lanes wait for each other after each assignment of the run. They go on in
/// ascending order, so that each reads what the later lanes have not yet overwritten.
void keep_in_step(Source& source, const std::vector<Assignment>& run) {
    if (run.size() < 2) return;
    source.warning(run[0].begin,
                   "these statements rely on the lanes of a warp running in lockstep, "
                   "which CUDA does not promise (since Volta). They are kept in step "
                   "here; put __syncwarp() between them");
    for (const Assignment& a : run) {
        source.insert_before(a.begin, "{ ");
        source.insert_after(a.semicolon, " ::simt::detail::lockstep(); }");
    }
}

}  // namespace

void rewrite_lockstep(Source& source, const Structure& structure) {
    for (const Function& f : structure.functions()) {
        if (f.body_open == kNone || !(f.is_device || f.is_global)) continue;
        if (source.in_system_header(f.name_token)) continue;
        const auto names = volatile_names(source, f.params_open, f.body_close);
        if (names.empty()) continue;
        std::vector<Assignment> run;
        const auto finish = [&] {
            keep_in_step(source, run);
            run.clear();
        };
        size_t start = f.body_open + 1;
        for (size_t i = start; i < f.body_close; ++i) {
            if (source.is_any(i, {"{", "}"})) start = i + 1;
            if (source.text(i).starts_with("__sync")) finish();
            if (!source.is(i, ";")) continue;
            const size_t begin = combines_elements(source, start, i, names);
            if (begin != kNone) run.push_back({begin, i});
            start = i + 1;
        }
        finish();
    }
}

}  // namespace rewriter
