/// told.h: exceptions as findings, and what the listener of Catch2's events need not
/// report a second time.
#pragma once

#include <wb/errors.h>
#include <wb/testing/verdict.h>

#include <atomic>

namespace wb::testing {

Finding finding_of(const NotSolved& unsolved);
Finding finding_of(const CudaError& error);

/// Set just before a FAIL() whose finding has been added already.
extern bool failure_is_told;

/// The simulator has told what went wrong in a kernel: the error that CUDA returns for
/// it needs no guess at its cause.
extern std::atomic<bool> fault_is_told;

}  // namespace wb::testing
