// Linked into a learner's programs alone: these grade the contract's function.
#include <wb/implementations.h>

namespace {

[[maybe_unused]] const bool rungs_left_out = wb::leave_out_rungs();

}  // namespace
