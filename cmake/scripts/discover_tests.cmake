# Writes CTest's list of the test cases of one program.
#   cmake -DPROGRAM= -DPREFIX= -DLABELS= -DTIMEOUT= -DOUTPUT= -P discover_tests.cmake
execute_process(COMMAND ${PROGRAM} --wb-list
    OUTPUT_VARIABLE names RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} could not list its test cases (${status})")
endif()
# A [ hides the separators of a CMake list: all names behind it would become one test.
if(names MATCHES "[][;]")
    message(FATAL_ERROR "${PROGRAM}: a test case's name contains a bracket or a semicolon")
endif()
string(REGEX MATCHALL "[^\n]+" names "${names}")
# Those that measure what all programs share, such as the GPU's memory.
execute_process(COMMAND ${PROGRAM} --wb-list-serial OUTPUT_VARIABLE serial)
string(REGEX MATCHALL "[^\n]+" serial "${serial}")
# Where ./learn has set a limit, the program keeps it by itself (case_watch.h), and CTest
# comes second.
set(lines "set(limit ${TIMEOUT})
if(DEFINED ENV{WB_TIME_LIMIT})
    math(EXPR limit \"3 * \$ENV{WB_TIME_LIMIT} + 10\")
endif()
")
foreach(name IN LISTS names)
    # A comma separates test specs for Catch2.
    string(REPLACE "\\" "\\\\" spec "${name}")
    string(REPLACE "," "\\," spec "${spec}")
    set(alone "")
    list(FIND serial "${name}" index)
    if(NOT index EQUAL -1)
        set(alone " RUN_SERIAL TRUE")
    endif()
    string(APPEND lines
        "add_test([==[${PREFIX}.${name}]==] [==[${PROGRAM}]==] [==[${spec}]==] --abort)\n"
        "set_tests_properties([==[${PREFIX}.${name}]==] PROPERTIES"
        " LABELS [==[${LABELS}]==] TIMEOUT \${limit} SKIP_RETURN_CODE 4"
        "${alone})\n")
endforeach()
file(WRITE ${OUTPUT} "${lines}")
