# CTest's view of a Catch2 program: one CTest test for each test case, so that a learner
# sees the sentence that fails. wb_supervise runs it, and judges how it ended. Catch2's own
# discovery is not used: it needs a program that is built.
#
#   wb_add_tests(TARGET prefix labels [SOURCES file…] [LEARNER file] [FIXTURE name])
#                                        names "<prefix>.<test case>", of the cases in
#                                        these files, or TARGET's; LEARNER: what a
#                                        learner writes; FIXTURE: what builds TARGET
#   wb_leaves_verdict(name variable…)    tells another CTest test where to leave its
#                                        verdict (docs/verdict.md), and who supervises
#                                        the program; sets other environment variables
#   wb_built_first(name target… [LEARNER file])   the fixture built.<name>: builds these
#   wb_tests_need([target…])             all tests of this directory that require no
#                                        such fixture: build these targets first, or all
#                                        of its programs
#
# So that CTest alone grades, each test requires a fixture that builds what it runs: the
# test build.<name>. An up-to-date one costs next to nothing (scripts/build_first.py).
# `ctest -FA '^built[.]'` leaves them out, for who has just built everything.

set(WB_TEST_CASES ${CMAKE_CURRENT_LIST_DIR}/scripts/test_cases.cmake)
set(WB_CHECK_CASES ${CMAKE_CURRENT_LIST_DIR}/scripts/check_cases.cmake)
set(WB_BUILD_FIRST ${CMAKE_CURRENT_LIST_DIR}/scripts/build_first.py)
set(WB_TEST_TIMEOUT 120)
set(WB_VERDICTS ${CMAKE_BINARY_DIR}/verdicts)
file(MAKE_DIRECTORY ${WB_VERDICTS})

function(wb_leaves_verdict name)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${name}")
    set_tests_properties("${name}" PROPERTIES
        ENVIRONMENT "WB_VERDICT=${WB_VERDICTS}/${file}.json;\
WB_SUPERVISE=$<TARGET_FILE:wb_supervise>;${ARGN}")
endfunction()

function(wb_built_first name)
    cmake_parse_arguments(ARG "" "LEARNER" "" ${ARGN})
    set(learner)
    if(ARG_LEARNER)
        set(learner --learner ${ARG_LEARNER}
            --program $<TARGET_FILE:${ARG_UNPARSED_ARGUMENTS}>)
    endif()
    # Isolated from the surroundings, as ./learn starts it.
    add_test(NAME build.${name}
        COMMAND Python3::Interpreter -I -S -X pycache_prefix=.learn/pycache
            ${WB_BUILD_FIRST} ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR}
            wb_supervise ${ARG_UNPARSED_ARGUMENTS} ${learner}
        WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(build.${name} PROPERTIES
        LABELS build FIXTURES_SETUP built.${name} TIMEOUT 7200
        RESOURCE_LOCK "the build folder")
endfunction()

function(wb_tests_need)
    get_property(tests DIRECTORY PROPERTY TESTS)
    set(needed ${ARGN})
    if(NOT needed)
        get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
        foreach(target IN LISTS targets)
            get_target_property(type ${target} TYPE)
            if(type STREQUAL "EXECUTABLE")
                list(APPEND needed ${target})
            endif()
        endforeach()
    endif()
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    wb_built_first(${name} ${needed})
    foreach(test IN LISTS tests)
        get_property(required TEST "${test}" PROPERTY FIXTURES_REQUIRED)
        if(NOT required MATCHES "built[.]" AND NOT test MATCHES "^build[.]")
            set_property(TEST "${test}" APPEND PROPERTY FIXTURES_REQUIRED built.${name})
        endif()
    endforeach()
endfunction()

function(wb_add_tests target prefix labels)
    cmake_parse_arguments(ARG "SHORT" "LEARNER;FIXTURE" "SOURCES" ${ARGN})
    set(short "")
    if(ARG_SHORT)
        set(short " SHORT")
    endif()
    add_dependencies(${target} wb_supervise)
    if(NOT ARG_SOURCES)
        get_target_property(ARG_SOURCES ${target} SOURCES)
    endif()
    set(sources)
    foreach(source IN LISTS ARG_SOURCES)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
        list(APPEND sources ${source})
    endforeach()
    if(NOT ARG_FIXTURE)
        set(ARG_FIXTURE ${prefix})
        wb_built_first(${prefix} ${target} LEARNER ${ARG_LEARNER})
    endif()
    # With a learner's file a program may end before it can list anything.
    if(NOT ARG_LEARNER)
        add_custom_command(TARGET ${target} POST_BUILD
            COMMAND ${CMAKE_COMMAND} "-DSUPERVISE=$<TARGET_FILE:wb_supervise>"
                "-DPROGRAM=$<TARGET_FILE:${target}>" "-DSOURCES=${sources}"
                -P ${WB_CHECK_CASES}
            VERBATIM)
    endif()
    set(include_file ${CMAKE_CURRENT_BINARY_DIR}/ctest/${target}.cmake)
    file(GENERATE OUTPUT ${include_file} CONTENT
        "if(NOT COMMAND wb_program_tests)
    include(\"${WB_TEST_CASES}\")
endif()
wb_program_tests(\"$<TARGET_FILE:${target}>\" \"${sources}\" \"${labels}\"
    PREFIX \"${prefix}\" FIXTURE \"built.${ARG_FIXTURE}\"
    SUPERVISE \"$<TARGET_FILE:wb_supervise>\"
    VERDICTS \"${WB_VERDICTS}\" TIMEOUT ${WB_TEST_TIMEOUT}${short})\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
    # The same tests alone, ctest --test-dir build/sim/ctest/<target>: CTest reads the
    # sources of all tests before it runs one, which takes longer than most chapters do.
    file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/ctest/${target}/CTestTestfile.cmake
        CONTENT "include(\"${include_file}\")\n")
endfunction()
