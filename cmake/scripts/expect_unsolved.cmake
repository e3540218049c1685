# Passes if every test case of an untouched starter is "unsolved", and says where.
#   cmake -DPROGRAM= [-DFAST=ON -DSOURCE=] -P expect_unsolved.cmake
#
# FAST: it is that of the second stage. Cases of functions that are given there have the
# tag [first], and pass. SOURCE: its solution; see expect_right.cmake for "// Only the
# short test cases".
#
# The program runs once: to start one for each case costs minutes on a busy GPU.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)
set(cases)
if(FAST)
    file(STRINGS ${SOURCE} short REGEX "^// Only the short test cases")
    if(short)
        set(cases ~[long]~[.])
    endif()
endif()
execute_process(COMMAND ${PROGRAM} --wb-list ${cases} OUTPUT_VARIABLE names)
string(REGEX MATCHALL "[^\n]+" names "${names}")
list(LENGTH names count)
if(count EQUAL 0)
    message(FATAL_ERROR "the program has no test cases")
endif()
set(given)
if(FAST)
    execute_process(COMMAND ${PROGRAM} --wb-list [first] OUTPUT_VARIABLE given)
    string(REGEX MATCHALL "[^\n]+" given "${given}")
endif()
set(QUIET ON)  # it fails, in each case
wb_run_for_verdict(${PROGRAM} ${cases})
wb_verdict(ended ended)
if(NOT ended)
    message(FATAL_ERROR "the program did not come to its end (status ${status})")
endif()
wb_verdict_length(ran cases)
if(NOT ran EQUAL count)
    message(FATAL_ERROR "${ran} of ${count} test cases ran (status ${status})")
endif()
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
    wb_verdict(name cases ${i} name)
    wb_verdict(outcome cases ${i} verdict)
    if(name IN_LIST given AND outcome STREQUAL "passed")
        continue()
    endif()
    if(NOT outcome STREQUAL "unsolved")
        message(FATAL_ERROR "'${name}' is '${outcome}', although nothing is written:\n"
            "${output}")
    endif()
    wb_verdict(role cases ${i} findings 0 places 0 role)
    wb_verdict(file cases ${i} findings 0 places 0 file)
    wb_verdict(line cases ${i} findings 0 places 0 line)
    if(NOT role STREQUAL "todo" OR NOT file MATCHES "[.]cu$" OR NOT line GREATER 0)
        message(FATAL_ERROR "'${name}' does not say where to write")
    endif()
endforeach()
list(LENGTH given count_given)
message("All ${count} test cases say where the TODO is, but ${count_given} of what is "
    "given.")
