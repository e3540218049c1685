#include <wb/errors.h>
#include <wb/model/text.h>
#include <wb/testing/catch.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "support.h"

using wb::model::Part;
using wb::model::Text;
using wb::model::TextError;
using wb::testing::contains;

namespace {

/// 100 bytes: 0 to 99. What a piece begins with is where it begins.
std::string counted() {
    std::string bytes;
    for (int i = 0; i < 100; ++i)
        bytes += static_cast<char>(i);
    return bytes;
}

}  // namespace

TEST_CASE("pieces are rows of bytes that follow each other, within their part") {
    const Text text(counted());
    CHECK(text.size(Part::training) == 90);
    CHECK(text.size(Part::validation) == 10);
    for (const Part part : {Part::training, Part::validation}) {
        const int32_t first = part == Part::training ? 0 : 90;
        const int32_t end = part == Part::training ? 90 : 100;
        for (int64_t step = 0; step < 50; ++step) {
            const auto tokens = text.pieces(part, 3, step, 4, 6);
            REQUIRE(tokens.size() == 4 * 7);
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                REQUIRE(tokens[i] >= first);
                REQUIRE(tokens[i] < end);
                if (i % 7 != 0) REQUIRE(tokens[i] == tokens[i - 1] + 1);
            }
        }
    }
}

TEST_CASE("each place is one where a piece begins, the first and the last, too") {
    const Text text(counted());
    std::set<int32_t> begins;
    for (const int32_t token : text.pieces(Part::validation, 0, 0, 400, 9))
        begins.insert(token);
    CHECK(begins.size() == 10);  // one place: all pieces are the whole part
    begins.clear();
    const auto tokens = text.pieces(Part::training, 0, 0, 4000, 1);
    for (std::size_t i = 0; i < tokens.size(); i += 2)
        begins.insert(tokens[i]);
    CHECK(begins.size() == 89);
    CHECK(*begins.begin() == 0);
    CHECK(*begins.rbegin() == 88);
}

TEST_CASE("pieces depend on seed and step, and on nothing else") {
    const Text text(counted());
    const auto tokens = text.pieces(Part::training, 1, 2, 8, 4);
    CHECK(text.pieces(Part::training, 1, 2, 8, 4) == tokens);
    CHECK(text.pieces(Part::training, 2, 2, 8, 4) != tokens);
    CHECK(text.pieces(Part::training, 1, 3, 8, 4) != tokens);
    CHECK(text.pieces(Part::training, 1, 2 + (int64_t{1} << 32), 8, 4) != tokens);
    // The first pieces of more are the pieces of fewer.
    const auto more = text.pieces(Part::training, 1, 2, 9, 4);
    CHECK(std::vector<int32_t>(more.begin(), more.begin() + 8 * 5) == tokens);
}

TEST_CASE("bytes above 127 are tokens above 127") {
    const Text text(std::string(20, '\xfe'));
    for (const int32_t token : text.pieces(Part::training, 0, 0, 2, 3))
        CHECK(token == 254);
    CHECK(text.pieces(Part::training, 0, 0, 0, 3).empty());
}

TEST_CASE("a text that is too short, empty or not there is named") {
    CHECK_THROWS_WITH(Text(""), contains("the text is empty"));
    const Text text(counted());
    CHECK_THROWS_WITH(text.pieces(Part::validation, 0, 0, 1, 10),
                      contains("a piece needs 11 bytes") && contains("has 10"));
    CHECK_THROWS_AS(text.pieces(Part::validation, 0, 0, 1, INT64_MAX), TextError);
    CHECK_THROWS_AS(text.pieces(Part::training, 0, -1, 1, 1), wb::InvalidArgument);
    CHECK_THROWS_AS(text.pieces(Part::training, 0, 0, -1, 1), wb::InvalidArgument);
    CHECK_THROWS_AS(text.pieces(Part::training, 0, 0, 1, 0), wb::InvalidArgument);
    CHECK_THROWS_WITH(Text::from_file("/nowhere/text"),
                      contains("/nowhere/text: cannot be opened: No such file"));
    CHECK_THROWS_WITH(Text::from_file("/"), contains("/: cannot be read"));
    const std::string path = "model_text_test_" + std::to_string(getpid()) + ".txt";
    std::ofstream(path).close();
    CHECK_THROWS_WITH(Text::from_file(path), contains("the text is empty"));
    std::ofstream(path) << counted();
    CHECK(Text::from_file(path).size(Part::training) == 90);
    std::remove(path.c_str());
}
