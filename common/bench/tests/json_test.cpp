#include <wb/bench/json.h>

#include <limits>
#include <stdexcept>

#include "support.h"

using wb::bench::Json;
using wb::testing::contains;

namespace {

/// The message with which a text is refused; "" if it is read.
std::string refusal(const std::string& text) {
    try {
        (void)Json::parse(text);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("json: each kind of value") {
    CHECK(Json().dump() == "null\n");
    CHECK(Json(true).dump() == "true\n");
    CHECK(Json(false).dump() == "false\n");
    CHECK(Json(42).dump() == "42\n");
    CHECK(Json(-0.5).dump() == "-0.5\n");
    CHECK(Json("text").dump() == "\"text\"\n");
    CHECK(Json(Json::Array{}).dump() == "[]\n");
    CHECK(Json(Json::Object{}).dump() == "{}\n");
}

TEST_CASE("json: two levels have lines, deeper ones share one") {
    const Json inner = Json::Object{{"n", 1}, {"t", "x"}};
    const Json document = Json::Object{{"rows", Json::Array{inner, inner}}, {"m", 2}};
    CHECK(document.dump() ==
          "{\n"
          "  \"rows\": [\n"
          "    {\"n\": 1, \"t\": \"x\"},\n"
          "    {\"n\": 1, \"t\": \"x\"}\n"
          "  ],\n"
          "  \"m\": 2\n"
          "}\n");
}

TEST_CASE("json: strings are escaped where they must be") {
    CHECK(Json("a \"b\" \\ c\n\x01").dump() ==
          "\"a \\\"b\\\" \\\\ c\\u000a\\u0001\"\n");
    CHECK(Json("µs").dump() == "\"µs\"\n");
}

TEST_CASE("json: numbers are read back exactly as they were") {
    for (const double x : {0.0, 0.1, 1.0 / 3.0, 1e-300, 123456789012345.0, -2.5e17}) {
        CHECK(Json::parse(Json(x).dump()).number() == x);
    }
}

TEST_CASE("json: what JSON cannot say becomes null") {
    CHECK(Json(std::numeric_limits<double>::quiet_NaN()).dump() == "null\n");
    CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null\n");
}

TEST_CASE("json: a document survives being written and read") {
    const Json document = Json::Object{
        {"text", "quote \" backslash \\ tab \t"},
        {"numbers", Json::Array{1, 2.5, -3e-7}},
        {"others", Json::Array{true, false, Json(), Json::Object{}, Json::Array{}}}};
    CHECK(Json::parse(document.dump()) == document);
}

TEST_CASE("json: any white space, escapes and exponents are read") {
    const Json document =
        Json::parse(" {\t\"a\" :\r\n[ 1E3 , -0 ],\"b\":\"\\u00b5\\/\\n\\u20AC\"} ");
    REQUIRE(document.find("a") != nullptr);
    CHECK(document.find("a")->items()[0].number() == 1000.0);
    CHECK(document.find("b")->text() == "µ/\n€");
}

TEST_CASE("json: looking for what is not there") {
    const Json document = Json::parse("{\"a\": 1}");
    CHECK(document.find("b") == nullptr);
    CHECK(Json(1).find("a") == nullptr);
    CHECK(document.find("a")->text() == "");
    CHECK(document.number(7.0) == 7.0);
    CHECK(document.items().empty());
    CHECK(Json(1).members().empty());
}

TEST_CASE("json: broken text is refused with its line") {
    CHECK_THAT(refusal(""), contains("expected a value"));
    CHECK_THAT(refusal("{\n\"a\": 1\n"), contains("line 3: expected }"));
    CHECK_THAT(refusal("[1, ]"), contains("expected a value"));
    CHECK_THAT(refusal("[1 2]"), contains("expected ]"));
    CHECK_THAT(refusal("{1: 2}"), contains("expected a string"));
    CHECK_THAT(refusal("{\"a\" 2}"), contains("expected :"));
    CHECK_THAT(refusal("1 2"), contains("something follows"));
    CHECK_THAT(refusal("nan"), contains("expected a value"));
    CHECK_THAT(refusal("inf"), contains("expected a value"));
    CHECK_THAT(refusal("\"abc"), contains("not closed"));
    CHECK_THAT(refusal("\"a\nb\""), contains("control character"));
    CHECK_THAT(refusal("\"\\x\""), contains("unknown escape"));
    CHECK_THAT(refusal("\"\\u12\""), contains("four hexadecimal digits"));
    CHECK_THAT(refusal("\"\\ud83d\\ude00\""), contains("surrogate"));
    CHECK_THAT(refusal("\""), contains("not closed"));
    CHECK_THAT(refusal("\"\\"), contains("unknown escape"));
}

TEST_CASE("json: nesting is limited, so that no file exhausts the stack") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(refusal(nested(60)) == "");
    CHECK_THAT(refusal(nested(100000)), contains("nested too deeply"));
}
