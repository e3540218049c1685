# Fails if a program has other test cases than its sources seem to have, or two whose
# verdicts would be one file.
#   cmake -DSUPERVISE= -DPROGRAM= -DSOURCES= -P check_cases.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/test_cases.cmake)
wb_read_cases(${SOURCES})
# compare(flag name…): with what the program says.
function(compare flag)
    execute_process(COMMAND ${SUPERVISE} ${PROGRAM} ${flag}
        OUTPUT_VARIABLE said RESULT_VARIABLE status)
    string(REGEX MATCHALL "[^\n]+" said "${said}")
    set(only_said ${said})
    set(only_read ${ARGN})
    list(REMOVE_ITEM only_said ${ARGN})
    list(REMOVE_ITEM only_read ${said})
    if(NOT status EQUAL 0 OR only_said OR only_read)
        list(JOIN only_said "\n  " only_said)
        list(JOIN only_read "\n  " only_read)
        message(FATAL_ERROR "${PROGRAM} ${flag} (status ${status}) does not say what "
            "its sources do.\nOnly the program has\n  ${only_said}\n"
            "Only the sources have\n  ${only_read}")
    endif()
endfunction()
compare(--wb-list ${names})
compare(--wb-list-serial ${serial})
set(files)
foreach(name IN LISTS names)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${name}")
    if(file IN_LIST files)
        message(FATAL_ERROR "${PROGRAM}: '${name}' differs from another test case in "
            "punctuation only, and so their verdicts would be one file: ${file}.json")
    endif()
    list(APPEND files "${file}")
endforeach()
