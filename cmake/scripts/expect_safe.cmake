# Passes if the checker finds nothing in the tests of a solution.
#   cmake -DPROGRAM= [-DCOUNT=1] -DCASES= -P expect_safe.cmake
#
# COUNT=1 counts accesses, too: for goals. It takes longer.
if(NOT COUNT)
    set(ENV{SIMT_CHECK_COUNT} 0)
endif()
set(ENV{SIMT_CHECK_TABLE} 0)
execute_process(COMMAND ${PROGRAM} ${CASES} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "the checked tests ended with ${status}; 86: see the reports")
endif()
