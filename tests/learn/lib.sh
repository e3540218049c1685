# What the tests of ./learn share: a small checkout of their own in a temporary folder
# (with a blank in its name, as some people's home folders have),
# the command with its output captured, and assertions.
#
# The checkout holds the real ./learn over a course of three tiny chapters, built by real
# cmake, ninja and ctest from plain C++, in fractions of a second. It keeps to the same
# contract as the real one: targets, test names, labels, verdicts.
# shellcheck shell=bash

set -u -o pipefail
REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
CHECKOUT=$(mktemp -d "${TMPDIR:-/tmp}/learn test.XXXXXX") || exit 1
trap 'rm -rf "$CHECKOUT"' EXIT
FAILURES=0
OUTPUT=''
STATUS=0

# Nothing of the caller's surroundings may decide a test.
unset NO_COLOR WB_PRESET CUDACXX SUDO_USER CXX CMAKE_PREFIX_PATH
unset WB_LOCKED WB_TIME_LIMIT WB_STOP_FILE WB_VERDICT WB_PYTHON COLUMNS
export TERM=dumb

# The tests are of ./learn, not of what is installed here: this compiler has every header
# that ./learn looks for, whether or not the machine has Catch2 and a BLAS.
pretend_headers() {
    mkdir -p "$CHECKOUT/bin"
    printf '#!/bin/sh\ncase "$*" in "-E -x c++ -") exec cat >/dev/null ;; esac\nexec %s "$@"\n' \
        "$(command -v c++)" >"$CHECKOUT/bin/c++"
    chmod +x "$CHECKOUT/bin/c++"
    PATH=$CHECKOUT/bin:$PATH
}

make_checkout() {
    pretend_headers
    cp "$REPOSITORY/learn" "$CHECKOUT/"
    mkdir -p "$CHECKOUT/tools"
    cp -r "$REPOSITORY/tools/learn" "$REPOSITORY/tools/markers.py" "$CHECKOUT/tools/"
    cp -r "$REPOSITORY/tests/learn/course/." "$CHECKOUT/"
    mkdir "$CHECKOUT/tools/xray" # an impostor, which says what it was given
    printf 'import sys\nprint("report:", *sys.argv[1:])\n' >"$CHECKOUT/tools/xray/__main__.py"
    cd "$CHECKOUT" || exit 1
}

# learn ARGS: runs ./learn without a terminal; its output, both streams, in OUTPUT.
# In the simulator, whatever this machine has.
learn() {
    OUTPUT=$(WB_PRESET=${WB_PRESET-sim} ./learn "$@" 2>&1 </dev/null)
    STATUS=$?
}

# solve NAME BODY: the learner's solution of a chapter: int NAME(int x) { BODY }
solve() {
    local file
    file=$(echo day*/*/"$1.cu")
    printf '#include "%s.h"\n\nint %s(int x) {\n    %s\n}\n' "$1" "$1" "$2" >"$file"
}

complain() {
    FAILURES=$((FAILURES + 1))
    printf 'FAILED (line %s): %s\n' "${BASH_LINENO[1]}" "$*"
    printf '%s\n' "$OUTPUT" | sed 's/^/    | /'
}

expect_status() {
    if ((STATUS != $1)); then complain "exit status $STATUS instead of $1"; fi
}

expect() {
    if [[ $OUTPUT != *"$1"* ]]; then complain "no '$1' in the output"; fi
}

expect_not() {
    if [[ $OUTPUT == *"$1"* ]]; then complain "'$1' in the output"; fi
}

# expect_first_line TEXT: the verdict comes first.
expect_first_line() {
    if [[ ${OUTPUT%%$'\n'*} != *"$1"* ]]; then complain "no '$1' in the first line"; fi
}

expect_file() {
    if [[ ! -f $1 ]]; then complain "no file $1"; fi
}

# check DESCRIPTION COMMAND: COMMAND succeeds.
check() {
    local description=$1
    shift
    if ! "$@"; then complain "$description"; fi
}

# has_terminals: can this machine pretend a terminal? Some containers cannot.
has_terminals() {
    if [[ $(script -qec 'test -t 1 && echo yes' /dev/null 2>/dev/null </dev/null) == yes* ]]
    then
        return 0
    fi
    echo 'no pseudo terminals here: what needs one was not tested'
    return 1
}

finish() {
    if ((FAILURES > 0)); then
        echo "$FAILURES checks failed"
        exit 1
    fi
    echo "all checks passed"
}
