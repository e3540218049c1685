// Finds `s[t] += s[t + 32]; s[t] += s[t + 16];` with s volatile, and makes each of
// these
//
//     { auto& simt_to = s[t]; auto simt_value = simt_to + (s[t + 32]);
//       simt::detail::lockstep(); simt_to = simt_value; simt::detail::lockstep(); }
//
// so that all lanes read before any of them writes.
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

/// An assignment that lockstep matters to: its first token, its operator and its
/// semicolon.
struct Assignment {
    size_t begin = kNone;
    size_t op = kNone;
    size_t semicolon = kNone;
};

/// If the statement in tokens [first, last) writes one element of a name and reads
/// another one, its assignment; else one that begins nowhere.
Assignment combines_elements(const Source& source,
                             size_t first,
                             size_t last,
                             const std::set<std::string_view>& names) {
    std::string_view written;
    std::string index;
    Assignment found;
    for (size_t i = first; i < last; ++i) {
        if (!names.contains(source.text(i)) || !source.is(i + 1, "[")) continue;
        const size_t close = source.match(i + 1);
        if (close == kNone || close >= last) return {};
        if (written.empty()) {
            const bool starts =
                source.is_any(i - 1, {";", "{", "}", ")", "else", "do"});
            if (!starts ||
                !source.is_any(close + 1, {"+=", "*=", "&=", "|=", "^=", "="}))
                return {};
            written = source.text(i);
            index = source.squeeze(i + 2, close);
            found = {i, close + 1, last};
        } else if (source.text(i) == written && source.squeeze(i + 2, close) != index) {
            return found;
        }
        i = close;
    }
    return {};
}

/// Does a barrier follow the statement that ends at this semicolon?
bool barrier_follows(const Source& source, size_t semicolon) {
    size_t next = semicolon + 1;
    while (source.is_any(next, {"}", ";"}))
        ++next;
    return source.text(next).starts_with("__sync");
}

/// Makes the lanes read before any of them writes, and write before any goes on. A
/// single statement may be part of a loop without barriers.
void keep_in_step(Source& source, const std::vector<Assignment>& run) {
    if (run.empty()) return;
    if (run.size() == 1 && barrier_follows(source, run[0].semicolon)) return;
    if (run.size() > 1)
        source.warning(run[0].begin,
                       "these statements rely on the lanes of a warp running in "
                       "lockstep, which CUDA does not promise (since Volta). They are "
                       "kept in step here; put __syncwarp() between them");
    // What the lanes wrote before the run, they wrote before any of them reads.
    source.insert_before(run[0].begin, "{ ::simt::detail::lockstep(); ");
    for (const Assignment& a : run) {
        const std::string_view op = source.text(a.op);
        std::string value = "; auto simt_value = ";
        if (op != "=") value += "simt_to " + std::string(op.substr(0, 1)) + " ";
        if (a.begin != run[0].begin) source.insert_before(a.begin, "{ ");
        source.insert_before(a.begin, "auto& simt_to = ");
        source.replace(a.op, value + "(");
        source.insert_before(a.semicolon, ")");
        source.insert_after(a.semicolon,
                            " ::simt::detail::lockstep(); simt_to = simt_value; "
                            "::simt::detail::lockstep(); }");
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
            const Assignment found = combines_elements(source, start, i, names);
            if (found.begin != kNone) run.push_back(found);
            start = i + 1;
        }
        finish();
    }
}

}  // namespace rewriter
