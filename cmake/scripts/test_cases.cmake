# The test cases of a Catch2 program, read from its sources: CTest and an IDE can list
# them before anything is built.
#
#   wb_read_cases(source…)   sets `names` and `serial`: those tagged [serial], which
#                            measure what all programs share, such as the GPU's memory;
#                            `long`: those tagged [long] or [large]; and `large`
#
# In these lists stand names as Catch2 knows them. Hidden cases ([.]) are left out: goals
# in counters, which only checked programs can judge. A TEST_CASE begins its line; one
# that a macro makes, or that #if leaves out, would not be seen: the build compares the
# lists with what each program says (check_cases.cmake).
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(wb_read_cases)
    # Brackets and semicolons mean something in a CMake list.
    string(ASCII 1 opens)
    string(ASCII 2 closes)
    string(ASCII 3 semicolon)
    set(literal "\"([^\"\\]|\\\\.)*\"")
    set(names)
    set(serial)
    set(long)
    set(large)
    foreach(source ${ARGN})
        file(READ ${source} text)
        string(REPLACE "[" ${opens} text "${text}")
        string(REPLACE "]" ${closes} text "${text}")
        string(REPLACE ";" ${semicolon} text "${text}")
        string(REGEX MATCHALL
            "\nTEST_CASE\\([ \n]*(${literal}[ \n]*)+(,[ \n]*(${literal}[ \n]*)+)?[)]"
            found "${text}")
        foreach(case IN LISTS found)
            # "one, " "two" is one literal.
            string(REGEX REPLACE "\"[ \n]+\"" "" case "${case}")
            string(REGEX MATCHALL "${literal}" literals "${case}")
            list(POP_FRONT literals name)
            string(REGEX REPLACE "^\"(.*)\"$" "\\1" name "${name}")
            string(REGEX REPLACE "\\\\(.)" "\\1" name "${name}")
            if(name MATCHES "[${opens}${closes}${semicolon}]")
                message(FATAL_ERROR
                    "${source}: a test case's name has a bracket or a semicolon: ${name}")
            endif()
            if(literals MATCHES "${opens}[.]")
                continue()
            endif()
            list(APPEND names "${name}")
            if(literals MATCHES "${opens}serial${closes}")
                list(APPEND serial "${name}")
            endif()
            if(literals MATCHES "${opens}(long|large)${closes}")
                list(APPEND long "${name}")
            endif()
            if(literals MATCHES "${opens}large${closes}")
                list(APPEND large "${name}")
            endif()
        endforeach()
    endforeach()
    set(names "${names}" PARENT_SCOPE)
    set(serial "${serial}" PARENT_SCOPE)
    set(long "${long}" PARENT_SCOPE)
    set(large "${large}" PARENT_SCOPE)
endfunction()

# For CTest: a test for each case of a program, <prefix>.<case>. Each leaves its verdict
# in VERDICTS/<name>.json (docs/verdict.md). If WB_CASES_TOGETHER names this build's
# folder, one test, <prefix>, runs all cases of the program but the [serial] ones: on a
# GPU each process costs the driver a quarter of a second, in which no other begins.
#
#   wb_program_tests(program sources labels FIXTURE fixture PREFIX prefix
#                    SUPERVISE program VERDICTS folder TIMEOUT seconds [SHORT])
#
# SHORT leaves out the cases tagged [long] or [large].
#
# env stands before the supervisor because CTest says of a test whose program is not
# built yet, even in a list, where it has looked for it.
function(wb_program_tests program sources labels)
    cmake_parse_arguments(ARG "SHORT" "FIXTURE;PREFIX;SUPERVISE;VERDICTS;TIMEOUT" "" ${ARGN})
    wb_read_cases(${sources})
    if(ARG_SHORT AND long)
        list(REMOVE_ITEM names ${long})
        list(REMOVE_ITEM serial ${long})
    endif()
    # Where ./learn has set a limit, the program keeps it by itself (time_limit.h), and
    # CTest comes second, with time enough for a machine that has other work.
    if(DEFINED ENV{WB_TIME_LIMIT})
        math(EXPR ARG_TIMEOUT "10 * $ENV{WB_TIME_LIMIT} + 10")
    endif()
    if("$ENV{WB_CASES_TOGETHER}/verdicts" STREQUAL ARG_VERDICTS
        AND NOT names STREQUAL serial)
        math(EXPR limit "3 * ${ARG_TIMEOUT}")
        add_test("${ARG_PREFIX}" /usr/bin/env ${ARG_SUPERVISE} ${program}
            "~[serial]~[.]" --reporter compact)
        set_tests_properties("${ARG_PREFIX}" PROPERTIES
            LABELS "${labels}" TIMEOUT ${limit} SKIP_RETURN_CODE 4
            FIXTURES_REQUIRED "${ARG_FIXTURE}"
            ENVIRONMENT "WB_VERDICT=${ARG_VERDICTS}/${ARG_PREFIX}.json")
        set(names "${serial}")
    endif()
    foreach(name IN LISTS names)
        set(test "${ARG_PREFIX}.${name}")
        # A comma separates test specs for Catch2.
        string(REPLACE "\\" "\\\\" spec "${name}")
        string(REPLACE "," "\\," spec "${spec}")
        string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${test}")
        set(alone FALSE)
        if(name IN_LIST serial)
            set(alone TRUE)
        endif()
        add_test("${test}" /usr/bin/env ${ARG_SUPERVISE} ${program} "${spec}" --abort
            --reporter compact)
        set_tests_properties("${test}" PROPERTIES
            LABELS "${labels}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 4
            FIXTURES_REQUIRED "${ARG_FIXTURE}" RUN_SERIAL ${alone}
            ENVIRONMENT "WB_VERDICT=${ARG_VERDICTS}/${file}.json")
    endforeach()
endfunction()

cmake_policy(POP)
