# Reading the document that a test program leaves (docs/verdict.md).
#
#   wb_run_for_verdict(program argument…)   runs it, supervised by the program
#                                           $ENV{WB_SUPERVISE}; sets `status` to its exit status,
#                                           `output` to all that it printed and
#                                           `verdict` to its document; prints what it
#                                           printed unless QUIET is set
#   wb_run_or_recall(program argument…)     the same, but on a GPU one process may run many
#                                           programs' tests (tools/learn/verify_wrong.py).
#                                           First that asks what is to be run: the
#                                           arguments go to the file $ENV{WB_TASK_FILE},
#                                           `is_task` is set, and nothing runs. Then
#                                           verdicts are in $ENV{WB_WRONG_TOGETHER}: if
#                                           this test's is there, it is as if it had run
#   wb_verdict(RESULT key…)                 a member of `verdict`, "" if it has none
#   wb_verdict_length(RESULT key…)          the length of a list, 0 if there is none
#   wb_expect_passed()                      fails unless the program ran to its end, and
#                                           all cases passed, or were skipped

function(wb_run_for_verdict)
    if(NOT DEFINED ENV{WB_VERDICT})
        set(ENV{WB_VERDICT} ${CMAKE_CURRENT_BINARY_DIR}/verdict.json)
    endif()
    file(REMOVE "$ENV{WB_VERDICT}")  # of an earlier run
    execute_process(COMMAND $ENV{WB_SUPERVISE} ${ARGN}
        OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
    if(NOT QUIET)
        message("${output}")
    endif()
    if(NOT EXISTS "$ENV{WB_VERDICT}")
        message(FATAL_ERROR "the program left no verdict, and ended with ${status}")
    endif()
    file(READ "$ENV{WB_VERDICT}" verdict)
    set(status "${status}" PARENT_SCOPE)
    set(output "${output}" PARENT_SCOPE)
    set(verdict "${verdict}" PARENT_SCOPE)
endfunction()

function(wb_run_or_recall program)
    set(is_task FALSE PARENT_SCOPE)
    if(DEFINED ENV{WB_TASK_FILE})
        string(REPLACE ";" "\t" line "${ARGN}")
        file(WRITE "$ENV{WB_TASK_FILE}" "${line}\n")
        set(is_task TRUE PARENT_SCOPE)
        return()
    endif()
    get_filename_component(name "$ENV{WB_VERDICT}" NAME)
    set(file "$ENV{WB_WRONG_TOGETHER}/${name}")
    if(NOT "$ENV{WB_WRONG_TOGETHER}" STREQUAL "" AND EXISTS "${file}")
        file(READ "${file}" verdict)
        message("Run in one process with others:\n${verdict}")
        configure_file("${file}" "$ENV{WB_VERDICT}" COPYONLY)
        set(output "")
        set(status 0)
        wb_verdict_length(count cases)
        math(EXPR last "${count} - 1")
        foreach(i RANGE ${last})
            wb_verdict(outcome cases ${i} verdict)
            if(NOT outcome MATCHES "^(passed|skipped)$")
                set(status 1)
            endif()
        endforeach()
    else()
        wb_run_for_verdict(${program} ${ARGN})
    endif()
    set(status "${status}" PARENT_SCOPE)
    set(output "${output}" PARENT_SCOPE)
    set(verdict "${verdict}" PARENT_SCOPE)
endfunction()

function(wb_verdict result)
    string(JSON value ERROR_VARIABLE error GET "${verdict}" ${ARGN})
    if(error)
        set(value "")
    endif()
    set(${result} "${value}" PARENT_SCOPE)
endfunction()

function(wb_verdict_length result)
    string(JSON length ERROR_VARIABLE error LENGTH "${verdict}" ${ARGN})
    if(error)
        set(length 0)
    endif()
    set(${result} ${length} PARENT_SCOPE)
endfunction()

function(wb_expect_passed)
    wb_verdict(ended ended)
    wb_verdict_length(count cases)
    if(NOT ended OR count EQUAL 0)
        message(FATAL_ERROR "the tests did not run to their end (status ${status})")
    endif()
    set(problems "")
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
        wb_verdict(name cases ${i} name)
        wb_verdict(outcome cases ${i} verdict)
        if(NOT outcome MATCHES "^(passed|skipped)$")
            string(APPEND problems "'${name}' is '${outcome}'\n")
        endif()
    endforeach()
    if(problems)
        message(FATAL_ERROR "${problems}")
    endif()
endfunction()
