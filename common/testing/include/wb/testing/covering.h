/// wb/testing/covering.h: few cases in which every pair of edges meets.
///
/// A kernel may be right for large logits and right with a causal mask, and wrong for
/// both at once. A covering design names the factors of a test and their levels, and
/// makes a small set of cases in which each pair of levels of two factors occurs, and
/// for chosen factors each triple:
///
///     static const auto cases = Covering()
///                                   .factor("n", {1, 31, 32, 33})
///                                   .factor("alpha", {"zero", "one", "negative"})
///                                   .factor("aligned", {"yes", "no"})
///                                   .cases();
///     for (const Combination& c : cases)              // 12 instead of 24
///         DYNAMIC_SECTION(c.text()) { grade(c["n"], c["alpha"], c["aligned"]); }
///
/// Each case is a section of a Catch2 test case, whose name is what the report shows as
/// its inputs. `PROGRAM "<test case>" -c "<section>"` runs it alone.
///
/// The design is greedy (one case after the other, each the best of a few candidates),
/// as in D. M. Cohen et al., The AETG system, IEEE Trans. Softw. Eng. 23 (1997), and
/// deterministic: the same seed gives the same cases everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace wb::testing {

/// One value of a factor: a number, or words whose number is their place.
struct Level {
    std::string text;
    std::int64_t value;
};

struct Factor {
    std::string name;
    std::vector<Level> levels;

    /// The place of a level. Throws std::out_of_range if there is none.
    std::size_t level_of(std::int64_t value) const;
};

/// One level of each factor.
class Combination {
 public:
    Combination(const std::vector<Factor>& factors, std::vector<std::size_t> levels);

    /// The level's number. Throws std::out_of_range for an unknown factor.
    std::int64_t operator[](const std::string& factor) const;
    /// The level's words.
    const std::string& words(const std::string& factor) const;
    /// "n 33, alpha zero, aligned no"
    std::string text() const;
    /// The places of all levels, in the order of the factors.
    const std::vector<std::size_t>& levels() const { return levels_; }

 private:
    std::size_t place(const std::string& factor) const;

    std::vector<std::pair<std::string, Level>> chosen_;
    std::vector<std::size_t> levels_;
};

/// Factors, what must meet, and what cannot.
class Covering {
 public:
    /// Numbers as levels.
    Covering& factor(const std::string& name, const std::vector<std::int64_t>& levels);
    Covering& factor(const std::string& name,
                     std::initializer_list<std::int64_t> levels) {
        return factor(name, std::vector<std::int64_t>(levels));
    }
    /// Words as levels; their numbers are 0, 1, ...
    Covering& factor(const std::string& name, const std::vector<std::string>& levels);
    Covering& factor(const std::string& name,
                     std::initializer_list<const char*> levels) {
        return factor(name, std::vector<std::string>(levels.begin(), levels.end()));
    }

    /// Each triple of levels of these three must meet, too.
    Covering& triples(const std::string& a, const std::string& b, const std::string& c);
    /// Each triple of levels of any three factors must meet: a design of strength 3.
    Covering& all_triples();

    /// True if the contract forbids these levels together.
    using Forbidden = std::function<bool(const std::vector<std::int64_t>& values)>;
    /// @param names  the factors whose values, in this order, `forbidden` is given
    Covering& forbid(const std::vector<std::string>& names, Forbidden forbidden);

    /// The cases. Pairs and triples that every case is forbidden for are left out.
    std::vector<Combination> cases(std::uint64_t seed = 1) const;

    const std::vector<Factor>& factors() const { return factors_; }

 private:
    friend class CoveringSearch;
    struct Rule {
        std::vector<std::size_t> factors;
        Forbidden forbidden;
    };

    std::size_t place(const std::string& name) const;

    std::vector<Factor> factors_;
    std::vector<std::vector<std::size_t>> triples_;
    bool has_all_triples_ = false;
    std::vector<Rule> rules_;
};

/// A tool watches every access, some thirty times as slowly: the simulator's checker,
/// or compute-sanitizer (WB_CANARIES=0). Tests then run the first cases of a design
/// only: a greedy one meets most pairs of levels there, and threads race for a shape,
/// not for a kind of logits.
bool is_watched();

}  // namespace wb::testing
