# Writes CTest's list of the test cases of one program.
#   cmake -DSUPERVISE= -DPROGRAM= -DPREFIX= -DLABELS= -DTIMEOUT= -DVERDICTS= -DOUTPUT=
#         -P discover_tests.cmake
#
# Each leaves its verdict in VERDICTS/<name>.json (docs/verdict.md). A program that ends
# before it can list its test cases has a single one, which runs all and says so.
execute_process(COMMAND ${SUPERVISE} ${PROGRAM} --wb-list
    OUTPUT_VARIABLE names RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR names STREQUAL "")
    set(all "${PREFIX}.all test cases")
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${all}")
    file(WRITE ${OUTPUT}
        "add_test([==[${all}]==] [==[${SUPERVISE}]==] [==[${PROGRAM}]==])\n"
        "set_tests_properties([==[${all}]==] PROPERTIES"
        " LABELS [==[${LABELS}]==] TIMEOUT ${TIMEOUT}"
        " ENVIRONMENT [==[WB_VERDICT=${VERDICTS}/${file}.json]==])\n")
    return()
endif()
# A [ hides the separators of a CMake list: all names behind it would become one test.
if(names MATCHES "[][;]")
    message(FATAL_ERROR "${PROGRAM}: a test case's name contains a bracket or a semicolon")
endif()
string(REGEX MATCHALL "[^\n]+" names "${names}")
# Those that measure what all programs share, such as the GPU's memory.
execute_process(COMMAND ${SUPERVISE} ${PROGRAM} --wb-list-serial
    OUTPUT_VARIABLE serial)
string(REGEX MATCHALL "[^\n]+" serial "${serial}")
# Where ./learn has set a limit, the program keeps it by itself (time_limit.h), and CTest
# comes second.
set(lines "set(limit ${TIMEOUT})
if(DEFINED ENV{WB_TIME_LIMIT})
    math(EXPR limit \"3 * \$ENV{WB_TIME_LIMIT} + 10\")
endif()
")
set(files "")
foreach(name IN LISTS names)
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${PREFIX}.${name}")
    list(FIND files "${file}" index)
    if(NOT index EQUAL -1)
        message(FATAL_ERROR "${PROGRAM}: '${name}' differs from another test case in "
            "punctuation only, and so their verdicts would be one file: ${file}.json")
    endif()
    list(APPEND files "${file}")
    # A comma separates test specs for Catch2.
    string(REPLACE "\\" "\\\\" spec "${name}")
    string(REPLACE "," "\\," spec "${spec}")
    set(alone "")
    list(FIND serial "${name}" index)
    if(NOT index EQUAL -1)
        set(alone " RUN_SERIAL TRUE")
    endif()
    string(APPEND lines
        "add_test([==[${PREFIX}.${name}]==] [==[${SUPERVISE}]==]"
        " [==[${PROGRAM}]==] [==[${spec}]==] --abort)\n"
        "set_tests_properties([==[${PREFIX}.${name}]==] PROPERTIES"
        " LABELS [==[${LABELS}]==] TIMEOUT \${limit} SKIP_RETURN_CODE 4"
        " ENVIRONMENT [==[WB_VERDICT=${VERDICTS}/${file}.json]==]"
        "${alone})\n")
endforeach()
file(WRITE ${OUTPUT} "${lines}")
