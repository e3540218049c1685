# Passes if the tests accept the right text that known-wrong kernels are edits of, or a
# second stage. Test cases that cannot run here, for lack of memory, may be skipped;
# those with [large] or [serial] run for the solution alone, one after the other.
#   cmake -DPROGRAM= -DSOURCE= -P expect_right.cmake
#
# Of the cases with [long], those run for the right text that reject an edit of it; the
# others run for the solution. Where the text begins a line with "// Only the test cases
# that reject its edits", it leaves out what is expensive to compile, and only those
# cases are run.
#
# Of a second stage, those with [long] are left out if the ladder includes it, or if it
# has a line "// Only the short test cases": there they run for the ladder.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/test_cases.cmake)
get_filename_component(folder ${SOURCE} DIRECTORY)
get_filename_component(stage ${SOURCE} NAME)
file(STRINGS ${SOURCE} partial REGEX "^// Only the test cases that reject its edits")
file(STRINGS ${SOURCE} short REGEX "^// Only the short test cases")
string(REGEX REPLACE "_fast[.]cu$" ".cu" ladder ${SOURCE})
if(NOT ladder STREQUAL SOURCE AND EXISTS ${ladder})
    file(STRINGS ${ladder} included REGEX "^#include \"${stage}\"")
endif()

# The cases that reject an edit, as Catch2 takes them.
set(rejecting)
file(GLOB edits ${folder}/*.diff ${folder}/orders/*.diff ${folder}/sim/*.diff)
foreach(edit ${edits})
    file(STRINGS ${edit} named REGEX "^# Rejected by: ")
    string(REGEX REPLACE "^# Rejected by: " "" name "${named}")
    list(APPEND rejecting "${name}")
endforeach()
list(REMOVE_DUPLICATES rejecting)

set(cases ~[large]~[serial]~[goal])  # [goal] is hidden; a filter would take it
if(short OR included OR edits)
    string(APPEND cases ~[long])
endif()
if(partial)
    set(cases ${rejecting})
elseif(edits)
    file(GLOB sources ${folder}/../*_test.cpp)
    wb_read_cases(${sources})
    foreach(name IN LISTS rejecting)
        if(name IN_LIST long AND NOT name IN_LIST large AND NOT name IN_LIST serial)
            list(APPEND cases "${name}")
        endif()
    endforeach()
endif()
list(TRANSFORM cases REPLACE "," "\\\\,")
list(JOIN cases "," cases)
wb_run_or_recall(${PROGRAM} ${cases})
if(is_task)
    return()
endif()
wb_expect_passed()
