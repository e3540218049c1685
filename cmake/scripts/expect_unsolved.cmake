# Passes if every test case of an untouched starter fails with "not solved yet".
#   cmake -DPROGRAM= -P expect_unsolved.cmake
#
# The program runs once: to start one for each case costs minutes on a busy GPU. After
# each case it says which one it was (WB_PROGRESS, see case_watch.h).
execute_process(COMMAND ${PROGRAM} --wb-list OUTPUT_VARIABLE names)
string(REGEX MATCHALL "[^\n]+" names "${names}")
list(LENGTH names count)
if(count EQUAL 0)
    message(FATAL_ERROR "the program has no test cases")
endif()
set(ENV{WB_PROGRESS} 1)
execute_process(COMMAND ${PROGRAM}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
set(seen 0)
while(output MATCHES "\n\\[([0-9]+)/[0-9]+\\] ([^\n]*)\n")
    set(line "${CMAKE_MATCH_0}")
    set(name "${CMAKE_MATCH_2}")
    string(FIND "${output}" "${line}" end)
    string(SUBSTRING "${output}" 0 ${end} said)
    string(LENGTH "${line}" length)
    # The last line break may be the next line's first.
    math(EXPR end "${end} + ${length} - 1")
    string(SUBSTRING "${output}" ${end} -1 output)
    math(EXPR seen "${seen} + 1")
    if(NOT said MATCHES "wb[|] not solved yet: write the TODO in [^ ]+[.]cu:[0-9]+")
        message(FATAL_ERROR "'${name}' does not say what to do, or passes although "
            "nothing has been written:\n${said}")
    endif()
endwhile()
if(NOT seen EQUAL count)
    message(FATAL_ERROR "${seen} of ${count} test cases ran (status ${status})")
endif()
# Catch2's status is the number of failures, up to 255.
if(NOT output MATCHES "test cases: +${count} [|] +${count} failed")
    message(FATAL_ERROR "not all of ${count} test cases fail:\n${output}")
endif()
message("All ${count} test cases say where the TODO is.")
