// The document that a program leaves. What each finding holds is in grader_rejects.cpp.
#include <stdlib.h>
#include <unistd.h>
#include <wb/testing/catch.h>
#include <wb/testing/verdict.h>

#include <fstream>
#include <iterator>
#include <limits>

#include "support.h"

namespace {

using namespace wb::testing;

/// A file of its own, removed with it.
class Document {
 public:
    Document() { close(mkstemp(name_)); }
    ~Document() { unlink(name_); }
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    std::string name() const { return name_; }
    std::string text() const {
        std::ifstream file(name_);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }

 private:
    char name_[32] = "verdict_test_XXXXXX";
};

}  // namespace

TEST_CASE("verdict: the document is there from the beginning, and says how far it is") {
    const Document document;
    Verdict verdict(document.name());
    verdict.begin();
    CHECK_THAT(document.text(), contains("\"format\": \"warpbook verdict 1\""));
    CHECK_THAT(document.text(), contains("\"cases\": []"));
    verdict.begin_case("adds");
    CHECK_THAT(document.text(), contains("\"verdict\": \"running\""));
    verdict.end_case(true, 0.25);
    CHECK_THAT(document.text(), contains("\"verdict\": \"passed\""));
    CHECK_THAT(document.text(), contains("\"seconds\": 0.25"));
    CHECK_THAT(document.text(), contains("\"ended\": false"));
    verdict.all_ran(false);
    CHECK_THAT(document.text(), contains("\"ended\": false"));
    CHECK(verdict.finish());
    CHECK_THAT(document.text(), contains("\"ended\": true"));
}

TEST_CASE("verdict: a program that leaves in the middle has not ended") {
    const Document document;
    Verdict verdict(document.name());
    verdict.begin();
    verdict.begin_case("adds");
    CHECK_FALSE(verdict.finish());
    CHECK_THAT(document.text(), contains("\"ended\": false"));
}

TEST_CASE("verdict: each function of a case has its own") {
    Verdict verdict("");
    verdict.begin();
    verdict.begin_case("adds");
    for (const char* name : {"add_v1", "add_v2", "add_v1", "add_v3"})
        verdict.grades(name);
    Finding unsolved{Kind::unsolved};
    unsolved.implementation = "add_v3";
    verdict.add(unsolved);
    verdict.end_case(false, 0.1);
    CHECK_THAT(verdict.json(), contains("\"add_v1\": \"passed\""));
    CHECK_THAT(verdict.json(), contains("\"add_v2\": \"passed\""));
    CHECK_THAT(verdict.json(), contains("\"add_v3\": \"unsolved\""));
}

TEST_CASE("verdict: what is found outside of all cases stands beside them") {
    Verdict verdict("");
    verdict.add({Kind::race});
    verdict.begin_case("adds");
    verdict.add({Kind::misaligned});
    verdict.end_case(false, 0);
    verdict.add({Kind::deadlock});
    const std::string json = verdict.json();
    const std::size_t outside = json.rfind("\"findings\"");
    CHECK(json.find("\"misaligned\"") < outside);
    CHECK(json.find("\"race\"") > outside);
    CHECK(json.find("\"deadlock\"") > outside);
}

TEST_CASE("verdict: what is found twice in a row is counted") {
    Verdict verdict("");
    verdict.begin_case("adds");
    verdict.add({Kind::race});
    verdict.add({Kind::race});
    verdict.add({Kind::misaligned});
    const std::string json = verdict.json();
    CHECK_THAT(json, contains("\"times\": 2"));
    CHECK(json.find("\"race\"") == json.rfind("\"race\""));
}

TEST_CASE("verdict: a million failed checks are not listed, a time limit is") {
    Verdict verdict("");
    verdict.begin_case("adds");
    for (int i = 0; i < 1000; ++i) {
        Finding f{Kind::check_failed};
        f.text = {std::to_string(i)};
        verdict.add(f);
    }
    verdict.add({Kind::time_limit});
    const std::string json = verdict.json();
    CHECK_THAT(json, contains("\"99\""));
    CHECK(json.find("\"100\"") == json.npos);
    CHECK_THAT(json, contains("time_limit"));
}

TEST_CASE("verdict: a case is unsolved or skipped only if it did not pass or fail") {
    const auto verdict_of = [](bool passed, bool unsolved, const std::string& reason) {
        Verdict verdict("");
        verdict.begin_case("adds");
        if (unsolved) verdict.add({Kind::unsolved});
        if (!reason.empty()) verdict.skip(reason);
        verdict.end_case(passed, 0);
        const std::string json = verdict.json();
        const std::string key = "\"verdict\": \"";
        const std::size_t begin = json.find(key) + key.size();
        return json.substr(begin, json.find('"', begin) - begin);
    };
    CHECK(verdict_of(true, false, "") == "passed");
    CHECK(verdict_of(false, false, "") == "failed");
    CHECK(verdict_of(false, true, "") == "unsolved");
    CHECK(verdict_of(true, false, "no such GPU") == "skipped");
    CHECK(verdict_of(false, false, "no such GPU") == "failed");
}

TEST_CASE("verdict: numbers that JSON does not know, and bytes that are no text") {
    Verdict verdict("");
    Finding f{Kind::wrong_result};
    f.numbers.got = std::numeric_limits<double>::quiet_NaN();
    f.numbers.expected = -std::numeric_limits<double>::infinity();
    f.what = "a byte: \xff";
    verdict.add(f);
    CHECK_THAT(verdict.json(), contains("\"got\": \"nan\""));
    CHECK_THAT(verdict.json(), contains("\"expected\": \"-inf\""));
}

TEST_CASE("verdict: files of the workbook are named from its folder") {
    Verdict verdict("");
    Finding f{Kind::check_failed};
    f.places = {{"check", __FILE__, 7}};
    f.what = std::string("at ") + __FILE__;
    verdict.add(f);
    CHECK_THAT(verdict.json(), contains("\"common/testing/tests/verdict_test.cpp\""));
    CHECK_THAT(verdict.json(),
               contains("\"at common/testing/tests/verdict_test.cpp\""));
    const std::string tests =
        std::string(__FILE__).substr(0, std::string(__FILE__).find("common/testing"));
    verdict.set_chapter(tests + "tests/day01-basics/02-vector-add/x_test.cpp");
    CHECK_THAT(verdict.json(), contains("\"chapter\": \"day01-basics/02-vector-add\""));
    verdict.set_chapter(__FILE__);
    CHECK_THAT(verdict.json(), contains("\"chapter\": \"\""));
}

TEST_CASE("verdict: cases that are not run say why") {
    Verdict verdict("");
    verdict.not_run({"adds"}, "another took too long");
    CHECK_THAT(verdict.json(), contains("\"verdict\": \"not_run\""));
    CHECK_THAT(verdict.json(), contains("\"reason\": \"another took too long\""));
}
