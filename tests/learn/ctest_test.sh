#!/usr/bin/env bash
# ctest_test.sh WB_SUPERVISE: CTest alone lists, builds and grades (cmake/WbTests.cmake).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
cp -r "$REPOSITORY/tests/learn/graded/." "$REPOSITORY/cmake" "$CHECKOUT/"
mkdir "$CHECKOUT/tools"
cp -r "$REPOSITORY/tools/learn" "$CHECKOUT/tools/"
cd "$CHECKOUT" || exit 1
export LC_ALL=C

# graded ARGS: runs ctest; what it prints in OUTPUT.
graded() {
    OUTPUT=$(ctest --test-dir build --output-on-failure "$@" 2>&1 </dev/null)
    STATUS=$?
}

OUTPUT=$(cmake -B build -G Ninja -DSUPERVISE="$1" 2>&1)
STATUS=$?
expect_status 0

# All cases are known before anything is built, as an IDE asks for them.
graded --show-only=json-v1 -L learner
expect '"name" : "day01.one.adds, and says so"'
expect '"name" : "day01.two.a name that is so long that it takes two lines"'
expect '"RUN_SERIAL"'
expect '"command"'
expect_not 'a goal'
expect_not 'NOT_BUILT'
check 'nothing was built' test ! -e build/day01_one

# What is asked for is built, and nothing else.
graded -R '^day01[.]two'
expect_status 0
expect '100% tests passed'
expect_file build/day01_two
check 'the other one was not built' test ! -e build/day01_one
graded -L workbook
expect_status 0

# The tests of one program alone, where CTest has no others to read.
OUTPUT=$(ctest --test-dir build/ctest/day01_two -N)
expect 'Total Tests: 2'
expect_not 'day01.one'
OUTPUT=$(ctest --test-dir build/ctest/day01_two --fixture-exclude-any '^built[.]')
expect '100% tests passed, 0 tests failed out of 2'

# A file that does not compile: its cases say so, the other chapter goes on.
echo 'int answer() { return forty; }' >one.cu
graded -L learner -j2 --output-junit "$PWD/junit.xml"
expect_status 8
expect '2 tests failed out of 6'
expect 'wb| one.cu does not compile:'
expect "one.cu:1:23: error: 'forty' was not declared"
expect 'day01.one.adds, and says so (Failed)'
OUTPUT=$(<junit.xml)
expect '"kind":"ended_early","detail":"not_built","file":"one.cu","line":1}'
check 'no two builds at a time' test ! -e build/two_at_a_time
OUTPUT=$(python3 -B - <<'SCRIPT'
import sys
sys.path.insert(0, "tools")
from learn import grades, ui
ui.Settings.invoked_from = ui.ROOT
grades.run(["junit.xml"], False)
SCRIPT
)
expect 'day01.one  failed   0/2    ended_early/not_built  one.cu:1'
expect 'day01.two  passed   2/2'

# The program of an earlier version does not stand in for it.
echo 'int answer() { return 42; }' >one.cu
graded -R '^day01[.]one'
expect_status 0
echo 'int answer() { return forty; }' >one.cu
graded -R '^day01[.]one'
expect_status 8
expect 'one.cu does not compile'
echo 'int answer() { return 41; }' >one.cu
graded -R '^day01[.]one'
expect_status 8
expect_not 'does not compile'

# Without its fixtures it runs what is there, as ./learn does, which has built it.
echo 'int answer() { return forty; }' >one.cu
graded -R '^day01[.]one' --fixture-exclude-any '^built[.]'
expect 'out of 2'
expect_not 'does not compile'
echo 'int answer() { return 42; }' >one.cu

# What cannot be built for another reason is no fault of the learner's: nothing runs.
echo 'int broken = nothing;' >>cases.cpp
graded -R '^day01[.]two'
expect_status 8
expect "cases.cpp:29:14: error: 'nothing' was not declared"
expect 'Not Run'
expect_not 'does not compile'
sed -i '$d' cases.cpp

# A case that only the program has, or only its sources, stops the workbook's own build.
sed -i 's/^TEST_CASE("adds, and/ &/' cases.cpp
graded -L workbook
expect_status 8
expect 'Only the program has'
expect 'adds, and says so'
sed -i 's/^ TEST_CASE("adds, and/TEST_CASE("adds, and/' cases.cpp

# A ./learn at work in this folder is waited for.
if command -v flock >/dev/null; then
    mkdir -p .learn
    flock .learn/lock sh -c 'touch locked; sleep 2; touch unlocked' &
    until [[ -e locked ]]; do sleep 0.02; done
    graded -R '^day01[.]two' -V
    expect_status 0
    expect 'waiting for it'
    expect_file unlocked
    wait
fi
finish
