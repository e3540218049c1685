# Passes if the tests accept the right text that known-wrong kernels are edits of. Test
# cases that cannot run here, for lack of memory, may be skipped (exit code 4).
#   cmake -DPROGRAM= -P expect_right.cmake
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status)
if(NOT status MATCHES "^[04]$")
    message(FATAL_ERROR "this right text does not pass the chapter's tests")
endif()
