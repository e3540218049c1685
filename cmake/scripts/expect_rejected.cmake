# Passes if the tests reject a known-wrong kernel, in the test case that its source
# names in a line "# Rejected by: <test case>" ("//" in a .cu file), with a report for
# the learner.
#   cmake -DPROGRAM= -DSOURCE= -P expect_rejected.cmake
file(STRINGS ${SOURCE} named REGEX "^(#|//) Rejected by: ")
if(NOT named)
    message(FATAL_ERROR "${SOURCE} has no line 'Rejected by: <test case>'")
endif()
list(GET named 0 named)
string(REGEX REPLACE "^(#|//) Rejected by: " "" name "${named}")
string(REPLACE "," "\\," spec "${name}")
execute_process(COMMAND ${PROGRAM} ${spec} --abort
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
message("${output}")
if(status EQUAL 0)
    message(FATAL_ERROR "this wrong kernel passes '${name}'")
endif()
if(NOT output MATCHES "wb[|] ")
    message(FATAL_ERROR "rejected, but without a report (status ${status})")
endif()
if(output MATCHES "WB_WRONG_KERNEL names no")
    message(FATAL_ERROR "the program does not hold this wrong kernel")
endif()
if(output MATCHES "wb[|] not solved yet")
    message(FATAL_ERROR "rejected only because it is not written")
endif()
if(output MATCHES "wb[|] +the launcher threw: this mutant ")
    message(FATAL_ERROR "rejected only because it lacks what the test case asks for")
endif()
