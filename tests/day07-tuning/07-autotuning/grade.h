/// grade.h: judges a tuner, and says so in the learner's words.
#pragma once

#include <wb/implementations.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "exhaustive.h"
#include "landscape.h"

/// Every rung of the search, or the learner's function.
inline std::vector<wb::Implementation<Choice(Rig&, int)>> tuners() {
    return wb::implementations("tune", tune);
}

/// Ends the test case with a report for the learner.
[[noreturn]] inline void fail(const std::string& what, const std::string& more = "") {
    wb::testing::fail(wb::testing::Kind::wrong_result, what, more);
}

/// What a function of the learner's returns; says so if it is not written yet, or if it
/// throws. @param name  "tune"
template <class F>
auto result_of(const std::string& name, F call) {
    try {
        return call();
    } catch (const wb::NotSolved& unsolved) {
        wb::testing::fail(unsolved);
    } catch (const std::exception& error) {
        fail(name + " throws: " + error.what());
    }
}

inline void expect(bool met, const std::string& what, const std::string& more = "") {
    if (!met) fail(what, more);
    CHECK(met);
}

/// Passes if `call` throws an E whose message contains `part`.
template <class E, class F>
void expect_thrown(const std::string& name, const std::string& part, F call) {
    try {
        call();
    } catch (const wb::NotSolved& unsolved) {
        wb::testing::fail(unsolved);
    } catch (const E& error) {
        const std::string text = error.what();
        expect(text.find(part) != std::string::npos,
               name + ": the error does not say '" + part + "': " + text);
        return;
    } catch (const std::exception& error) {
        fail(name + " throws something else than it should: " + error.what());
    }
    fail(name + " should throw an error that says '" + part + "', and does not");
}

/// Whether the search kept to its rules; a report if it did not.
inline void expect_fair(const std::string& name,
                        const Choice& choice,
                        const Landscape& rig,
                        int max_trials) {
    if (!rig.mistake.empty()) fail(name + ": " + rig.mistake);
    expect(choice.config >= 0 && choice.config < rig.count(),
           name + " chooses configuration " + std::to_string(choice.config) + " of " +
               std::to_string(rig.count()));
    expect(rig.is_right(choice.config),
           name + " chooses one that is wrong: " + rig.name(choice.config));
    expect(rig.trials <= max_trials,
           name + " makes " + std::to_string(rig.trials) + " trials, allowed are " +
               std::to_string(max_trials));
    expect(choice.trials == rig.trials,
           name + " says that it made " + std::to_string(choice.trials) +
               " trials, but made " + std::to_string(rig.trials));
}

/// How many times as long as the best one's the choices really take.
struct Loss {
    double found;       ///< by the search that is graded
    double exhaustive;  ///< by exhaustive search, which the same clock has misled
};

/// One search with a quarter of the trials of exhaustive search on a copy of the rig.
template <class Tune>
Loss loss_of(const std::string& name, Tune* tune, const Landscape& rig) {
    Landscape for_all = rig;
    Landscape for_you = rig;
    const Choice best = exhaustive_search(for_all).best();
    const int allowed = quarter_of(best.trials);
    const Choice choice = result_of(name, [&] { return tune(for_you, allowed); });
    expect_fair(name, choice, for_you, allowed);
    return {for_you.loss(choice.config), for_all.loss(best.config)};
}

/// How many of the searches must be within kWithin: clocks are noisy, and a quarter of
/// the trials cannot see everything.
inline constexpr double kWithin = 1.03;
inline constexpr double kShareWithin = 0.85;

inline std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", 100.0 * share);
    return text;
}

/// Judges many searches. @param losses  of each of them
inline void expect_near(const std::string& name,
                        const std::string& where,
                        const std::vector<Loss>& losses,
                        const std::string& cause,
                        double share_within = kShareWithin) {
    int near = 0;
    int exhaustive_near = 0;
    double worst = 1.0;
    for (const Loss& loss : losses) {
        near += loss.found <= kWithin;
        exhaustive_near += loss.exhaustive <= kWithin;
        worst = std::max(worst, loss.found);
    }
    const auto all = static_cast<int>(losses.size());
    std::printf(
        "%s, %s: %d of %d within 3 %%, the worst is %s slower; "
        "exhaustive search: %d\n",
        name.c_str(),
        where.c_str(),
        near,
        all,
        percent(worst - 1.0).c_str(),
        exhaustive_near);
    expect(near >= share_within * all,
           name + ", " + where + ": only " + std::to_string(near) + " of " +
               std::to_string(all) +
               " searches find one within 3 % of the best; the worst is " +
               percent(worst - 1.0) + " slower",
           cause);
}
