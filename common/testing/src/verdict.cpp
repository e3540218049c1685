// Collects what a test program finds and writes it as JSON. The only source that
// includes nlohmann/json.hpp, which costs seconds.
#include <wb/testing/verdict.h>

#include <cuda_runtime.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#ifdef SIMT_CPU
#include <simt/check.h>
#endif

#include "channel.h"

namespace wb::testing {
namespace {

using Json = nlohmann::ordered_json;

/// One test case.
struct Case {
    std::string name;
    Outcome outcome = Outcome::running;
    std::string reason{};
    double seconds = 0;
    std::vector<Finding> findings{};
    std::vector<std::string> functions{};  // in the order in which they were graded
};

/// The path from the workbook's folder, for a file inside it.
std::string relative(const std::string& file) {
    const std::string root = WB_SOURCE_DIR "/";
    return file.starts_with(root) ? file.substr(root.size()) : file;
}

/// The same for each path that a sentence names.
std::string shortened(std::string text) {
    const std::string root = WB_SOURCE_DIR "/";
    for (std::size_t at = text.find(root); at != text.npos; at = text.find(root, at))
        text.erase(at, root.size());
    return text;
}

std::vector<std::string> shortened(std::vector<std::string> lines) {
    for (std::string& line : lines)
        line = shortened(std::move(line));
    return lines;
}

/// "day01-basics/02-vector-add" for a test in tests/day01-basics/02-vector-add.
std::string chapter_of(const std::string& test_file) {
    const std::string path = relative(test_file);
    const std::string tests = "tests/";
    const std::size_t end = path.rfind('/');
    if (!path.starts_with(tests + "day") || end < tests.size()) return "";
    return path.substr(tests.size(), end - tests.size());
}

/// JSON knows no NaN and no infinity.
Json number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json json_of(const Place& place) {
    Json json;
    json["role"] = place.role;
    if (!place.file.empty()) json["file"] = relative(place.file);
    if (place.line > 0) json["line"] = place.line;
    if (place.column > 0) json["column"] = place.column;
    if (!place.kernel.empty()) json["kernel"] = place.kernel;
    if (!place.block.empty()) json["block"] = place.block;
    if (!place.thread.empty()) json["thread"] = place.thread;
    return json;
}

Json json_of(const Numbers& n) {
    Json json = Json::object();
    const auto put = [&](const char* name, const std::optional<double>& value) {
        if (value) json[name] = number(*value);
    };
    const auto put_count = [&](const char* name,
                               const std::optional<std::int64_t>& value) {
        if (value) json[name] = *value;
    };
    const auto put_text = [&](const char* name, const std::string& value) {
        if (!value.empty()) json[name] = value;
    };
    put_text("array", n.array);
    if (!n.index.empty()) json["index"] = n.index;
    put("expected", n.expected);
    put("got", n.got);
    if (n.untouched) {
        json["got"] = nullptr;
        json["untouched"] = true;
    }
    put_count("wrong", n.wrong);
    put_count("count", n.count);
    put("worst_error", n.worst_error);
    if (!n.worst_index.empty()) json["worst_index"] = n.worst_index;
    put("bound", n.bound);
    put_count("offset", n.offset);
    put("measured", n.measured);
    put("allowed", n.allowed);
    put_text("error", n.error);
    put_text("message", shortened(n.message));
    put_text("wanted", n.wanted);
    return json;
}

Json json_of(const Finding& finding);
Json json_of(const Case& c);

template <class T>
Json list_of(const std::vector<T>& items) {
    Json json = Json::array();
    for (const T& item : items)
        json.push_back(json_of(item));
    return json;
}

Json json_of(const Finding& f) {
    Json json;
    json["kind"] = simt::kind_name(f.kind);
    json["detail"] = f.detail;
    json["what"] = shortened(f.what);
    json["implementation"] = f.implementation;
    json["inputs"] = f.inputs;
    json["places"] = list_of(f.places);
    json["numbers"] = json_of(f.numbers);
    json["seen"] = shortened(f.seen);
    json["causes"] = shortened(f.causes);
    json["advice"] = shortened(f.advice);
    json["lesson"] = f.lesson;
    json["times"] = f.times;
    json["text"] = shortened(f.text);
    return json;
}

/// Of one function in a case that has ended: what is found ends the case, so that those
/// before it are right.
const char* verdict_of(const std::string& function, const Case& c) {
    for (const Finding& finding : c.findings) {
        if (finding.implementation != function) continue;
        return outcome_name(finding.kind == Kind::unsolved ? Outcome::unsolved
                                                           : Outcome::failed);
    }
    const bool is_last = function == c.functions.back();
    return outcome_name(is_last ? c.outcome : Outcome::passed);
}

Json json_of(const Case& c) {
    Json json;
    json["name"] = c.name;
    json["verdict"] = outcome_name(c.outcome);
    json["reason"] = c.reason;
    json["seconds"] = std::round(1e6 * c.seconds) / 1e6;
    json["functions"] = Json::object();
    for (const std::string& function : c.functions)
        json["functions"][function] = verdict_of(function, c);
    json["findings"] = list_of(c.findings);
    return json;
}

bool is_checked() {
#ifdef SIMT_CPU
    return simt::check::active();
#else
    return false;
#endif
}

/// A loop over checks can fail in each of a million elements.
constexpr std::size_t kMostFindings = 100;
bool is_common(const Finding& finding) {
    return finding.kind == Kind::check_failed;
}

bool is_same(const Finding& a, const Finding& b) {
    return a.kind == b.kind && a.detail == b.detail && a.text == b.text;
}

Outcome outcome_of(const Case& c, bool passed) {
    for (const Finding& finding : c.findings) {
        if (!passed && finding.kind == Kind::unsolved) return Outcome::unsolved;
    }
    if (!passed) return Outcome::failed;
    return c.reason.empty() ? Outcome::passed : Outcome::skipped;
}

}  // namespace

const char* outcome_name(Outcome outcome) {
    constexpr const char* kNames[] = {
        "passed", "failed", "unsolved", "skipped", "not_run", "running"};
    return kNames[static_cast<int>(outcome)];
}

struct Verdict::State {
    // Timed: the thread that ends a program after its time limit may find it taken for
    // ever, by what hangs.
    mutable std::timed_mutex mutex;
    std::string file;
    bool has_supervisor = false;  // who writes the file
    std::string chapter;
    std::vector<Case> cases;
    std::vector<Finding> findings;  // outside of all cases
    bool begun = false;
    bool all_ran = false;
    bool ended = false;

    bool is_running() const {
        return !cases.empty() && cases.back().outcome == Outcome::running;
    }
    std::string json() const {
        Json json;
        json["format"] = "warpbook verdict 1";
        json["chapter"] = chapter;
        json["program"] = program_invocation_short_name;
#ifdef SIMT_CPU
        json["backend"] = "simulator";
#else
        json["backend"] = "gpu";
#endif
        json["checked"] = is_checked();
        json["ended"] = ended;
        json["cases"] = list_of(cases);
        json["findings"] = list_of(findings);
        // A message may hold any bytes.
        return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
    }
    /// A reader never sees half a document: it is renamed into its place.
    void write() const {
        if (!begun) return;
        if (has_supervisor) Channel::instance().send(Frame::document, json());
        if (file.empty()) return;
        const std::string text = json();
        const std::string part = file + '.' + std::to_string(getpid());
        std::FILE* out = std::fopen(part.c_str(), "w");
        const bool written =
            out && std::fwrite(text.data(), 1, text.size(), out) == text.size();
        if ((out && std::fclose(out) != 0) || !written ||
            std::rename(part.c_str(), file.c_str()) != 0) {
            std::fprintf(stderr,
                         "cannot write WB_VERDICT=%s: %s\n",
                         file.c_str(),
                         std::strerror(errno));
            std::remove(part.c_str());
        }
    }
};

Verdict& Verdict::instance() {
    // Never destroyed: findings come until the program's very end.
    static Verdict& verdict = *[] {
        const bool has_supervisor = Channel::instance().is_open();
        const char* file = has_supervisor ? nullptr : std::getenv("WB_VERDICT");
        auto* made = new Verdict(file ? file : "");
        made->state_->has_supervisor = has_supervisor;
        return made;
    }();
    return verdict;
}

Verdict::Verdict(std::string file) : state_(new State) {
    state_->file = std::move(file);
}

Verdict::~Verdict() = default;

void Verdict::begin() {
    const std::lock_guard lock(state_->mutex);
    state_->begun = true;
    state_->write();
}

void Verdict::begin_again(const std::string& file) {
    const std::lock_guard lock(state_->mutex);
    if (state_->has_supervisor) return;
    state_->file = file;
    state_->cases.clear();
    state_->findings.clear();
    state_->begun = true;
    state_->all_ran = state_->ended = false;
    state_->write();
}

void Verdict::set_chapter(const std::string& test_file) {
    const std::lock_guard lock(state_->mutex);
    state_->chapter = chapter_of(test_file);
}

void Verdict::begin_case(const std::string& name) {
    const std::lock_guard lock(state_->mutex);
    state_->cases.push_back({name});
    state_->write();
}

void Verdict::end_case(bool passed, double seconds) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_running()) return;
    Case& now = state_->cases.back();
    now.outcome = outcome_of(now, passed);
    now.seconds = seconds;
    state_->write();
}

void Verdict::add(Finding finding) {
    const std::lock_guard lock(state_->mutex);
    auto& list =
        state_->is_running() ? state_->cases.back().findings : state_->findings;
    if (!list.empty() && is_same(list.back(), finding)) {
        ++list.back().times;  // another section of the case, the same mistake
    } else if (list.size() < kMostFindings || !is_common(finding)) {
        list.push_back(std::move(finding));
    }
    if (!state_->all_ran) return;
    // Found when main() had ended, and the checker leaves without further calls.
    state_->ended |= list.back().number >= 0;
    state_->write();
}

void Verdict::update_times(std::uint64_t (*times_found)(std::int64_t number)) {
    const std::lock_guard lock(state_->mutex);
    const auto update = [&](std::vector<Finding>& findings) {
        for (Finding& finding : findings) {
            if (finding.number >= 0) finding.times = times_found(finding.number);
        }
    };
    update(state_->findings);
    for (Case& c : state_->cases)
        update(c.findings);
}

void Verdict::grades(const std::string& implementation) {
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_running()) return;
    auto& functions = state_->cases.back().functions;
    std::erase(functions, implementation);  // the last one is what ends the case
    functions.push_back(implementation);
}

void Verdict::skip(const std::string& reason) {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_running()) state_->cases.back().reason = reason;
}

void Verdict::not_run(const std::vector<std::string>& names,
                      const std::string& reason) {
    const std::lock_guard lock(state_->mutex);
    for (const std::string& name : names)
        state_->cases.push_back({name, Outcome::not_run, reason});
}

void Verdict::time_limit(Finding finding, double seconds) {
    const std::unique_lock lock(state_->mutex, std::chrono::seconds(1));
    if (!lock || !state_->is_running()) return;
    Case& now = state_->cases.back();
    now.findings.push_back(std::move(finding));
    now.outcome = Outcome::failed;
    now.seconds = seconds;
    state_->ended = true;
    state_->write();
}

void Verdict::all_ran(bool at_once) {
    const std::lock_guard lock(state_->mutex);
    state_->all_ran = true;
    state_->ended = at_once;
    if (at_once) state_->write();
}

bool Verdict::finish() {
    // Who hangs may hold it for ever.
    const std::unique_lock lock(state_->mutex, std::chrono::seconds(1));
    if (!lock || !state_->all_ran) return false;
    state_->ended = true;
    state_->write();
    return true;
}

std::string Verdict::json() const {
    const std::lock_guard lock(state_->mutex);
    return state_->json();
}

namespace {

/// Tells the supervisor where a program is that has no right to end.
template <Frame how>
void end() {
    if (!Verdict::instance().finish()) Channel::instance().send(how, stack_in_text());
}

// The first to be registered is the last to be called: when destructors of static
// objects have run, in which a program may still crash. Not atexit(), whose functions
// belong to this library: they are called by code through which no stack can be read.
[[gnu::constructor(101)]] void finish_at_exit() {
    on_exit([](int, void*) { end<Frame::exit>(); }, nullptr);
    std::at_quick_exit(end<Frame::quick_exit>);
}

}  // namespace
}  // namespace wb::testing
