#include <wb/lessons.h>
#include <wb/testing/catch.h>

#include <filesystem>
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
                                    "proxy",
                                    "async",
                                    "index",
                                    "shared"};

}  // namespace

TEST_CASE("lessons: only chapters that are there are named") {
    const std::filesystem::path root = WB_SOURCE_DIR;
    int named = 0;
    for (const simt::FindingKind kind : kKinds) {
        for (const char* detail : kDetails) {
            const std::string lesson = wb::lesson_of(kind, detail);
            if (lesson.empty()) continue;
            ++named;
            CAPTURE(simt::kind_name(kind), detail, lesson);
            CHECK(std::filesystem::exists(root / lesson / "lesson.md"));
        }
    }
    CHECK(named > 20);
}

TEST_CASE("lessons: the detail chooses among those of one kind") {
    using simt::FindingKind;
    CHECK_THAT(wb::lesson_of(FindingKind::race, ""), wb::testing::contains("dot"));
    CHECK_THAT(wb::lesson_of(FindingKind::race, "proxy"),
               wb::testing::contains("hopper"));
    CHECK(std::string(wb::lesson_of(FindingKind::wrong_result, "")).empty());
}
