// What a finding looks like on a terminal.
#include "words.h"

#include <wb/testing/catch.h>

#include <limits>
#include <set>

namespace {

using namespace wb::testing;
using Lines = std::vector<std::string>;

Finding in_words(Finding finding) {
    put_into_words(finding);
    return finding;
}

constexpr Kind kKinds[] = {
#define KIND(name, meaning) Kind::name,
    SIMT_FINDING_KINDS(KIND)
#undef KIND
};

}  // namespace

TEST_CASE("words: a wrong result names the element, both values and the cause") {
    Finding f{Kind::wrong_result};
    f.implementation = "scale_v1";
    f.inputs = "n = 3";
    f.numbers.array = "y";
    f.numbers.index = {2};
    f.numbers.expected = 4;
    f.numbers.got = 5;
    f.numbers.wrong = 1;
    f.numbers.count = 3;
    f.numbers.worst_error = 1;
    f.numbers.worst_index = {2};
    f.numbers.bound = 0.5;
    f.causes = {"off by one", "another, which is not shown"};
    CHECK(in_words(f).what == "y is wrong in 1 of 3 elements; the first is y[2]");
    CHECK(in_words(f).text ==
          Lines{"scale_v1, n = 3",
                "  y is wrong in 1 of 3 elements; the first is y[2]",
                "  expected 4, got 5",
                "  worst error 1 at y[2], where 0.5 is allowed",
                "  likely cause: off by one"});
    f.numbers.expected = -std::numeric_limits<double>::quiet_NaN();
    CHECK(in_words(f).text[2] == "  expected nan, got 5");
}

TEST_CASE("words: a sentence that a test gives is kept") {
    Finding f{Kind::contract};
    f.what = "it waits";
    f.advice = "for nothing\nand for long";
    CHECK(in_words(f).text == Lines{"it waits", "  for nothing", "  and for long"});
}

TEST_CASE("words: goals in counters") {
    Finding f{Kind::goal_missed, "sectors"};
    f.implementation = "add";
    f.numbers.array = "loads";
    f.numbers.measured = 32;
    f.numbers.allowed = 4;
    CHECK(in_words(f).text == Lines{"performance goal: add: its loads move 32 sectors "
                                    "of 32 bytes a request, 4 would do"});
    f.detail = "bank_conflicts";
    f.numbers.measured = 2.25;
    CHECK(in_words(f).what ==
          "its loads of shared memory take 2.2 passes where one "
          "would do (bank conflicts)");
    f.detail = "atomics";
    f.numbers.measured = 64;
    CHECK(in_words(f).what == "it takes 64 atomic operations, at most 4 are wanted");
}

TEST_CASE("words: bytes past the end are counted") {
    Finding f{Kind::damaged_memory};
    f.numbers.array = "y";
    f.numbers.offset = 12;
    CHECK(in_words(f).what ==
          "y was written 12 bytes past its end (an index that the "
          "guard should have stopped)");
}

TEST_CASE("words: a failed check says what its test says, or the expression") {
    FailedCheck check{"CHECK( a == b )", "1 == 2", "", {}, "x.cpp", 7};
    CHECK(finding_of(check).what == "CHECK( a == b )");
    CHECK(finding_of(check).places.front().line == 7);
    check.messages = {"wb| the first row"};
    CHECK(finding_of(check).what == "the first row");
    CHECK(finding_of(check).text ==
          Lines{"the first row", "  CHECK( a == b )", "  1 == 2"});
}

TEST_CASE("kinds: each has a name of its own and a meaning") {
    std::set<std::string> names;
    for (const Kind kind : kKinds) {
        CHECK(names.insert(simt::kind_name(kind)).second);
        CHECK(std::string(simt::kind_meaning(kind)).size() > 10);
    }
    CHECK(names.count("use_after_free") == 1);
    CHECK(names.count("goal_missed") == 1);
}
