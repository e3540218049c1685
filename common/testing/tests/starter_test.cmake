# The starter tool on small solutions, right and wrong.
#   cmake -DSTARTER=<program> -DDIR=<scratch folder> -P starter_test.cmake
file(REMOVE_RECURSE ${DIR})
file(MAKE_DIRECTORY ${DIR})

# Runs the tool in DIR; sets `status`, `out` and `err`.
macro(starter)
    execute_process(COMMAND ${STARTER} ${ARGN} WORKING_DIRECTORY ${DIR}
        OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status)
endmacro()

function(expect_text what got wanted)
    if(NOT got STREQUAL wanted)
        message(SEND_ERROR "${what}: got\n${got}\nexpected\n${wanted}")
    endif()
endfunction()

# A solution that must be refused with a message.
function(expect_refused what text message)
    file(WRITE ${DIR}/wrong.cu "${text}")
    starter(wrong.cu)
    if(NOT status EQUAL 1 OR NOT err MATCHES "${message}")
        message(SEND_ERROR "${what}: status ${status}, message\n${err}")
    endif()
    expect_text("${what}, output" "${out}" "")
endfunction()

set(solution [=[
#include "x.h"
// #solution
#include "ladder.h"
// #end

void f() {
    // #starter WB_NOT_SOLVED();
    // TODO(learner): g
    // #solution
    g();
    // #end
}

// #solution
void v2() {}
// #end

// #region last
void h() {}
// #endregion last
]=])
set(starter [=[
#include "x.h"

void f() {
    WB_NOT_SOLVED();
    // TODO(learner): g
}

// #region last
void h() {}
// #endregion last
]=])
file(WRITE ${DIR}/solution.cu "${solution}")

starter(solution.cu)
expect_text("to standard output" "${out}" "${starter}")
expect_text("its exit code" "${status}" 0)

starter(solution.cu starter.cu)
file(READ ${DIR}/starter.cu written)
expect_text("to a file" "${written}" "${starter}")

starter(--check solution.cu starter.cu)
expect_text("a starter that fits" "${status}" 0)
file(APPEND ${DIR}/starter.cu "// edited\n")
starter(--check solution.cu starter.cu)
expect_text("a starter that was edited" "${status}" 1)
if(NOT err MATCHES "starter.cu is not what solution.cu gives")
    message(SEND_ERROR "an edited starter is not explained: ${err}")
endif()

expect_refused("no markers" "void f() {}\n" "nothing is left for the learner")
expect_refused("no end" "a\n// #solution\nb\n" "line 2: #solution without #end")
expect_refused("no begin" "a\n// #end\n" "line 2: #end without #solution")
expect_refused("nested" "// #solution\n// #solution\n// #end\n// #end\n"
    "line 2: #solution inside of #solution")

starter(missing.cu)
expect_text("a missing file" "${status}" 1)
if(NOT err MATCHES "cannot read missing.cu")
    message(SEND_ERROR "a missing file is not named: ${err}")
endif()
starter(solution.cu no-such-folder/starter.cu)
expect_text("a file that cannot be written" "${status}" 1)
starter()
expect_text("no arguments" "${status}" 2)
