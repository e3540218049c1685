# Passes if one test case ends with the exit status and leaves the verdict, and if the
# terminal is told the same.
#   cmake -DPROGRAM= -DCASE= -DSTATUS=failure|4|early -DVERDICT= [-DKIND=]
#         [-DCOUNT=] [-DCHECKED=] ["-DFIELDS=name=value;…"] ["-DPARTS=regex;…"]
#         -P expect_report.cmake
#
# COUNT is the number of findings, CHECKED whether the program is checked; KIND is that of
# the last finding, FIELDS are members of it ("numbers.array=y"); PARTS must stand in what
# is printed.
include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/scripts/verdict.cmake)
if(DEFINED ENV{REMOVE_FIRST})
    file(REMOVE "$ENV{REMOVE_FIRST}")  # what an earlier run has left behind
endif()
wb_run_for_verdict(${PROGRAM} ${CASE} --abort)
set(ended ON)
if(STATUS STREQUAL "failure")
    # A number: a signal's name would mean that the program crashed.
    if(NOT status MATCHES "^[1-9][0-9]*$")
        message(FATAL_ERROR "expected a failing test, but the program ended: ${status}")
    endif()
elseif(STATUS STREQUAL "early")
    set(ended OFF)
    if(status EQUAL 0)
        message(FATAL_ERROR "the program ended before its tests, and passes")
    endif()
elseif(NOT status STREQUAL STATUS)
    message(FATAL_ERROR "expected exit code ${STATUS}, got ${status}")
endif()

function(expect what wanted)
    wb_verdict(got ${ARGN})
    if(NOT "${got}" STREQUAL "${wanted}")
        message(SEND_ERROR "${what} is '${got}', expected '${wanted}'; ${verdict}")
    endif()
endfunction()

expect("format" "warpbook verdict 1" format)
expect("ended" ${ended} ended)
expect("the case" "${CASE}" cases 0 name)
expect("its verdict" "${VERDICT}" cases 0 verdict)
wb_verdict_length(count cases 0 findings)
if(DEFINED COUNT AND NOT count EQUAL COUNT)
    message(SEND_ERROR "${count} findings, expected ${COUNT}; ${verdict}")
endif()
if(DEFINED CHECKED)
    expect("checked" ${CHECKED} checked)
endif()
if(NOT "${KIND}" STREQUAL "")
    math(EXPR last "${count} - 1")
    expect("the kind" "${KIND}" cases 0 findings ${last} kind)
    foreach(field IN LISTS FIELDS)
        string(REGEX MATCH "^([^=]*)=(.*)$" matched "${field}")
        string(REPLACE "." ";" path "${CMAKE_MATCH_1}")
        expect("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" cases 0 findings ${last} ${path})
    endforeach()
    # The terminal's words are the finding's.
    wb_verdict_length(lines cases 0 findings ${last} text)
    if(lines EQUAL 0)
        message(SEND_ERROR "the finding has no words")
    endif()
    wb_verdict(line cases 0 findings ${last} text 0)
    string(FIND "${output}" "${line}" place)
    if(place EQUAL -1)
        message(SEND_ERROR "not printed: ${line}")
    endif()
elseif(NOT count EQUAL 0)
    message(SEND_ERROR "expected no finding, but there are ${count}")
endif()
foreach(part IN LISTS PARTS)
    if(NOT output MATCHES "${part}")
        message(SEND_ERROR "the report does not say: ${part}")
    endif()
endforeach()
