#!/usr/bin/env bash
# After a pass: a right result that was luck, goals in counters, and that a file which
# did not change is not judged twice.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout

# How often cases were run; asking which there are is no run.
runs() { grep -c -v -e --wb-list checked-runs; }

solve one 'return x + 1;'
learn check one
expect_status 0
expect 'day01/01-one: PASSED'
expect 'Checked: no race, no access out of bounds, no uninitialised read.'
expect_not 'goal'
check 'large cases and faults are left out' \
    grep -q -F 'checked ~[large]~[long]~[fault]~[goal]~[values]' checked-runs
check 'one run' test "$(runs)" -eq 1

# Judged once.
learn check one
expect_status 0
expect 'Checked: no race'
check 'no second run' test "$(runs)" -eq 1

# Right, but racy: the first report in full, and no pass.
rm -r .learn
solve one 'return x + 1; // racy'
learn check one
expect_status 1
expect_first_line 'day01/01-one: RIGHT, BUT RACY'
expect 'All 3 cases pass, but only because'
# shellcheck disable=SC2016 # no command
expect 'RACE (write after read) on shared `s_sum`'
expect 'thread (32,0,0) writes at day01-basics/01-one/one.cu:4'
expect_not 'write after write'
expect '1 more below it'
expect './learn xray one'
check 'two runs' test "$(runs)" -eq 2
check 'not recorded as passed' grep -q '^day01.one  unsafe  [^ ]*  -  ' .learn/progress
learn check one
expect_first_line 'RIGHT, BUT RACY'
check 'still two runs' test "$(runs)" -eq 2
learn check day01
expect 'day01/01-one: right, but racy'

# The day it first passed stays.
solve one 'return x + 1;'
learn check one
expect_status 0
check 'three runs' test "$(runs)" -eq 3

# Not a race: then it was not the order of threads either.
solve one 'return x + 1; // overrun'
learn check one
expect_status 1
expect_first_line 'RIGHT, BUT NOT SAFE'
expect 'OUT OF BOUNDS write of 4 bytes'
expect_not 'order'

# Right case by case, but not in one process.
solve one 'return x + 1; // static'
learn check one
expect_status 1
expect_first_line 'day01/01-one: NOT RIGHT YET, it depends on the order of cases'
expect 'does your code keep something from call to call'
expect 'First failing case: adds'
expect 'expected 3, got 2'
learn check day01
expect 'not right yet, it depends on the order of cases'

# A checked program that dies without a verdict is no pass either; nor one that ends
# early, or takes its supervisor with it.
for way in dies killed 'ends early' 'no goals'; do
    solve one "return x + 1; // $way"
    learn check one
    expect_status 1
    expect_first_line 'NOT RIGHT YET'
    expect_not 'Checked'
    check 'not recorded as passed' grep -q '^day01.one  failing  ' .learn/progress
done
solve one 'return x + 1; // ends early'
learn check one
expect_first_line 'it ends the program'
expect 'the program was ended by exit(0)'

# Nor one that cannot be judged.
solve one 'return x + 1;'
cp CMakeLists.txt CMakeLists.kept
sed -i 's/^    add_custom_target(${impostor})/    add_custom_target(${impostor} COMMAND false)/' \
    CMakeLists.txt
learn check one
expect_status 1
expect 'day01/01-one: RIGHT, BUT NOT CHECKED'
expect_not 'Well done'
mv CMakeLists.kept CMakeLists.txt
touch CMakeLists.txt

# A wrong answer is looked at by the checker, too.
solve one 'return x; // racy'
learn check one
expect_status 1
expect 'NOT RIGHT YET, 3 of 3 cases fail'
expect 'The checker has found why it may be:'
# shellcheck disable=SC2016 # no command
expect 'RACE (write after read) on shared `s_sum`'
expect 'expected 2, got 1'
solve one 'return x;'
learn check one
expect_not 'The checker'
expect 'expected 2, got 1'

# A missed goal does not take the pass away.
solve one 'return x + 1; // strided'
learn check one
expect_status 0
expect_first_line 'PASSED, all 3 cases in the simulator, but a performance goal is missed'
expect 'Performance goal missed:'
expect_not 'Well done'
expect 'not yet as fast as it should be'
expect 'load in line 4: 32 sectors a request, at most 4'
expect './learn xray one'
expect_not 'wb|'
learn check one
expect 'Performance goal missed:'

# The map and the lists show it, and a day is not all done.
learn map
expect '1 performance goal missed'
learn check day01
expect 'passed, 3 cases, but a performance goal is missed'
solve plus_two 'return x + 2;'
learn check plus_two
expect 'but for performance goals of day01/01-one'
solve one 'return x + 1;'
learn check one
expect 'Well done: that is all of day 1.'
learn map
expect_not 'goal'

# What nvcc refuses: PTX where the solution has none, but not the word in a comment.
solve one 'asm("nop"); return x + 1;'
learn check one
expect_status 1
expect_first_line 'day01/01-one: DOES NOT COMPILE FOR A GPU'
expect 'day01-basics/01-one/one.cu:4: error: inline PTX in a portable chapter'
learn check day01
expect 'day01/01-one: does not compile for a GPU'
solve one 'return x + 1; // no asm("nop") /* asm() */'
learn check one
expect_status 0

# Switched off, and a chapter without such a program.
rm -r .learn
WB_SAFETY=0 learn check one
expect_status 0
expect_not 'Checked'
solve plus_two 'return x + 2;'
learn check plus_two
expect_status 0
expect_not 'Checked'
expect_not 'Not checked'
finish
