#!/usr/bin/env bash
# Grading: the verdict first, then the first thing to look at, in the learner's words.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout

learn
expect_status 1
expect 'day01/01-one: NOT SOLVED YET'
expect 'not solved yet: write the TODO in day01-basics/01-one/one.cu:4'
expect './learn hint one'
expect_not 'wb|'
expect_not "$CHECKOUT"

# A learner's compile error: their file, relative, their line; none of ninja's noise.
solve one 'return y + 1;'
learn
expect_status 1
expect_first_line 'day01/01-one: DOES NOT COMPILE'
expect 'day01-basics/01-one/one.cu:4:12: error:'
expect_not ninja
expect_not FAILED
expect_not "$CHECKOUT"

# The first error comes first and alone, the others are counted.
solve one 'return y + z +; int 5;'
learn
expect_first_line 'DOES NOT COMPILE'
expect 'more below it'
check 'one error only' test "$(grep -c 'error:' <<<"$OUTPUT")" -eq 1

# The function that the header promises is gone.
printf '#include "one.h"\n' >day01-basics/01-one/one.cu
learn
expect_first_line 'DOES NOT COMPILE'
expect 'undefined reference to'
expect "A function that the chapter's header declares is not defined"

# An error that is not in the learner's file is not laid at their door.
solve one 'return x + 1;'
echo 'mistake' >>tests/day01-basics/01-one/one_test.cpp
learn
expect_status 1
expect_first_line 'COULD NOT BE BUILT, and the fault is not in your file'
expect 'one_test.cpp'
sed -i '$d' tests/day01-basics/01-one/one_test.cpp

# Half right: the first wrong case in full, the others counted.
solve one 'return x > 1000 ? 5 : x + 1;'
learn -v
expect_status 1
expect 'day01/01-one: NOT RIGHT YET, 1 of 3 cases fail'
expect 'First failing case: adds to large numbers'
expect 'expected 1000001, got 5'
expect '2 cases pass.'
# -v shows the commands behind, such that they can be pasted.
expect '$ cmake --build build/sim --target day01_one'
expect "\$ ctest --test-dir build/sim -R '^day01\\.one\\.'"
again=$(sed -n 's/^\$ \(ctest .*adds to large.*\)$/\1/p' <<<"$OUTPUT")
OUTPUT=$(bash -c "$again" 2>&1)
expect '0% tests passed, 1 tests failed out of 1'

solve one 'return x == 1 ? 2 : 7;'
learn check one
expect_first_line '2 of 3 cases fail'
expect_not '$ c'
expect 'Also failing:'

# Parentheses and other signs in a test's name.
solve one 'return x == -1 ? 7 : x + 1;'
learn check one
expect 'First failing case: adds to -1 (ends at zero)'
expect 'expected 0, got 7'

# A crash, and a program that ends before its test does.
solve one 'volatile int* p = nullptr; return *p;'
learn check one
expect 'The program ended early: SEGFAULT'
solve one 'exit(0);'
learn check one
expect_status 1
expect_first_line 'NOT RIGHT YET, 3 of 3 cases fail'
expect 'does your code end it'

# All skipped, or no test at all, is not a pass.
solve one 'skip("there is no sm_90");'
learn check one
expect 'there is no sm_90'
expect_status 1
expect_first_line 'NOT GRADED: this device cannot run it'

# Cases that were left out although none failed: no pass, and the progress stays.
solve one 'if (x == 1) close(open(getenv("WB_STOP_FILE"), O_CREAT, 0644)); return x + 1;'
sed -i '1i #include <fcntl.h>\n#include <unistd.h>' day01-basics/01-one/one.cu
cp .learn/progress progress
learn check one
expect_status 1
expect_first_line 'day01/01-one: NOT GRADED: '
expect 'did not run'
expect 'Something stopped them, though no case failed.'
check 'nothing is recorded' cmp -s .learn/progress progress
solve one 'return x + 1;'
sed -i 's/add_test(NAME/#add_test(NAME/; s/set_tests_prop/#set_tests_prop/; /LABELS "/d' \
    CMakeLists.txt
learn check one
expect_status 1
expect 'NOT GRADED: CTest found no test of this chapter'
cp "$REPOSITORY/tests/learn/course/CMakeLists.txt" .

learn check one
expect_status 0
expect 'Configuring'  # CMakeLists.txt has changed, as after a git pull
expect 'day01/01-one: PASSED, all 3 cases'
expect 'day01-basics/02-plus-two/lesson.md, then ./learn'

# Warnings of the learner's own file are passed on, also when it passes.
solve one 'int spare; return x + 1;'
learn check one
expect_status 0
expect 'The compiler warns:'
expect 'day01-basics/01-one/one.cu:4:9: warning: unused variable'

learn check 1
expect_status 1
expect 'day01/01-one: passed, 3 cases'
expect '1 of 2 chapters pass'
expect 'write the TODO in day01-basics/02-plus-two/plus_two.cu:4'

rm day01-basics/02-plus-two/plus_two.cu
learn check plus_two
expect_status 1
expect_first_line 'THE FILE IS MISSING'
expect './learn reset plus_two'

# --solution grades the workbook's own, whatever the learner's file says.
solve one 'return 0;'
learn check day01 --solution
expect_status 0
expect 'day01/01-one'
expect 'passed, 3 cases'
expect '2 of 2 solutions pass'
sed -i 's/return x + 1/return x + 2/' solutions/day01-basics/01-one/one.cu
learn check one --solution
expect_status 1
expect 'wrong, 3 of 3 cases fail'
expect 'day01.one.solution.adds to small numbers'
expect '0 of 1 solutions pass'
learn check nonsense --solution
expect_status 2
expect "There is no chapter 'nonsense'"
finish
