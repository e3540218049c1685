#include "ending.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <filesystem>

#include "document.h"
#include "place.h"

namespace wb::supervise {
namespace {

constexpr int kSkipped = 4;  // CTest: SKIP_RETURN_CODE
constexpr int kFound = 86;   // the simulator's checker has found something
constexpr int kCannotBeRun = 127;

/// How a program ended that ought not to have.
struct Early {
    std::string detail{};  ///< docs/verdict.md, ended_early
    std::string how{};     ///< behind "the program "
    std::string signal{};  ///< "SIGSEGV"
    std::string stack{};
    std::string verb = "called";
};

std::string signal_name(int number) {
    const char* name = sigabbrev_np(number);
    return name ? std::string("SIG") + name : "signal " + std::to_string(number);
}

std::string signal_in_words(int number) {
    const std::string name = signal_name(number);
    switch (number) {
        case SIGSEGV:
            return "crashed (SIGSEGV: host code used a pointer that leads nowhere)";
        case SIGBUS:
            return "crashed (SIGBUS: there is no memory behind a pointer)";
        case SIGFPE:
            return "crashed (SIGFPE: host code divided an integer by zero)";
        case SIGILL:
            return "crashed (SIGILL: an illegal instruction, or a function "
                   "without its return)";
        case SIGABRT:
            return "was ended by abort(): an assert(), or an exception that "
                   "nobody could catch";
        default:
            return "was ended by " + name;
    }
}

Early how_it_ended(const Run& run, const std::string& program) {
    const int status = WEXITSTATUS(run.wait_status);
    const std::string number = "(" + std::to_string(status) + ")";
    if (run.is_disturbed)
        return {"forged", "wrote to files that are not its own: to the grader's, too"};
    if (WIFSIGNALED(run.wait_status)) {
        const int signal = WTERMSIG(run.wait_status);
        return {"signal",
                signal_in_words(signal),
                signal_name(signal),
                run.crash_stack,
                "at"};
    }
    if (run.has_called_exit)
        return {"exit", "was ended by exit" + number, "", run.exit_stack};
    if (run.has_called_quick_exit)
        return {"quick_exit", "was ended by quick_exit" + number, "", run.exit_stack};
    if (run.document.empty() && status == kCannotBeRun)
        return {"not_started",
                "could not be started: is it there, with its libraries?"};
    const std::string own = std::filesystem::path(program).filename();
    if (!run.last_name.empty() && !own.starts_with(run.last_name))
        return {"other_program", "became another one, `" + run.last_name + "`"};
    return {"_exit",
            "was ended by _exit" + number +
                ", or it closed files that are not "
                "its own"};
}

/// Where the finding belongs: to the case that ran, or to none.
Json* running_case(Json& document) {
    Json& cases = document["cases"];
    if (cases.empty()) return nullptr;
    Json& last = cases.back();
    // A signal's handler may have ended the case before its program.
    const bool is_blamed = last["verdict"] == "running" ||
                           (last["verdict"] == "failed" && last["findings"].empty());
    return is_blamed ? &last : nullptr;
}

std::string when(const Json& document, const Json* running) {
    if (running)
        return "in `" + (*running)["name"].get<std::string>() +
               "`, before its tests had ended";
    if (document["cases"].empty()) return "before its first test: by a static object?";
    return "after its last test, before its end: by a static object, or atexit()?";
}

Json finding_of(const Early& early, const std::string& when, const SourceLine& place) {
    std::string what = "the program " + early.how;
    if (early.detail != "not_started") what += ", " + when;
    Json finding = {{"kind", "ended_early"},
                    {"detail", early.detail},
                    {"what", what},
                    {"implementation", ""},
                    {"inputs", ""},
                    {"places", Json::array()},
                    {"numbers", Json::object()},
                    {"causes", Json::array()},
                    {"advice", ""},
                    {"lesson", ""},
                    {"times", 1},
                    {"text", {what}}};
    if (!early.signal.empty()) finding["numbers"]["error"] = early.signal;
    if (place.line > 0) {
        finding["places"].push_back(
            {{"role", "call"}, {"file", place.file}, {"line", place.line}});
        finding["text"].push_back("  " + early.verb + " " + place.file + ":" +
                                  std::to_string(place.line));
    }
    return finding;
}

/// Zero only if it is also what the verdicts say.
int status_of(const Json& document, int status) {
    if (status != 0 && status != kSkipped) return status;
    if (document["cases"].empty()) return 1;  // it has none of this name
    for (const Json& one : document["cases"])
        if (one["verdict"] == "failed" || one["verdict"] == "unsolved" ||
            one["verdict"] == "running")
            return 1;
    return status;
}

}  // namespace

Ending judge(const Run& run, const std::string& program, bool lists) {
    Json document = Json::parse(run.document, nullptr, false);
    if (document.is_discarded()) document = empty_document(program);
    const int status = WIFEXITED(run.wait_status) ? WEXITSTATUS(run.wait_status) : 1;
    Ending ending;
    const bool has_ended =
        document["ended"] == true && !run.is_disturbed && WIFEXITED(run.wait_status);
    if (has_ended) {
        ending.status = lists ? status : status_of(document, status);
    } else {
        const Early early = how_it_ended(run, program);
        Json* running = running_case(document);
        const Json finding =
            finding_of(early, when(document, running), place_in(early.stack, program));
        ending.words = words_of(finding);
        document["ended"] = false;
        if (running) (*running)["verdict"] = "failed";
        (running ? *running : document)["findings"].push_back(finding);
        ending.status =
            status == 0 || status == kSkipped || status == kFound ? 1 : status;
    }
    ending.document = text_of(document);
    ending.summary = summary_of(document);
    return ending;
}

}  // namespace wb::supervise
