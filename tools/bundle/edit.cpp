#include "edit.h"

#include <algorithm>
#include <stdexcept>

namespace bundle {
namespace {

const char* const kSpace = " \t\r";

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(kSpace);
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

[[noreturn]] void fail(const fs::path& path, size_t line, const std::string& message) {
    throw std::runtime_error(path.string() + ':' + std::to_string(line) + ": " +
                             message);
}

/// `# Edits: FILE` has the value FILE as "Edits"; any other line "".
std::string field(const std::string& line, const std::string& name) {
    const std::string begin = "# " + name + ":";
    return line.rfind(begin, 0) == 0 ? trimmed(line.substr(begin.size())) : "";
}

/// The lines that the right text must have.
Edit::Place old_lines(const Edit::Place& place) {
    Edit::Place old;
    std::copy_if(
        place.begin(), place.end(), std::back_inserter(old), [](const EditLine& line) {
            return line.kind != '+';
        });
    return old;
}

/// Adds a place, without blank lines around it.
void add_place(Edit& edit, Edit::Place& place) {
    const auto is_blank = [](const EditLine& line) {
        return line.kind == ' ' && trimmed(line.text).empty();
    };
    while (!place.empty() && is_blank(place.back()))
        place.pop_back();
    place.erase(place.begin(), std::find_if_not(place.begin(), place.end(), is_blank));
    if (place.empty()) return;
    const size_t line = place.front().number;
    const Edit::Place old = old_lines(place);
    if (old.empty())
        fail(edit.path, line, "only new lines: a line before or after them says where");
    if (old.size() == place.size() &&
        std::all_of(
            old.begin(), old.end(), [](const EditLine& l) { return l.kind == ' '; }))
        fail(edit.path, line, "nothing is taken out or put in here");
    edit.places.push_back(place);
    place.clear();
}

/// How many of these lines stand in the text from line `at` on.
size_t matching_lines(const Edit::Place& old, const File& right, size_t at) {
    size_t count = 0;
    while (count < old.size() && at + count < right.lines.size() &&
           trimmed(right.lines[at + count]) == trimmed(old[count].text))
        ++count;
    return count;
}

/// The line, from 0, where a place begins in the right text.
size_t find_place(const Edit& edit, const Edit::Place& old, const File& right) {
    std::vector<size_t> found;
    size_t most = 0, nearest = 0;
    for (size_t at = 0; at < right.lines.size(); ++at) {
        const size_t count = matching_lines(old, right, at);
        if (count == old.size()) found.push_back(at);
        if (count > most) most = count, nearest = at;
    }
    const std::string name = right.path.string();
    if (found.size() == 1) return found.front();
    if (found.size() > 1) {
        fail(edit.path,
             old.front().number,
             "stands more than once in " + name + ", in lines " +
                 std::to_string(found[0] + 1) + " and " + std::to_string(found[1] + 1) +
                 ": one more line of what is around it says which is meant");
    }
    const EditLine& missing = old[most];
    const std::string wanted = "'" + trimmed(missing.text) + "'";
    if (most == 0)
        fail(edit.path, missing.number, wanted + " does not stand in " + name);
    fail(edit.path,
         missing.number,
         wanted + " does not follow in " + name + ", after line " +
             std::to_string(nearest + most));
}

}  // namespace

Edit parse_edit(const File& file) {
    Edit edit;
    edit.path = file.path;
    Edit::Place place;
    for (size_t i = 0; i < file.lines.size(); ++i) {
        std::string line = file.lines[i];
        if (!line.empty() && line.back() == '\r') line.pop_back();
        const char kind = line.empty() ? ' ' : line[0];
        if (kind == '#') {
            const std::string target = field(line, "Edits"), main = field(line, "Of");
            if (target.empty() && main.empty()) continue;
            if (!place.empty() || !edit.places.empty())
                fail(file.path, i + 1, "this line belongs before the first place");
            if (!main.empty()) edit.main = main;
            if (target.empty()) continue;
            edit.target = target;
            edit.target_line = i + 1;
        } else if (line.rfind("@@", 0) == 0) {
            add_place(edit, place);
        } else if (kind == '-' || kind == '+' || kind == ' ') {
            place.push_back({kind, line.empty() ? "" : line.substr(1), i + 1});
        } else {
            fail(file.path, i + 1, "a line begins with '-', '+', ' ', '#' or '@@'");
        }
    }
    add_place(edit, place);
    if (edit.places.empty()) fail(file.path, 1, "nothing is edited");
    return edit;
}

std::vector<EditLine> apply(const Edit& edit, const File& right) {
    // For each line of the right text, the place that begins there.
    std::vector<const Edit::Place*> begins(right.lines.size(), nullptr);
    std::vector<bool> taken(right.lines.size(), false);
    for (const Edit::Place& place : edit.places) {
        const Edit::Place old = old_lines(place);
        const size_t at = find_place(edit, old, right);
        for (size_t i = at; i < at + old.size(); ++i) {
            if (taken[i])
                fail(edit.path, old[i - at].number, "two places overlap in this line");
            taken[i] = true;
        }
        begins[at] = &place;
    }
    std::vector<EditLine> result;
    for (size_t i = 0; i < right.lines.size(); ++i) {
        if (!begins[i]) {
            result.push_back({' ', right.lines[i], i + 1});
            continue;
        }
        size_t old = i;
        for (const EditLine& line : *begins[i]) {
            if (line.kind == ' ') result.push_back({' ', right.lines[old], old + 1});
            if (line.kind == '+') result.push_back(line);
            if (line.kind != '+') ++old;
        }
        i = old - 1;
    }
    return result;
}

}  // namespace bundle
