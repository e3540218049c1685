#!/usr/bin/env bash
# What one reads while something takes long: one line a step without a terminal, a line
# that counts with one. And the end of what takes too long, or finds the disk full.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout
export WB_PRESET=sim

# slow_compiler SECONDS
slow_compiler() {
    mv bin/c++ bin/quick-c++
    printf '#!/bin/sh\nsleep %s\nexec "%s/bin/quick-c++" "$@"\n' "$1" "$CHECKOUT" >bin/c++
    chmod +x bin/c++
}

# Quick steps are not worth a line.
solve one 'return x + 1;'
learn check one
expect_status 0
learn check one
expect_first_line 'day01/01-one: PASSED'

# Without a terminal: one line for each step that takes long.
slow_compiler 3
solve one 'sleep(x == 1 ? 3 : 0); return x + 1;'
sed -i '1i #include <unistd.h>' day01-basics/01-one/one.cu
sed -i 's/^echo "checked/sleep 3; &/' build/sim/bin/day01_one_checked
learn check one --time-limit 10
expect_status 0
expect "Building one (1 step) ...
Testing 3 cases ...
Checking one for races ...
day01/01-one: PASSED, all 3 cases in the simulator"

# What the same program has passed is not run again; another program is.
learn check one
expect_first_line 'day01/01-one: PASSED, all 3 cases in the simulator'
expect_not 'Testing'
learn check one -v
expect 'ctest '

# On a terminal: a line that counts, and that is gone in the end.
if has_terminals; then
    touch day01-basics/01-one/one.cu
    rm -r .learn/passed
    OUTPUT=$(TERM=xterm script -qec './learn check one' /dev/null </dev/null 2>&1)
    expect 'building'
    expect 'testing'
    expect 'of 3'
    expect_not 'Building one'
fi
mv bin/quick-c++ bin/c++

# A case that never ends: the others are not waited for, one after the other.
solve one 'for (volatile int i = 0;; i = x) {}'
started=$SECONDS
learn check one --time-limit 1
expect_status 1
expect_first_line 'NOT RIGHT YET, 2 of 3 cases fail'
expect 'It did not end within 1 seconds'
expect 'If it only needs longer: ./learn check one --time-limit 4'
expect 'Not run, because this one took so long: 1 case.'
check 'reported early' test $((SECONDS - started)) -lt 15
# CTest's own limit comes second.
solve one 'if (x == 1) { signal(SIGALRM, SIG_IGN); for (;;) pause(); } return x + 1;'
sed -i '1i #include <signal.h>\n#include <unistd.h>' day01-basics/01-one/one.cu
learn check one
expect_status 1
expect 'It did not end within the limit of 20 seconds'
learn check one --time-limit soon
expect_status 2
expect '--time-limit needs a number of seconds'
learn check one --time-limit
expect_status 2

# A disk that becomes full while the compiler writes.
solve one 'return x + 1;'
learn check one
cp .learn/progress progress
mv bin/c++ bin/quick-c++
printf '#!/bin/sh\necho "%s"\nexit 1\n' \
    'day01-basics/01-one/one.cu:3:1: fatal error: /tmp/cc.s: No space left on device' \
    >bin/c++
chmod +x bin/c++
solve one 'return 1 + x;'
learn check one
expect_status 1
expect_first_line 'day01/01-one: NOT GRADED'
expect 'The disk is full'
expect_not 'DOES NOT COMPILE'
check 'nothing is lost' cmp -s .learn/progress progress
learn check day01
expect 'not graded, the disk is full'
mv bin/quick-c++ bin/c++
learn check one
expect_status 0
finish
