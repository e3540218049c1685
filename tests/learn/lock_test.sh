#!/usr/bin/env bash
# Two ./learn in one checkout take turns; a build that was killed leaves nothing broken.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout
export WB_PRESET=sim

# wait_until COMMAND: polls until COMMAND succeeds, for a minute at most.
wait_until() {
    local end=$((SECONDS + 30))
    until "$@" 2>/dev/null; do
        if ((SECONDS > end)); then return 1; fi
        sleep 0.02
    done
}

# A compiler that waits until the file "go" is there.
slow_compiler() {
    rm -f go
    mv bin/c++ bin/quick-c++
    cat >bin/c++ <<SCRIPT
#!/bin/sh
case "\$*" in *one.cu*)
    touch "$CHECKOUT/compiling"
    while [ ! -e "$CHECKOUT/go" ]; do sleep 0.02; done ;;
esac
exec "$CHECKOUT/bin/quick-c++" "\$@"
SCRIPT
    chmod +x bin/c++
}

quick_compiler() { mv bin/quick-c++ bin/c++; }

if ! command -v flock >/dev/null; then
    echo 'no flock here: nothing was tested'
    exit 4
fi

# The second waits for the first, and says for whom.
solve one 'return x + 1;'
slow_compiler
./learn check one >first.log 2>&1 </dev/null &
first=$!
check 'the first one builds' wait_until test -e compiling
./learn check plus_two >second.log 2>&1 </dev/null &
second=$!
check 'the second one says for whom it waits' \
    wait_until grep -q "Another ./learn (check one, process $first, since [0-9:]*) is at" second.log
OUTPUT=$(<second.log)
check 'one line' test "$(wc -l <second.log)" -eq 1

# What only reads does not wait.
for command in map hint help 'lesson one'; do
    # shellcheck disable=SC2086 # two words
    learn $command
    expect_status 0
    expect_not 'is at work'
done

touch go
wait "$first"
STATUS=$? OUTPUT=$(<first.log)
expect_status 0
expect 'day01/01-one: PASSED'
wait "$second"
STATUS=$? OUTPUT=$(<second.log)
expect_status 1
expect 'day01/02-plus-two: NOT SOLVED YET'
learn check one
expect_status 0
expect_not 'is at work'
expect_not 'Configuring'

# Killed in the middle of the first build: the build that it left behind is waited for,
# then the next one goes on.
rm -rf build compiling go
setsid ./learn check one >first.log 2>&1 </dev/null &
first=$!
check 'the first one builds' wait_until test -e compiling
kill -9 "$first"
wait "$first" 2>/dev/null
./learn check one >second.log 2>&1 </dev/null &
second=$!
check 'the build that was left behind is waited for' \
    wait_until grep -q 'left behind is still at work' second.log
touch go
wait "$second"
STATUS=$? OUTPUT=$(<second.log)
expect_status 0
expect 'day01/01-one: PASSED'

# The whole group killed: the compiler, which ninja starts in a group of its own, is
# waited for, and what was built before stays.
learn check plus_two
rm -rf compiling go
solve one 'return 1 + x;'
setsid ./learn check one >first.log 2>&1 </dev/null &
first=$!
check 'it builds' wait_until test -e compiling
kill -9 -- "-$first"
wait "$first" 2>/dev/null
touch go
quick_compiler
learn check one
expect_status 0
expect 'day01/01-one: PASSED'
expect_not 'Configuring'
learn check plus_two -v
expect 'ninja: no work to do'

# Killed while CMake configures.
rm -rf build
mkdir -p build
ln -s "$(command -v cmake)" bin/real-cmake
cat >bin/cmake <<SCRIPT
#!/bin/sh
"$CHECKOUT/bin/real-cmake" "\$@"
case "\$*" in --preset*) touch "$CHECKOUT/configured"; sleep 60 ;; esac
SCRIPT
chmod +x bin/cmake
setsid ./learn check one >first.log 2>&1 </dev/null &
first=$!
check 'it configures' wait_until test -e configured
kill -9 -- "-$first"
wait "$first" 2>/dev/null
rm bin/cmake
: >build/sim/build.ninja
head -c 2000 build/sim/CMakeCache.txt >cache
mv cache build/sim/CMakeCache.txt
learn check one
expect_status 0
expect 'day01/01-one: PASSED'

# Nor does watch keep others waiting.
./learn watch plus_two >watch.log 2>&1 </dev/null &
watcher=$!
check 'it watches' wait_until grep -q 'Watching' watch.log
learn check one
expect_status 0
expect_not 'is at work'
kill "$watcher"
wait "$watcher"

# A ./learn within a ./learn of the same checkout works under its lock.
WB_LOCKED=$CHECKOUT flock .learn/lock ./learn check one >first.log 2>&1
STATUS=$? OUTPUT=$(<first.log)
expect_status 0
finish
