#!/usr/bin/env bash
# What reaches the screen: colours on a terminal only and only where they are welcome;
# watch, which waits for a save and ends well.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout
escape=$'\e'
export WB_PRESET=sim

# Without a terminal there are no colours and no cursor movements.
for command in map check help hint doctor nonsense; do
    TERM=xterm learn "$command"
    expect_not "$escape"
done

# on_terminal COMMAND: its output on a pseudo terminal.
on_terminal() {
    OUTPUT=$(TERM=xterm script -qec "$1" /dev/null </dev/null 2>&1)
    STATUS=$?
}

if has_terminals; then
    on_terminal './learn check'
    expect "${escape}["
    on_terminal 'NO_COLOR=1 ./learn check'
    expect 'NOT SOLVED YET'
    expect_not "$escape"
    on_terminal './learn --no-color check'
    expect_not "$escape"
    on_terminal 'TERM=dumb ./learn check'
    expect_not "$escape"
fi

# wait_until SECONDS COMMAND: polls until COMMAND succeeds.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@" 2>/dev/null; do
        if ((SECONDS > end)); then return 1; fi
        sleep 0.05
    done
}

# Watching one chapter: graded at once, and again on a save.
./learn watch one >watch.log 2>&1 </dev/null &
watcher=$!
check 'watch grades at once' wait_until 60 grep -q 'Watching day01-basics/01-one/one.cu' watch.log
solve one 'return 0;'
check 'watch grades a save' wait_until 60 grep -q 'NOT RIGHT YET' watch.log
# Editors that write a new file and rename it.
cp solutions/day01-basics/01-one/one.cu new.cu
mv new.cu day01-basics/01-one/one.cu
check 'watch sees a renamed file' wait_until 60 grep -q 'PASSED, all 3 cases' watch.log
wait "$watcher"
STATUS=$?
OUTPUT=$(<watch.log)
expect_status 0
expect_not "$escape"

# Without a name it moves on to the next chapter, until it is stopped.
./learn watch >watch.log 2>&1 </dev/null &
watcher=$!
check 'watch takes the next chapter' wait_until 60 \
    grep -q 'Watching day01-basics/02-plus-two' watch.log
solve plus_two 'return x + 2;'
check 'watch moves on' wait_until 60 grep -q 'Watching day02-memory/01-plus-three' watch.log
kill -TERM "$watcher"
wait "$watcher"
STATUS=$?
OUTPUT=$(<watch.log)
expect_status 0
expect 'Stopped watching.'
finish
