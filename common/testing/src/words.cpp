// All that a learner reads of a finding. First one sentence that says what is wrong,
// then lines that explain it.
#include "words.h"

#include <wb/testing/compare.h>

#include <cmath>
#include <cstdio>
#include <sstream>

namespace wb::testing {

const char* const kCauseRace =
    "a race: the same launch gave another result when it was repeated; or a value that "
    "nobody has set";
const char* const kCauseNotZeroed =
    "it is added to what the array held before the launch: set that to zero first";
const char* const kCauseChangedInput =
    "input and output exchanged, or a store through the wrong pointer";

namespace {

using Lines = std::vector<std::string>;

std::string number(double value) {
    if (std::isnan(value)) return "nan";  // its sign says nothing
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// One decimal, but none if it is a whole number.
std::string ratio(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value);
    std::string result = text;
    if (result.ends_with(".0")) result.resize(result.size() - 2);
    return result;
}

std::string whole(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", value);
    return text;
}

/// "c[2, 17]"
std::string element(const std::string& array, const std::vector<std::int64_t>& index) {
    std::string text;
    for (const std::int64_t i : index)
        text += (text.empty() ? "" : ", ") + std::to_string(i);
    return array + "[" + text + "]";
}

Lines split(const std::string& text) {
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// ---- One sentence for each kind -------------------------------------------------

std::string damage(const Numbers& n) {
    const std::int64_t offset = n.offset.value_or(-1);
    if (offset < 0)
        return n.array + " was written before its beginning (a negative index)";
    return n.array + " was written " + std::to_string(offset) +
           " bytes past its end (an index that the guard should have stopped)";
}

std::string refusal(const Finding& f) {
    std::string instead = "nothing was thrown";
    if (f.detail == "other_words")
        instead =
            "the message does not say `" + f.numbers.wanted + "`: " + f.numbers.message;
    if (f.detail == "other_exception")
        instead = "another exception came: " + f.numbers.message;
    if (f.detail == "too_late")
        instead =
            "before that, something was put on a stream: check all arguments "
            "first";
    return "a wrong argument must throw wb::InvalidArgument, but " + instead;
}

std::string work_for_nothing(const Finding& f) {
    if (f.detail == "failed")
        return "zero-size work is legal, but this failed: " + f.numbers.message;
    return "zero-size work must launch nothing, but " +
           whole(f.numbers.measured.value_or(0)) +
           " operations were put onto the stream";
}

std::string goal(const Finding& f) {
    const Numbers& n = f.numbers;
    const double measured = n.measured.value_or(0);
    const double allowed = n.allowed.value_or(0);
    if (f.detail == "sectors")
        return "its " + n.array + " move " + ratio(measured) +
               " sectors of 32 bytes a request, " + ratio(allowed) + " would do";
    if (f.detail == "bank_conflicts")
        return "its " + n.array + " of shared memory take " + ratio(measured) +
               " passes where one would do (bank conflicts)";
    return "it takes " + whole(measured) + " atomic operations, at most " +
           whole(allowed) + " are wanted";
}

/// A launcher that was right the first time (called_again.cpp).
std::string called_again(const Finding& f) {
    std::string how = "called several times on the same numbers";
    if (f.detail == "again") how = "called a second time with the same buffers";
    if (f.detail == "other_contents")
        how = "called again after other numbers were in the same buffers";
    if (f.detail == "other_stream") how = "called again on another stream";
    if (f.detail == "other_thread") how = "called again from another host thread";
    if (f.detail == "queued")
        how = "called with work in front of it and behind it on its stream";
    if (f.detail == "same_result")
        return "called again with other numbers in the same buffers, the function "
               "gives "
               "the result of the first call in " +
               f.numbers.array;
    if (!f.numbers.message.empty())
        return how + ", the function fails: " + f.numbers.message;
    return how + ", the function gives another result: " + f.numbers.array +
           " is wrong in " + std::to_string(f.numbers.wrong.value_or(0)) + " of " +
           std::to_string(f.numbers.count.value_or(0)) + " elements";
}

std::string sentence(const Finding& f) {
    const Numbers& n = f.numbers;
    switch (f.kind) {
        case Kind::wrong_result:
            return n.array + " is wrong in " + std::to_string(n.wrong.value_or(0)) +
                   " of " + std::to_string(n.count.value_or(0)) +
                   " elements; the first is " + element(n.array, n.index);
        case Kind::damaged_memory:
            return damage(n);
        case Kind::changed_input:
            return "the input " + n.array +
                   (f.detail.empty() ? " was changed, first at "
                                     : " was written, first at ") +
                   element(n.array, n.index);
        case Kind::work_for_nothing:
            return work_for_nothing(f);
        case Kind::not_refused:
            return refusal(f);
        case Kind::launcher_threw:
            return "the launcher threw: " + n.message;
        case Kind::contract:
            return called_again(f);
        case Kind::goal_missed:
            return goal(f);
        case Kind::time_limit:
            return "did not end within " + whole(n.measured.value_or(0)) + " seconds";
        default:
            return n.message;
    }
}

/// "written at flash.cu:53, in kernel scale"
std::string writer(const Place& place) {
    const std::string file = place.file.substr(place.file.rfind('/') + 1);
    return "written at " + file + ":" + std::to_string(place.line) +
           (place.kernel.empty() ? ", by the host" : ", in kernel " + place.kernel);
}

/// What stands below the sentence.
Lines explanation(const Finding& f) {
    Lines lines;
    const Numbers& n = f.numbers;
    if (f.kind == Kind::wrong_result && n.expected) {
        lines.push_back("expected " + number(*n.expected) + ", got " +
                        (n.untouched ? "nothing: the element was never written"
                                     : number(n.got.value_or(0))));
        lines.push_back("worst error " + number(n.worst_error.value_or(0)) + " at " +
                        element(n.array, n.worst_index) + ", where " +
                        number(n.bound.value_or(0)) + " is allowed");
    }
    if (f.kind == Kind::contract && n.expected)
        lines.push_back(element(n.array, n.index) + " should be " +
                        number(*n.expected) + ", " +
                        (n.untouched ? "but nothing is written there"
                                     : "and is " + number(n.got.value_or(0))));
    if (f.kind == Kind::changed_input && !f.places.empty())
        lines.push_back(writer(f.places.front()));
    if (f.kind == Kind::changed_input && f.detail == "put_back")
        lines.push_back(
            "its values are the old ones when the call ends, but others may "
            "read it meanwhile");
    for (const std::string& fact : f.seen)
        lines.push_back(fact);
    for (const std::string& line : split(f.advice))
        lines.push_back(line);
    // More than one would be read as a list of what is wrong.
    if (!f.causes.empty()) lines.push_back("likely cause: " + f.causes.front());
    return lines;
}

}  // namespace

void put_into_words(Finding& f) {
    if (f.what.empty()) f.what = sentence(f);
    f.text.clear();
    if (f.kind == Kind::unsolved || f.kind == Kind::time_limit) {
        f.text = {f.what};
        return;
    }
    if (f.kind == Kind::goal_missed) {
        f.text = {"performance goal: " + f.implementation + ": " + f.what};
        return;
    }
    Lines lines = split(f.what);
    const Lines below = explanation(f);
    if (!f.inputs.empty())
        lines.insert(lines.begin(), f.implementation + ", " + f.inputs);
    lines.insert(lines.end(), below.begin(), below.end());
    for (const std::string& line : lines)
        f.text.push_back((f.text.empty() ? "" : "  ") + line);
}

std::string cause_of_error(cudaError_t code) {
    switch (code) {
        case cudaErrorInvalidConfiguration:
            return "a grid of zero blocks or of more than 65535 in y or z, or more "
                   "than "
                   "1024 threads in a block";
        case cudaErrorIllegalAddress:
            return "an index outside an array (is the guard there?), or a host pointer "
                   "given to a kernel";
        case cudaErrorMisalignedAddress:
            return "a vector load (float4) from an address that is not a multiple of "
                   "its size";
        case cudaErrorLaunchTimeout:
            return "a loop that never ends, or threads that wait for something that "
                   "nobody will do";
        case cudaErrorInvalidValue:
            return "a grid of zero blocks or of more than 65535 in y or z, more than "
                   "1024 "
                   "threads in a block, too much shared memory, or a wrong pointer or "
                   "size in a CUDA call";
        default:
            return "";
    }
}

Finding finding_of(const FailedCheck& check) {
    Finding f;
    f.kind = Kind::check_failed;
    f.places = {{"check", check.file, check.line}};
    f.numbers.message = check.message;
    for (std::string message : check.messages) {
        if (message.starts_with("wb| ")) message.erase(0, 4);
        f.text.push_back(message);
    }
    if (!check.message.empty()) f.text.push_back(check.message);
    if (!check.expression.empty()) f.text.push_back("  " + check.expression);
    if (!check.expansion.empty() && check.expansion != check.expression)
        f.text.push_back("  " + check.expansion);
    // What a test says of itself is better than an expression in C++.
    f.what = f.text.empty() ? "a check failed" : f.text.front();
    f.what.erase(0, f.what.find_first_not_of(' '));
    return f;
}

}  // namespace wb::testing
