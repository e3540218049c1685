// The edits of known-wrong kernels: what is applied, what is refused in which words.
#include <wb/testing/catch.h>

#include <sstream>

#include "edit.h"

namespace {

using namespace bundle;

File file_of(const std::string& name, const std::string& text) {
    File file{name, {}};
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        file.lines.push_back(line);
    return file;
}

const char* const kRight =
    "int one() {\n"
    "    step();\n"
    "    return 1;\n"
    "}\n"
    "\n"
    "int two() {\n"
    "    step();\n"
    "    return 2;\n"
    "}\n";

/// The text after an edit, each line with where it comes from: "2 step();".
std::vector<std::string> edited(const std::string& diff,
                                const std::string& right = kRight) {
    std::vector<std::string> result;
    for (const EditLine& line :
         apply(parse_edit(file_of("wrong.diff", diff)), file_of("right.cu", right)))
        result.push_back(line.kind + std::to_string(line.number) + line.text);
    return result;
}

/// What is said of an edit that cannot be applied; "" if it can.
std::string refusal(const std::string& diff, const std::string& right = kRight) {
    try {
        edited(diff, right);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a line is replaced, and every line knows where it comes from") {
    CHECK(edited("# returns 3\n-    return 2;\n+    return 3;\n") ==
          Lines{" 1int one() {",
                " 2    step();",
                " 3    return 1;",
                " 4}",
                " 5",
                " 6int two() {",
                " 7    step();",
                "+3    return 3;",
                " 9}"});
}

TEST_CASE("lines are taken out and put in at several places, in any order") {
    CHECK(edited("-    return 2;\n@@\n int one() {\n+    extra();\n@@ anything\n"
                 "+// two\n int two() {\n",
                 kRight) == Lines{" 1int one() {",
                                  "+4    extra();",
                                  " 2    step();",
                                  " 3    return 1;",
                                  " 4}",
                                  " 5",
                                  "+6// two",
                                  " 6int two() {",
                                  " 7    step();",
                                  " 9}"});
}

TEST_CASE("space at the ends of a line does not count, but stays as it was") {
    CHECK(edited(" \t return 1;  \n+x\n", "  return 1;\n") ==
          Lines{" 1  return 1;", "+2x"});
}

TEST_CASE("blank lines in a place count, those around it do not") {
    CHECK(edited("\n }\n\n-int two() {\n+int zwei() {\n\n").at(5) == "+5int zwei() {");
    CHECK(refusal(" }\n-int two() {\n") ==
          "wrong.diff:2: 'int two() {' does not follow in right.cu, after line 4");
}

TEST_CASE("CRLF and a missing newline at the end are no difference") {
    CHECK(edited("-a\r\n+c\r\n b", "a\r\nb") == Lines{"+2c", " 2b"});
}

TEST_CASE("what the right text does not have is refused") {
    CHECK(refusal("-    return 3;\n") ==
          "wrong.diff:1: 'return 3;' does not stand in right.cu");
    CHECK(refusal("# twice\n     step();\n-    return 3;\n") ==
          "wrong.diff:3: 'return 3;' does not follow in right.cu, after line 2");
    CHECK(refusal(" }\n-more\n", "x\n}\n") ==
          "wrong.diff:2: 'more' does not follow in right.cu, after line 2");
}

TEST_CASE("what the right text has twice is refused") {
    CHECK(refusal("-    step();\n") ==
          "wrong.diff:1: stands more than once in right.cu, in lines 2 and 7: one more "
          "line of what is around it says which is meant");
    CHECK(refusal("-    step();\n     return 2;\n").empty());
}

TEST_CASE("places that overlap are refused") {
    CHECK(refusal("-int one() {\n     step();\n@@\n-    step();\n     return 1;\n") ==
          "wrong.diff:4: two places overlap in this line");
}

TEST_CASE("an edit that says nothing, or not where, is refused") {
    CHECK(refusal("") == "wrong.diff:1: nothing is edited");
    CHECK(refusal("# only words\n") == "wrong.diff:1: nothing is edited");
    CHECK(refusal(" int one() {\n") ==
          "wrong.diff:1: nothing is taken out or put in here");
    CHECK(refusal("-int one() {\n@@\n+x\n") ==
          "wrong.diff:3: only new lines: a line before or after them says where");
    CHECK(refusal("*int one() {\n") ==
          "wrong.diff:1: a line begins with '-', '+', ' ', '#' or '@@'");
}

TEST_CASE("the header names the text that is edited") {
    const auto parse = [](const std::string& diff) {
        return parse_edit(file_of("wrong.diff", diff));
    };
    CHECK(parse("-x\n").target == "right.cu");
    const Edit edit = parse("# What\n# Edits:  kernel.h \r\n-x\n");
    CHECK(edit.target == "kernel.h");
    CHECK(edit.target_line == 2);
    CHECK(edit.main == "right.cu");
    CHECK(parse("# Edits: kernel.h\n# Of: other.cu\n-x\n").main == "other.cu");
    CHECK_THROWS_WITH(parse("-x\n# Edits: kernel.h\n"),
                      "wrong.diff:2: this line belongs before the first place");
}
