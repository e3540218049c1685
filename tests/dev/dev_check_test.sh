#!/usr/bin/env bash
# Tests tools/dev_check.py and tools/dev_style.sh: a good checkout passes, and each of
# its parts, once broken, is reported in words.
#
# The checkout is a temporary one with a single chapter of this repository.
set -u -o pipefail

REPOSITORY=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
CHECKOUT=$(mktemp -d) || exit 2
trap 'rm -rf "$CHECKOUT"' EXIT
readonly CHAPTER=day01-basics/02-vector-add
readonly SOLUTION=solutions/$CHAPTER/vector_add.cu
readonly TESTS=tests/$CHAPTER
FAILURES=0
OUTPUT=''
STATUS=0

complain() {
    FAILURES=$((FAILURES + 1))
    printf 'FAILED (line %s): %s\n' "${BASH_LINENO[1]}" "$1"
    printf '%s\n' "$OUTPUT" | sed 's/^/    | /'
}

# make_checkout: a fresh one, whatever the last test did to it.
make_checkout() {
    find "$CHECKOUT" -mindepth 1 -delete
    cd "$CHECKOUT" || exit 2
    mkdir -p "$CHAPTER" "solutions/$CHAPTER" "$TESTS" tools
    cp "$REPOSITORY/$CHAPTER/"*.{md,h} "$CHAPTER/"
    cp "$REPOSITORY/$SOLUTION" "solutions/$CHAPTER/"
    cp -r "$REPOSITORY/$TESTS/." "$TESTS/"
    mkdir -p book/data
    cp "$REPOSITORY/book/data/day01.json" book/data/
    cp "$REPOSITORY/.clang-format" .
    cp "$REPOSITORY/tools/markers.py" tools/
    tools/markers.py "$SOLUTION" "$CHAPTER/vector_add.cu"
    printf 'wb_chapter(%s)\n' "$CHAPTER" >CMakeLists.txt
    printf '# Warpbook\n' >README.md
}

commit_all() {
    git init -q . && git add -A &&
        git -c user.name=test -c user.email=test@example.org -c commit.gpgsign=false \
            commit -q -m test
}

check() {
    OUTPUT=$("$REPOSITORY/tools/dev_check.py" "$@" "$CHECKOUT" 2>&1)
    STATUS=$?
}

style() {
    OUTPUT=$("$REPOSITORY/tools/dev_style.sh" "$CHECKOUT" 2>&1)
    STATUS=$?
}

expect_pass() {
    if ((STATUS != 0)); then complain 'a good checkout does not pass'; fi
}

# expect_problem TEXT: it failed, and says so in these words.
expect_problem() {
    if ((STATUS == 0)); then complain 'a broken checkout passes'; fi
    if [[ $OUTPUT != *"$1"* ]]; then complain "no '$1' in the output"; fi
}

# broken EXPECTED COMMAND...: in a fresh checkout, after COMMAND, the check says EXPECTED.
broken() {
    local expected=$1
    shift
    make_checkout
    "$@" || complain "could not break it: $*"
    check
    expect_problem "$expected"
}

make_checkout
check
expect_pass
style
expect_pass

# What a learner does to the starter is nobody's business, ...
printf 'whatever I like, in a line of more columns than anybody else may use here: %s\n' \
    'xxxxxxxxxxxxxxxx' >"$CHAPTER/vector_add.cu"
check
expect_pass
style
expect_pass

# ... but what is committed must follow from the solution, where that is asked for. A
# checkout that was unpacked from an archive needs no git.
if command -v git >/dev/null; then
    make_checkout
    check --committed
    expect_problem 'is not committed'
    commit_all
    check --committed
    expect_pass
    printf '// drift\n' >>"$CHAPTER/vector_add.cu"
    check --committed
    expect_pass
    commit_all
    check --committed
    expect_problem 'is not what'
fi

broken 'lesson.md: missing or empty' rm "$CHAPTER/lesson.md"
broken 'vector_add_bench.cpp: missing or empty' truncate -s 0 \
    "$TESTS/vector_add_bench.cpp"
# shellcheck disable=SC2016 # $d is sed's
broken 'must have ## Hint 1' sed -i '/^## Hint 3/,$d' "$CHAPTER/hints.md"
broken 'has no section "Worked numbers"' sed -i '/^## Worked/d' "$CHAPTER/lesson.md"
broken 'region "v1-kernel" ends in line' sed -i 's/#region v1-kernel/#region v/' \
    "$SOLUTION"
broken 'but region "v2-launch" begins in line' sed -i '/#endregion v2-launch/d' \
    "$SOLUTION"
broken 'includes ./vector_add.hpp' sed -i 's/vector_add[.]h{/vector_add.hpp{/' \
    "$CHAPTER/lesson.md"
broken 'includes ./hint.md' sed -i 's/include: .*hints.md/include: .\/hint.md/' \
    "$CHAPTER/lesson.md"
broken 'has no TODO(learner)' sed -i 's/TODO(learner)/To do/' "$SOLUTION"
broken 'has no WB_NOT_SOLVED()' sed -i '/WB_NOT_SOLVED/d' "$SOLUTION"
broken "has no <Ladder of='vector_add'>" sed -i '/Ladder/d' "$SOLUTION"
broken 'its ladder is stale' sed -i '/Ladder/,/Ladder/s/  v2  3,/  v2  9,/' "$SOLUTION"
broken 'gives no starter' sed -i '0,/#end$/s/#end$/#fin/' "$SOLUTION"
broken '1 mutants' find "$TESTS/mutants" -name '*.diff' ! -name 'missing_guard.diff' -delete
broken 'has no first line "# what' sed -i 1d "$TESTS/mutants/missing_guard.diff"
broken 'has no line "# Rejected by:' sed -i 2d "$TESTS/mutants/missing_guard.diff"
broken 'which is no test case' sed -i '2s/$/ or so/' "$TESTS/mutants/missing_guard.diff"
broken 'its wb_chapter() lines' sed -i 's/02/03/' CMakeLists.txt
broken '0 chapters' rm -r "$CHAPTER"

make_checkout
printf '/// %s\n' "$(printf 'x%.0s' {1..85})" >>"$CHAPTER/vector_add.h"
style
expect_problem 'vector_add.h:20: more than 88 columns'

# In an edit, the mark before a line does not count.
make_checkout
printf '+%s\n+%s\n' "$(printf 'x%.0s' {1..88})" "$(printf 'x%.0s' {1..89})" \
    >"$TESTS/mutants/wide.diff"
style
expect_problem 'wide.diff:2: more than 88 columns'
if [[ $OUTPUT == *'wide.diff:1:'* ]]; then complain 'a line of 88 columns is too wide'; fi

make_checkout
printf '#!/bin/sh\ncd /%s/main\n' work >tools/here.sh
style
expect_problem 'tools/here.sh:2: names a folder of one machine'

make_checkout
printf 'import os\nimport sys\n\nprint(sys.argv, path)\n' >tools/slips.py
style
expect_problem 'tools/slips.py:1: imports os and does not use it'
expect_problem 'tools/slips.py:4: path is not defined'
printf 'print(\n' >tools/slips.py
style
expect_problem 'tools/slips.py:1: is no Python'

make_checkout
printf '# %s\n' "$(printf 'x%.0s' {1..99})" >tools/wide.sh
style
expect_problem 'tools/wide.sh:1: more than 100 columns'
printf 'f: drop: g(); -> nothing  # %s\n' "$(printf 'x%.0s' {1..99})" \
    >"$TESTS/equivalent.txt"
style
expect_problem 'equivalent.txt:1: more than 100 columns'
if command -v shellcheck >/dev/null; then
    printf '#!/bin/sh\ncd /tmp\n' >tools/slips.sh
    style
    expect_problem 'tools/slips.sh:2:1: warning: Use '
fi

if [[ $(clang-format --version 2>/dev/null) == *'version 14.'* ]]; then
    make_checkout
    printf 'int  x ;\n' >>"$SOLUTION"
    style
    expect_problem 'vector_add.cu: is not formatted'
fi

if ((FAILURES > 0)); then exit 1; fi
printf 'dev_check.py and dev_style.sh report what they should\n'
