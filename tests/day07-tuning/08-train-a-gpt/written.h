// For cases about what is given: they come after what the learner writes.
#pragma once

#include <wb/device.h>
#include <wb/errors.h>
#include <wb/testing/catch.h>
#include <wb/testing/fail.h>

#include <exception>
#include <string>

#include "train_a_gpt.h"

namespace gpt_grading {

/// Ends the test case, which says where the TODO is, if nothing has been written yet.
inline void require_written() {
    try {
        gpt_gradients({}, nullptr);
    } catch (const wb::NotSolved& unsolved) {
        wb::testing::fail(unsolved);
    } catch (const wb::InvalidArgument&) {
        // It refuses that there is no plan.
    }
}

/// The call throws, and says why.
template <class Call>
void expect_error(const std::string& why, Call call) {
    std::string said = "(nothing was thrown)";
    try {
        call();
    } catch (const std::exception& error) {
        said = error.what();
    }
    CAPTURE(why, said);
    CHECK(said.find(why) != std::string::npos);
}

/// Whether this machine has the instructions of bf16_step.h.
inline bool runs_bf16() {
#if defined(SIMT_CPU)
    return true;
#else
    return wb::compute_capability() == 90;
#endif
}

}  // namespace gpt_grading
