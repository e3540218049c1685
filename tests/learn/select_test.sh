#!/usr/bin/env bash
# Naming chapters: every accepted form, and one clear sentence for everything else.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout

# Before anything is configured the folders say what there is: hints need no build.
for name in plus_two plus-two 02-plus-two day01/02-plus-two day01/plus_two 1/2 1/plus-two \
    day01.plus_two day01_plus_two day01-basics/02-plus-two day01-basics/02-plus-two/ \
    day01-basics/02-plus-two/plus_two.cu ./day01-basics/02-plus-two/plus_two.cu \
    "$CHECKOUT/day01-basics/02-plus-two/plus_two.cu" \
    solutions/day01-basics/02-plus-two/plus_two.cu plus_two.cu; do
    learn hint "$name"
    expect_status 0
    expect_first_line 'day01/02-plus-two: hint'
done

# Relative to the folder that ./learn is called from, not to the checkout.
OUTPUT=$(cd day01-basics/02-plus-two && ../../learn hint ./plus_two.cu 2>&1)
expect 'day01/02-plus-two: hint'
OUTPUT=$(cd day02-memory/01-plus-three && ../../learn hint . 2>&1)
expect 'day02/01-plus-three: hint'

learn check plus_tow
expect_status 2
expect "There is no chapter 'plus_tow'. Did you mean: plus_two?"
check 'one line is enough' test "$(wc -l <<<"$OUTPUT")" -le 2

learn check day01/plus_three # it is of day 2
expect_status 2
expect 'Did you mean: plus_three'

learn check quicksort
expect_status 2
expect "There is no chapter 'quicksort'; ./learn map lists them all."

learn check day05
expect_status 2
expect 'Day 5 (quantization: fewer bytes) is not written yet; here so far: day01 day02.'

learn check 9
expect_status 2
expect "There is no day '9': Warpbook has seven days"

learn check 99999999999999999999
expect_status 2
expect 'There is no'

learn check ''
expect_status 2
expect "There is no chapter ''"

learn reset day01
expect_status 2
expect "'day01' is a whole day; name one of its chapters"

learn chekc
expect_status 2
expect "./learn has no command 'chekc'. Did you mean: check?"
learn plus_two
expect_status 2
expect "'plus_two' is a chapter, not a command: ./learn check plus_two"
learn xyzzy
expect_status 2
expect './learn help lists them'
learn test plus_two
expect_status 2
expect 'to grade one: ./learn check plus_two'

for command in next check hint watch map reset solution bench setup doctor test dev \
    verify-gpu help; do
    learn "$command" -h
    expect_status 0
    expect './learn'
done
finish
