// edit.h: a known-wrong kernel as an edit of a right one.
//
//     # The log-sum-exp is in powers of two, as the kernel computes it.
//     # Rejected by: one query and one key: the output is the value
//     -    if (lse != nullptr) lse[row] = kLn2 * (maximum + log2f(sum));
//     +    if (lse != nullptr) lse[row] = maximum + log2f(sum);
//
// "-" is a line to take out, "+" one to put in, " " one that stays and says where. The
// lines of one place must follow each other in the right text, and must stand there
// exactly once; space at their begin and end does not count. "@@" begins another place.
// "#" is a comment. Before the first place, `# Edits: FILE` says whose text it is; else
// it is right.cu. `# Of: FILE` names the .cu file that includes it; if it is a header,
// that is right.cu where nothing else is said.
#pragma once

#include <string>
#include <vector>

#include "text.h"

namespace bundle {

/// One line of an edit, or of a text after it: what it says, and where it comes from.
struct EditLine {
    char kind;  // '-', '+' or ' '
    std::string text;
    size_t number;  // of the line in its file, from 1
};

struct Edit {
    /// Lines that follow each other, and what becomes of them.
    using Place = std::vector<EditLine>;

    fs::path path;                    // of the .diff
    std::string target = "right.cu";  // the text to edit, as the header names it
    size_t target_line = 1;           // where it does
    std::string main = "right.cu";    // what includes it, if it is a header
    std::vector<Place> places;
};

/// Reads an edit. Throws std::runtime_error, as "file:line: message", if a line is none
/// of the above, or a place changes nothing or cannot be looked for.
Edit parse_edit(const File& file);

/// The text after the edit: its own lines are '+', the others ' ' with old numbers.
/// Throws std::runtime_error if a place is not in the text exactly once, or if two
/// places overlap.
std::vector<EditLine> apply(const Edit& edit, const File& right);

}  // namespace bundle
