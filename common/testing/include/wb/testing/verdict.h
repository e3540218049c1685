/// wb/testing/verdict.h: what a test program has found, as data.
///
/// A program hands a JSON document to its supervisor (supervise/main.cpp), which
/// writes it: when it starts, when a test case begins or ends, and at its end. Without
/// a supervisor it writes to the file WB_VERDICT itself, if there is one: for
/// tools like compute-sanitizer. What each field means is in docs/verdict.md. What a
/// terminal shows is made from the same data (src/words.cpp); nobody need search it.
#pragma once

#include <simt/finding_kind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wb::testing {

using Kind = simt::FindingKind;

/// A line of the source, and who was there.
struct Place {
    std::string role;    ///< todo, access, other_access, launch, call, barrier, check
    std::string file{};  ///< as the compiler knows it
    int line = 0;
    int column = 0;                  ///< 0: not known
    std::string kernel{};            ///< "" in host code
    std::vector<unsigned> block{};   ///< three, or none
    std::vector<unsigned> thread{};  ///< three, or none
};

/// What was measured. Only what is known is written.
struct Numbers {
    std::string array{};                  ///< the parameter's name, "c"
    std::vector<std::int64_t> index{};    ///< of the first wrong element
    std::optional<double> expected{};     ///< there
    std::optional<double> got{};          ///< there, unless nothing was written
    bool untouched = false;               ///< the element was never written
    std::optional<std::int64_t> wrong{};  ///< so many elements are
    std::optional<std::int64_t> count{};  ///< of so many
    std::optional<double> worst_error{};  ///< the largest error, in multiples of ...
    std::vector<std::int64_t> worst_index{};
    std::optional<double> bound{};         ///< ... what is allowed there
    std::optional<std::int64_t> offset{};  ///< damage: bytes past the end; -1: before
    std::optional<double> measured{};      ///< a goal, a limit: what it was
    std::optional<double> allowed{};       ///< and what it may be at most
    std::string error{};                   ///< "cudaErrorInvalidValue"
    std::string message{};                 ///< of what was thrown
    std::string wanted{};                  ///< what the message must contain
};

/// One thing that is wrong.
struct Finding {
    Kind kind = Kind::check_failed;
    std::string detail{};  ///< tells findings of one kind apart, see docs/verdict.md
    std::string what{};    ///< one sentence
    std::string implementation{};  ///< the contract's function or a version
    std::string inputs{};          ///< so that the case can be repeated
    std::vector<Place> places{};
    Numbers numbers{};
    std::vector<std::string> seen{};    ///< what all that is wrong has in common
    std::vector<std::string> causes{};  ///< candidates, best first
    std::string advice{};               ///< what usually helps
    std::string lesson{};               ///< the folder of the chapter that explains it
    std::uint64_t times = 1;            ///< how often the same was found
    std::vector<std::string> text{};    ///< for a terminal: no colour, not wrapped
    std::int64_t number = -1;  ///< the checker's, which counts repetitions; not written
};

/// What became of a test case.
enum class Outcome { passed, failed, unsolved, skipped, not_run, running };

/// "not_run"
const char* outcome_name(Outcome outcome);

/// Collects findings and writes the document. All functions may be called from any
/// thread; those that write are for the host's code, not for a kernel's fiber.
class Verdict {
 public:
    /// The program's own.
    static Verdict& instance();

    /// @param file  "": nothing is written
    explicit Verdict(std::string file);
    ~Verdict();
    Verdict(const Verdict&) = delete;
    Verdict& operator=(const Verdict&) = delete;

    /// The program has begun: writes the first document.
    void begin();
    /// Forgets all, and writes to another file from now on, of a program that tests one
    /// implementation after another. Has no effect on what goes to a supervisor.
    void begin_again(const std::string& file);
    /// Names the chapter by the source file of its tests.
    void set_chapter(const std::string& test_file);

    void begin_case(const std::string& name);
    /// @param passed  no check has failed
    void end_case(bool passed, double seconds);
    /// Adds to the running case; outside of one, to the program.
    void add(Finding finding);
    /// Asks how often those with a number have been found by now.
    void update_times(std::uint64_t (*times_found)(std::int64_t number));
    /// The running case grades this function, or this version.
    void grades(const std::string& implementation);
    /// The running case cannot run here.
    void skip(const std::string& reason);
    /// These cases will not be run.
    void not_run(const std::vector<std::string>& names, const std::string& reason);
    /// Ends the running case from another thread, and with it the program.
    void time_limit(Finding finding, double seconds);

    /// All cases have run. The document says so when nothing can come any more: at the
    /// program's very end, after static destructors, or at once.
    void all_ran(bool at_once);
    /// The program's very end: writes the last document. False, and nothing is written,
    /// if not all cases have run.
    bool finish();

    /// The document.
    std::string json() const;

 private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace wb::testing
