/// wb/lessons.h: which chapter explains what the simulator finds.
#pragma once

#include <simt/finding_kind.h>

namespace wb {

/// What explains a kind of finding.
struct LessonSection {
    simt::FindingKind kind;
    const char* detail;   ///< "": all that no row before it is about
    const char* lesson;   ///< the folder of the chapter
    const char* section;  ///< the heading in its lesson.md
    const char* word;     ///< that stands in this section
};

/// The section for a finding; null if no lesson explains it.
const LessonSection* lesson_section_of(simt::FindingKind kind, const char* detail);

/// The folder of a chapter that is there, "day01-basics/05-dot-product"; "" if none
/// explains it.
///
/// @param detail  tells findings of one kind apart, see docs/verdict.md; "" if nothing
///                does
///
/// In the simulator every program that is linked with wb tells it so: reports then end
/// in "Explained in ...".
const char* lesson_of(simt::FindingKind kind, const char* detail);

}  // namespace wb
