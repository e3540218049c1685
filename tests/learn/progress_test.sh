#!/usr/bin/env bash
# What is remembered: progress, hints, backups. Nothing of the learner's is ever lost.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout
today=$(date +%Y-%m-%d)

for shown in 1 2 3 3; do
    learn hint one
    expect_status 0
    expect "day01/01-one: hint $shown of 3"
done
expect 'return x + 1;'
expect 'That was the last one'
expect_not 'operator'
rm day01-basics/02-plus-two/hints.md
learn hint plus_two
expect_status 2
expect 'day01/02-plus-two has no hints'

learn solution one
expect_status 1
expect 'day01/01-one has not passed yet'
learn solution one --reveal
expect_status 0
expect_first_line 'solutions/day01-basics/01-one/one.cu'
learn solution one --reveal --cpoy
expect_status 2
expect "./learn solution has no option '--cpoy'"

solve one 'return x + 1; // mine'
learn
expect_status 0
check 'progress names the pass' grep -q "^day01.one  passed  $today  $today  3$" .learn/progress
learn solution one
expect_status 0

learn map
expect_status 0
expect '1 of 3 chapters passed'
expect "[x] 01-one                     passed $today, 3 hints"
expect '[ ] 02-plus-two                next: ./learn'
expect 'day07 tuning: knowing why, not guessing (not written yet)'

# A pass is not forgotten when the learner goes on experimenting.
solve one 'return 0; // an experiment'
learn check one
expect_status 1
learn map
expect 'changed since: not passing now'
learn
expect_first_line 'day01/02-plus-two'

# Starting over keeps what was there.
learn reset one
expect_status 0
backup=$(sed -n 's/^Your version is kept in //p' <<<"$OUTPUT")
expect_file "$backup"
check 'the backup is the version before' grep -q 'an experiment' "$backup"
check 'the starter is back' grep -q WB_NOT_SOLVED day01-basics/01-one/one.cu
learn reset one
expect 'is the starter already; nothing was changed'

# Twice within a second: two backups.
learn solution one --copy
solve one 'return 1; // second'
learn solution one --copy
check 'each version has its backup' test "$(find .learn/backup -name '*.cu' | wc -l)" -eq 3
learn check one
expect_status 0

# What lies beside the solution is included from there; what lies here, as it stands.
cp solutions/day01-basics/01-one/one.cu kept.cu
touch solutions/day01-basics/01-one/02_faster.cuh
sed -i '1i #include "02_faster.cuh"\n#include "one.h"' solutions/day01-basics/01-one/one.cu
learn solution one --copy
OUTPUT=$(<day01-basics/01-one/one.cu)
expect '#include "../../solutions/day01-basics/01-one/02_faster.cuh"'
expect '#include "one.h"'
mv kept.cu solutions/day01-basics/01-one/one.cu

# Where no backup can be written, the learner's file is left alone.
solve one 'return 2; // precious'
mv .learn/backup .learn/kept && touch .learn/backup
learn reset one
expect_status 2
expect 'nothing was changed'
check 'the file was left alone' grep -q precious day01-basics/01-one/one.cu
rm .learn/backup

learn reset
expect_status 2
expect 'Say which chapter'

# The last of a day, then the last of all.
solve one 'return x + 1;'
learn check one
solve plus_two 'return x + 2;'
learn
expect_status 0
expect 'that is all of day 1.'
expect 'day02-memory/01-plus-three/lesson.md'
solve plus_three 'return x + 3;'
learn
expect 'All 3 chapters have passed.'
learn
expect_status 0
expect 'Day 3 is not written yet'

# A damaged progress file is no obstacle.
printf 'nonsense\n\nday01.one\n' >.learn/progress
learn map
expect_status 0
learn check one
expect_status 0
finish
