#!/usr/bin/env bash
# ./learn xray: what it builds and runs, what it hands to the renderer, bad input.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
make_checkout
unset SIMT_SEED

solve one 'return x + 1;'
learn xray one
expect_status 0
expect "report: --json $CHECKOUT/build/xray/day01_one_xray.run.json --title day01/01-one"
expect '--gpu h100'
expect "--contract $CHECKOUT/build/xray/day01_one_xray.contract.json"
expect '--program build/cuda/day01_one_bench_learner'
expect 'build/xray/day01_one_xray.html'
OUTPUT=$(<xray-arguments)
expect "0 --xray $CHECKOUT/build/xray/day01_one_xray.contract.json"

learn xray day01/01-one --seed 7 --size 'n = 9' --gpu A100 --kernel add --html page.html
expect_status 0
expect '--gpu a100'
expect '--kernel add'
expect "--html $CHECKOUT/page.html"
OUTPUT=$(<xray-arguments)
expect '7 --xray'
expect '--size n = 9'

# Only the lines that the learner wrote are judged, unless asked otherwise.
learn xray one
expect "--own $CHECKOUT/day01-basics/01-one/one.cu:4-4"
learn xray one --given
expect_not '--own'
learn xray one --solution
expect_not '--own'

# The solution, by option, by version, or by path.
learn xray one --solution
expect '--title day01/01-one, the solution'
expect_not '--section'
learn xray one --rung v3
expect 'day01_one_xray_solution.run.json'
expect '--section v3'
learn xray solutions/day01-basics/01-one/one.cu
expect 'the solution'

# Nothing is there yet, or it takes too long.
learn reset one --yes
learn xray one
expect_status 2
expect 'write the TODO in day01-basics/01-one/one.cu:4'
expect '--solution shows'
solve one 'return x + 1; // endless'
XRAY_TIME_LIMIT=1 learn xray one
expect_status 2
expect 'After 1 seconds it had not ended: choose a smaller'

# What a program did before it ended early is shown.
solve one 'return x + 1; // crash'
learn xray one
expect_status 0
expect 'The program ended with status 3; what it did before is shown'
solve one 'return x + 1;'
learn xray one
expect_not 'ended with status'

# Slips.
learn xray plus_tow
expect_status 2
expect "There is no chapter 'plus_tow'. Did you mean: plus_two"
learn xray one --rung
expect '--rung needs a value after it'
learn xray one --fast
expect "has no option '--fast'"
learn xray one --seed x
expect "--seed is 'x', but must be a whole number"
mkdir -p common/simt/data
cp "$REPOSITORY/common/simt/data/gpus.json" common/simt/data/
learn xray one --gpu voodoo2
expect "There is no data of a GPU 'voodoo2'; there is h100 a100 rtx4090 t4."
learn xray one --gpu t4
expect_status 0
learn xray one plus_two
expect 'One chapter or file at a time'
learn xray plus_two
expect_status 2
expect 'This chapter has no benchmark'
learn xray absent.cu
expect 'There is no file absent.cu'
touch own.cu
learn xray own.cu --size 5
expect '--size and --rung are for chapters'
learn help xray
expect '--gpu MODEL'

# A block is recorded by the program itself, which here is none that could.
learn xray one --trace --block 1,0,0 --kernel add
expect_status 2
expect 'Nothing was recorded for --kernel add --block 1,0,0'
learn xray one --trace --block first
expect "--block is 'first', but must be x or x,y,z"
learn xray one --block 1
expect '--block and -o go with --trace'
finish
