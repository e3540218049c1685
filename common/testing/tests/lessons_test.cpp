#include <wb/lessons.h>
#include <wb/testing/catch.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support.h"

namespace {

constexpr simt::FindingKind kKinds[] = {
#define KIND(name, meaning) simt::FindingKind::name,
    SIMT_KERNEL_FINDINGS(KIND)
#undef KIND
};

// As in common/simt/checker/findings.h, and docs/verdict.md.
constexpr const char* kDetails[] = {"",
                                    "same_warp",
                                    "warp_of_block",
                                    "same_block",
                                    "blocks",
                                    "update",
                                    "writers",
                                    "fence",
                                    "scope",
                                    "read_only",
                                    "proxy",
                                    "barrier",
                                    "async",
                                    "dependency",
                                    "streams",
                                    "cluster",
                                    "collective_buffer",
                                    "collective_order",
                                    "missing_rank",
                                    "index",
                                    "shared"};

}  // namespace

/// The text between a heading of Markdown and the next one; "" if there is none.
static std::string section_of(const std::filesystem::path& file,
                              const std::string& heading) {
    std::ifstream lesson(file);
    std::string text;
    bool inside = false;
    for (std::string line; std::getline(lesson, line);) {
        if (line.starts_with("## ") || line.starts_with("### "))
            inside = line.substr(line.find(' ') + 1) == heading;
        else if (inside)
            text += line + " ";
    }
    return text;
}

TEST_CASE("lessons: each is there, and has a section on what was found") {
    const std::filesystem::path root = WB_SOURCE_DIR;
    int named = 0;
    for (const simt::FindingKind kind : kKinds) {
        for (const char* detail : kDetails) {
            const wb::LessonSection* const found = wb::lesson_section_of(kind, detail);
            if (found == nullptr) continue;
            ++named;
            CAPTURE(simt::kind_name(kind), detail, found->lesson, found->section);
            CHECK(wb::lesson_of(kind, detail) == std::string(found->lesson));
            CHECK_THAT(section_of(root / found->lesson / "lesson.md", found->section),
                       wb::testing::contains(found->word));
        }
    }
    CHECK(named > 30);
}

TEST_CASE("lessons: the detail chooses among those of one kind") {
    using simt::FindingKind;
    CHECK_THAT(wb::lesson_of(FindingKind::race, ""), wb::testing::contains("dot"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "proxy"),
               wb::testing::contains("hopper"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "barrier"),
               wb::testing::contains("hopper"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "fence"),
               wb::testing::contains("reduction"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "dependency"),
               wb::testing::contains("gptq"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "writers"),
               wb::testing::contains("dot"));
    CHECK(std::string(wb::lesson_of(FindingKind::wrong_result, "")).empty());
    CHECK_THAT(wb::lesson_of(FindingKind::race, "streams"),
               wb::testing::contains("streams"));
    CHECK_THAT(wb::lesson_of(FindingKind::deadlock, "missing_rank"),
               wb::testing::contains("multi-gpu"));
    // No lesson explains memory that is freed too early.
    CHECK(std::string(wb::lesson_of(FindingKind::use_after_free, "")).empty());
}
