# Passes if one test case ends with the exit code and prints every part of a report.
#   cmake -DPROGRAM= -DCASE= -DSTATUS=failure|4 "-DPARTS=regex;…" -P expect_report.cmake
if(DEFINED ENV{REMOVE_FIRST})
    file(REMOVE "$ENV{REMOVE_FIRST}")  # what an earlier run has left behind
endif()
execute_process(COMMAND ${PROGRAM} ${CASE} --abort
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
message("${output}")
if(STATUS STREQUAL "failure")
    # A number: a signal's name would mean that the program crashed.
    if(NOT status MATCHES "^[1-9][0-9]*$")
        message(FATAL_ERROR "expected a failing test, but the program ended: ${status}")
    endif()
elseif(NOT status STREQUAL STATUS)
    message(FATAL_ERROR "expected exit code ${STATUS}, got ${status}")
endif()
foreach(part IN LISTS PARTS)
    if(NOT output MATCHES "${part}")
        message(FATAL_ERROR "the report does not say: ${part}")
    endif()
endforeach()
