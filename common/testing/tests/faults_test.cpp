// What the simulator and its checker find belongs to the verdict of the test program.
// expect_report.cmake runs one test case at a time; each passes, whatever is found.
#include "faults.h"

#include <wb/testing/catch.h>

using namespace wb::testing;

#define FAULT(kind)    \
    TEST_CASE(#kind) { \
        make_##kind(); \
        SUCCEED();     \
    }

FAULT(none)
FAULT(race)
FAULT(out_of_bounds)
FAULT(use_after_free)
FAULT(uninitialised)
FAULT(misaligned)
FAULT(host_pointer)
FAULT(device_pointer_on_host)
FAULT(divergent_barrier)
FAULT(missing_lanes)
FAULT(deadlock)
FAULT(hang)
FAULT(refused_launch)
FAULT(assertion)
FAULT(fault)

#undef FAULT
