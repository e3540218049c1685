// For cases about what is given: they come after what the learner writes.
#pragma once

#include <wb/errors.h>
#include <wb/testing/fail.h>

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

}  // namespace gpt_grading
