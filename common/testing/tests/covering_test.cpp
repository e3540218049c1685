#include <wb/testing/catch.h>
#include <wb/testing/covering.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

namespace {

using wb::testing::Combination;
using wb::testing::Covering;

/// A factor of each of these numbers of levels.
Covering shape(const std::vector<std::size_t>& levels) {
    Covering design;
    for (std::size_t f = 0; f < levels.size(); ++f) {
        std::vector<std::int64_t> values(levels[f]);
        for (std::size_t i = 0; i < levels[f]; ++i)
            values[i] = static_cast<std::int64_t>(i);
        design.factor("f" + std::to_string(f), values);
    }
    return design;
}

/// How many different tuples of levels of these factors the cases hold.
std::size_t tuples(const std::vector<Combination>& cases,
                   std::vector<std::size_t> factors) {
    std::set<std::vector<std::size_t>> met;
    for (const Combination& c : cases) {
        std::vector<std::size_t> tuple;
        for (const std::size_t f : factors)
            tuple.push_back(c.levels()[f]);
        met.insert(tuple);
    }
    return met.size();
}

void expect_all_pairs(const Covering& design, const std::vector<Combination>& cases) {
    const auto& factors = design.factors();
    for (std::size_t a = 0; a < factors.size(); ++a) {
        for (std::size_t b = a + 1; b < factors.size(); ++b) {
            CAPTURE(a, b);
            CHECK(tuples(cases, {a, b}) ==
                  factors[a].levels.size() * factors[b].levels.size());
        }
    }
}

}  // namespace

TEST_CASE("covering: every pair of levels meets, in few cases") {
    struct Known {
        std::vector<std::size_t> levels;
        std::size_t optimum;  // C. Colbourn's tables of covering arrays, strength 2
    };
    for (const Known& known : {Known{{2, 2, 2}, 4},
                               Known{{3, 3, 3, 3}, 9},
                               Known{std::vector<std::size_t>(10, 2), 6},
                               Known{std::vector<std::size_t>(13, 3), 15},
                               Known{{4, 4, 4, 4, 4}, 16},
                               Known{{7, 5, 3, 2}, 35},
                               Known{{10, 10, 4, 7, 2, 3}, 100}}) {
        const Covering design = shape(known.levels);
        const auto cases = design.cases();
        CAPTURE(known.levels, cases.size());
        expect_all_pairs(design, cases);
        CHECK(cases.size() >= known.optimum);
        CHECK(10 * cases.size() <= 15 * known.optimum);
    }
}

TEST_CASE("covering: every triple of the chosen factors meets") {
    Covering design = shape({4, 4, 7, 3, 5, 2});
    design.triples("f0", "f1", "f2").triples("f3", "f4", "f5");
    const auto cases = design.cases();
    expect_all_pairs(design, cases);
    CHECK(tuples(cases, {0, 1, 2}) == 112);
    CHECK(tuples(cases, {3, 4, 5}) == 30);
    CHECK(cases.size() <= 120);
}

TEST_CASE("covering: strength three: every triple of any three factors meets") {
    // C. Colbourn's tables of covering arrays, strength 3: 8 and 27 are the least.
    for (const auto& [levels, optimum] :
         {std::pair{std::vector<std::size_t>{2, 2, 2, 2}, std::size_t{8}},
          {{3, 3, 3, 3}, 27},
          {{7, 5, 4, 2, 2}, 140}}) {
        Covering design = shape(levels);
        design.all_triples();
        const auto cases = design.cases();
        CAPTURE(levels, cases.size());
        for (std::size_t a = 0; a < levels.size(); ++a)
            for (std::size_t b = a + 1; b < levels.size(); ++b)
                for (std::size_t c = b + 1; c < levels.size(); ++c)
                    CHECK(tuples(cases, {a, b, c}) ==
                          levels[a] * levels[b] * levels[c]);
        CHECK(cases.size() >= optimum);
        CHECK(10 * cases.size() <= 15 * optimum);
    }
}

TEST_CASE("covering: what is forbidden is left out, and all else meets") {
    const std::vector<std::int64_t> sizes = {1, 2, 3, 5, 8};
    Covering design;
    design.factor("a", sizes)
        .factor("b", sizes)
        .factor("order", {"equal", "less", "more"})
        .factor("other", {"x", "y"})
        .forbid({"order", "a", "b"}, [](const std::vector<std::int64_t>& v) {
            const bool kept[] = {v[1] == v[2], v[1]<v[2], v[1]> v[2]};
            return !kept[v[0]];
        });
    const auto cases = design.cases();
    for (const Combination& c : cases) {
        const bool kept[] = {c["a"] == c["b"], c["a"]<c["b"], c["a"]> c["b"]};
        CAPTURE(c.text());
        CHECK(kept[c["order"]]);
    }
    CHECK(tuples(cases, {0, 1}) == 25);
    CHECK(tuples(cases, {0, 3}) == 10);
    // Nothing is less than 1 or more than 8.
    CHECK(tuples(cases, {0, 2}) == 13);
    CHECK(tuples(cases, {1, 2}) == 13);
}

TEST_CASE("covering: a design that forbids everything has no case") {
    Covering design = shape({2, 3});
    design.forbid({"f1"}, [](const std::vector<std::int64_t>&) { return true; });
    CHECK(design.cases().empty());
}

TEST_CASE("covering: the same seed gives the same cases, another one gives others") {
    const Covering design = shape({3, 4, 2, 5});
    const auto names = [&](std::uint64_t seed) {
        std::vector<std::string> texts;
        for (const Combination& c : design.cases(seed))
            texts.push_back(c.text());
        return texts;
    };
    CHECK(names(1) == names(1));
    CHECK(names(1) != names(2));
    // On every machine: the design is part of the names by which cases are repeated.
    CHECK(design.cases().front().text() == "f0 0, f1 3, f2 1, f3 3");
}

TEST_CASE("covering: a case tells its levels by name") {
    const auto cases = Covering().factor("n", {7}).factor("alpha", {"zero"}).cases();
    REQUIRE(cases.size() == 1);
    CHECK(cases[0]["n"] == 7);
    CHECK(cases[0]["alpha"] == 0);
    CHECK(cases[0].words("alpha") == "zero");
    CHECK(cases[0].text() == "n 7, alpha zero");
    CHECK_THROWS_AS(cases[0]["beta"], std::out_of_range);
    CHECK_THROWS_AS(Covering().triples("a", "b", "c"), std::out_of_range);
}
