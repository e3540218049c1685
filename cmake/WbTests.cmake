# CTest's view of a Catch2 program: one CTest test for each test case, so that a learner
# sees the sentence that fails. wb_supervise runs it, and judges how it ended. Catch2's own
# discovery is not used: version 2.13 breaks labels with several values, and its name
# differs between versions 2 and 3.
#
#   wb_add_tests(TARGET prefix labels)   names "<prefix>.<test case>"
#   wb_leaves_verdict(name variable…)    tells another CTest test where to leave its
#                                        verdict (docs/verdict.md), and who supervises
#                                        the program; sets other environment variables

set(WB_DISCOVER ${CMAKE_CURRENT_LIST_DIR}/scripts/discover_tests.cmake)
set(WB_TEST_TIMEOUT 120)
set(WB_VERDICTS ${CMAKE_BINARY_DIR}/verdicts)
file(MAKE_DIRECTORY ${WB_VERDICTS})

function(wb_leaves_verdict name)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${name}")
    set_tests_properties("${name}" PROPERTIES
        ENVIRONMENT "WB_VERDICT=${WB_VERDICTS}/${file}.json;\
WB_SUPERVISE=$<TARGET_FILE:wb_supervise>;${ARGN}")
endfunction()

function(wb_add_tests target prefix labels)
    add_dependencies(${target} wb_supervise)
    set(list_file ${CMAKE_CURRENT_BINARY_DIR}/ctest/${target}.cmake)
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_COMMAND}
            "-DSUPERVISE=$<TARGET_FILE:wb_supervise>"
            "-DPROGRAM=$<TARGET_FILE:${target}>" "-DPREFIX=${prefix}"
            "-DLABELS=${labels}" "-DTIMEOUT=${WB_TEST_TIMEOUT}" "-DOUTPUT=${list_file}"
            "-DVERDICTS=${WB_VERDICTS}"
            -P ${WB_DISCOVER}
        VERBATIM)
    # A program that does not compile has no list: one test says so, and fails.
    set(include_file ${CMAKE_CURRENT_BINARY_DIR}/ctest/${target}_include.cmake)
    file(CONFIGURE OUTPUT ${include_file} @ONLY CONTENT [=[
if(EXISTS "@list_file@")
    include("@list_file@")
else()
    add_test([==[@prefix@.NOT_BUILT]==] @target@_NOT_BUILT)
    set_tests_properties([==[@prefix@.NOT_BUILT]==] PROPERTIES
        LABELS [==[@labels@]==])
endif()
]=])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
endfunction()
