/// words.h: findings in the words that a learner reads. They are made here and nowhere
/// else; nobody reads them back.
#pragma once

#include <wb/testing/verdict.h>

#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace wb::testing {

/// Fills in `what`, where it is empty, and `text` from the fields that hold data.
void put_into_words(Finding& finding);

/// What an error code of CUDA's usually means for a beginner's kernel; "" if nobody
/// knows.
std::string cause_of_error(cudaError_t code);

/// Why an output differs from run to run, is right only on zeros, and why an input was
/// changed.
extern const char* const kCauseRace;
extern const char* const kCauseNotZeroed;
extern const char* const kCauseChangedInput;

/// What Catch2 knows of a check that failed.
struct FailedCheck {
    std::string expression;             ///< "CHECK( a == b )", or ""
    std::string expansion;              ///< "1 == 2", or ""
    std::string message;                ///< of FAIL(), of an exception
    std::vector<std::string> messages;  ///< of INFO(), perhaps behind "wb| "
    std::string file;
    int line = 0;
};
Finding finding_of(const FailedCheck& check);

}  // namespace wb::testing
