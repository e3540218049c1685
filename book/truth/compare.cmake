# Passes if a program prints the committed file; with UPDATE=1, writes that file.
#   cmake -DPROGRAM= -DCOMMITTED= -DACTUAL= [-DUPDATE=1] -P compare.cmake
#
# ACTUAL is where the output goes first: a program that fails leaves the file alone.

# The table is for learners who run a checked program; here it would be noise.
set(ENV{SIMT_CHECK_TABLE} 0)
execute_process(COMMAND ${PROGRAM} OUTPUT_FILE ${ACTUAL} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
file(SIZE ${ACTUAL} size)
if(size EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} printed nothing")
endif()
if(UPDATE)
    file(COPY_FILE ${ACTUAL} ${COMMITTED})
    return()
endif()
if(NOT EXISTS ${COMMITTED})
    message(FATAL_ERROR
        "${COMMITTED} is missing: build the target truth_update, and commit the file")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${ACTUAL} ${COMMITTED}
    RESULT_VARIABLE different)
if(different)
    execute_process(COMMAND diff -u ${COMMITTED} ${ACTUAL})
    message(FATAL_ERROR "the output is not what was committed as ${COMMITTED}. If it is "
        "the program that has changed: build the target truth_update")
endif()
