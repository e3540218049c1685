#include "findings.h"

#include <cstdio>
#include <cstdlib>
#include <unordered_map>

#include "core/finding.h"
#include "immortal.h"
#include "simt/check.h"
#include "trace/trace.h"

namespace simt::check {
namespace {

// A program with more mistakes than this is corrected step by step.
constexpr size_t kMostPrinted = 40;
constexpr int kExitStatus = 86;

struct FindingHash {
    size_t operator()(const FindingKey& k) const {
        uint64_t h = static_cast<uint64_t>(k.kind);
        for (const uint64_t part : {k.first, k.second, k.detail})
            h = (h ^ part) * 0x9e3779b97f4a7c15u;
        return h ^ h >> 32;
    }
};

struct State {
    std::vector<Finding> findings;
    std::unordered_map<FindingKey, size_t, FindingHash> numbers;
    std::string section;
};

constinit Immortal<State> g_state;
[[gnu::constructor(101)]] void make_state() {
    g_state.construct();
}
constinit auto& g_findings = g_state.value.findings;
constinit auto& g_finding_numbers = g_state.value.numbers;
constinit auto& g_section = g_state.value.section;

void print(const Finding& finding) {
    if (g_findings.size() > kMostPrinted) return;
    std::fflush(stdout);
    std::fputs(finding.text.c_str(), stderr);
    if (g_findings.size() == kMostPrinted)
        std::fputs("==SIMT== further findings are only counted\n", stderr);
    std::fflush(stderr);
}

const char* file_name(const std::string& path) {
    const size_t slash = path.rfind('/');
    return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

void set(unsigned (&to)[3], uint3 from) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

FindingPlace place_of(const char* role, const Place& place, const Who& who) {
    FindingPlace result{role, place.file, place.line, true};
    set(result.block, who.block);
    set(result.thread, who.thread);
    return result;
}

/// The finding of this number, for the program.
simt::Finding as_public(size_t number) {
    const Finding& f = g_findings[number];
    simt::Finding result;
    result.kind = f.kind;
    result.detail = detail_name(f.detail);
    result.kernel = f.kernel;
    if (f.place.line > 0) {
        const bool at_barrier = f.kind == Kind::divergent_barrier;
        result.places.push_back(
            place_of(at_barrier ? "barrier" : "access", f.place, f.who));
        result.places.back().has_thread = f.has_thread;
    }
    if (f.has_other)
        result.places.push_back(place_of("other_access", f.other_place, f.other));
    if (f.launched.line > 0)
        result.places.push_back({"launch", f.launched.file, f.launched.line});
    result.advice = f.fix;
    result.lesson = f.lesson;
    result.text = f.text;
    constexpr std::string_view kMark = "==SIMT== ";
    if (result.text.starts_with(kMark)) result.text.erase(0, kMark.size());
    result.number = number;
    return result;
}

}  // namespace

const char* detail_name(Detail detail) {
    constexpr const char* kNames[] = {
#define SIMT_DETAIL(name) #name,
        SIMT_DETAILS(SIMT_DETAIL)
#undef SIMT_DETAIL
    };
    return detail == Detail::none ? "" : kNames[static_cast<size_t>(detail)];
}

const std::vector<Finding>& findings() {
    return g_findings;
}

void add_finding(const FindingKey& key, const std::function<Finding()>& make) {
    const auto [it, fresh] = g_finding_numbers.try_emplace(key, g_findings.size());
    if (tracing) trace_finding(it->second);
    if (!fresh) {
        ++g_findings[it->second].count;
        return;
    }
    g_findings.push_back(make());
    g_findings.back().section = g_section;
    print(g_findings.back());
    detail::tell(as_public(g_findings.size() - 1));
}

const std::string& current_section() {
    return g_section;
}

int conclude_findings() {
    if (g_findings.empty()) return 0;
    std::fflush(nullptr);
    std::fprintf(stderr,
                 "==SIMT== %zu finding%s:\n",
                 g_findings.size(),
                 g_findings.size() == 1 ? "" : "s");
    for (const Finding& f : g_findings) {
        std::fprintf(stderr,
                     "    %-22s %s:%d",
                     kind_name(f.kind),
                     file_name(f.place.file),
                     f.place.line);
        if (f.has_other)
            std::fprintf(stderr,
                         " and %s:%d",
                         file_name(f.other_place.file),
                         f.other_place.line);
        if (!f.kernel.empty()) std::fprintf(stderr, " in %s", f.kernel.c_str());
        if (f.count > 1)
            std::fprintf(
                stderr, ", %llu times", static_cast<unsigned long long>(f.count));
        std::fputc('\n', stderr);
    }
    std::fflush(stderr);
    const char* wanted = std::getenv("SIMT_CHECK_EXIT");
    return wanted && *wanted == '0' ? 0 : kExitStatus;
}

}  // namespace simt::check

extern "C" {

size_t simt_check_findings() {
    return simt::check::findings().size();
}

void simt_check_finding(size_t number, simt::check::FindingView* view) {
    const simt::check::Finding& f = simt::check::findings()[number];
    *view = {simt::kind_name(f.kind),
             f.what.c_str(),
             f.kernel.c_str(),
             f.section.c_str(),
             f.place.file.c_str(),
             f.place.line,
             f.text.c_str(),
             f.count};
}

void simt_check_section(const char* name) {
    simt::check::g_section = name ? name : "";
}
}
