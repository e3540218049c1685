# Passes if the tests accept the right text that known-wrong kernels are edits of. Test
# cases that cannot run here, for lack of memory, may be skipped; those with [large] or
# [serial] run for the solution alone, one after the other.
#   cmake -DPROGRAM= -DSOURCE= -P expect_right.cmake
#
# Where the text begins a line with "// Only the test cases that reject its edits", it
# leaves out what is expensive to compile, and only those cases are run.
#
# Of a second stage, those with [long] are left out if the ladder includes it, or if it
# has a line "// Only the short test cases": there they run for the ladder.
include(${CMAKE_CURRENT_LIST_DIR}/verdict.cmake)
get_filename_component(folder ${SOURCE} DIRECTORY)
file(STRINGS ${SOURCE} partial REGEX "^// Only the test cases that reject its edits")
set(cases ~[large]~[serial]~[goal])  # [goal] is hidden; a filter would take it
string(REGEX REPLACE "_fast[.]cu$" ".cu" ladder ${SOURCE})
get_filename_component(stage ${SOURCE} NAME)
file(STRINGS ${SOURCE} short REGEX "^// Only the short test cases")
if(NOT ladder STREQUAL SOURCE AND EXISTS ${ladder})
    file(STRINGS ${ladder} included REGEX "^#include \"${stage}\"")
endif()
if(short OR included)
    string(APPEND cases ~[long])
endif()
if(partial)
    set(cases)
    file(GLOB edits ${folder}/*.diff ${folder}/orders/*.diff ${folder}/sim/*.diff)
    foreach(edit ${edits})
        file(STRINGS ${edit} named REGEX "^# Rejected by: ")
        string(REGEX REPLACE "^# Rejected by: " "" name "${named}")
        string(REPLACE "," "\\," name "${name}")
        list(APPEND cases "${name}")
    endforeach()
    list(REMOVE_DUPLICATES cases)
    list(JOIN cases "," cases)
endif()
wb_run_or_recall(${PROGRAM} ${cases})
if(is_task)
    return()
endif()
wb_expect_passed()
