#!/usr/bin/env bash
# ./learn verify-gpu on a pretended GPU machine: what it runs, what it writes, and that
# nothing which failed or did not run looks like a success.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=fakes.sh
source "$(dirname "$0")/fakes.sh"
make_checkout
fake_machine

learn_there verify-gpu --out results
expect_status 2
expect '--gpu needs'

fake nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.48"'
# shellcheck disable=SC2016 # expands in the impostor
fake nvidia-smi 'if [[ $1 == -L ]]; then echo "GPU 0: NVIDIA H100 (UUID: GPU-1)"
    else echo "580 \"x\""; fi'

learn_there verify-gpu
expect_status 2
expect 'needs a folder for its results: --out DIR'
learn_there verify-gpu --out results --only everything
expect_status 2
expect '--only takes build, test, sanitize or bench'
learn_there verify-gpu --out results --jobs 0
expect_status 2
expect "--jobs takes a number from 1 on, not '0'"
learn_there verify-gpu --out
expect_status 2
expect '--out needs a value'

# Without compute-sanitizer, and with one benchmark of three.
learn_there verify-gpu --out results
expect_status 1
expect 'build              ok'
expect 'nvcc 13.0'
expect 'suite              ok'
expect '9 passed, 0 failed, 0 skipped'
expect 'conformance        ok'
expect 'ok            0  1 passed, 0 failed'
expect 'memcheck           NOT RUN'
expect 'bench              FAILED'
expect 'without a result: day01.plus_two day02.plus_three'
expect '2900.5 GB/s'
expect '96.4 %'
expect_file results/junit.xml
expect_file results/ctest.log
expect_file results/bench.json
check 'verify.json names the driver' grep -q '"driver_version": "580 \\"x\\""' results/verify.json

# A conformance program is judged by its verdict, whatever its exit status and words say.
program=build/cuda/bin/conformance
cp "$program" conformance
for change in 's/"passed"/"failed"/' 's/"ended": true/"ended": false/' '2,$d'; do
    sed "$change" conformance >"$program"
    echo 'echo 7 passed, 0 failed' >>"$program"
    learn_there verify-gpu --out results --only test
    expect 'conformance        FAILED'
done
cp conformance "$program"

# A sanitizer that is content with all but one program under one tool.
# shellcheck disable=SC2016 # expands in the impostor
fake compute-sanitizer 'echo "{\"format\": \"warpbook verdict 1\", \"ended\": true,
    \"cases\": [{\"name\": \"adds\", \"verdict\": \"passed\"}]}" >"$WB_VERDICT"
if [[ $2 == racecheck ]]; then
    if [[ $* == *plus_two* ]]; then
        echo "RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"; exit 86
    fi
    echo "RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
else
    echo "ERROR SUMMARY: 0 errors"
fi'
learn_there verify-gpu --out results --only sanitize
expect_status 1
expect 'memcheck           ok'
expect '3 of 3 programs clean'
expect 'racecheck          FAILED'
expect 'RACECHECK SUMMARY: 2 hazards'
expect_not 'suite'
expect_called 'compute-sanitizer --tool synccheck .*day01_one_solution ~\[large\]'
for tool in memcheck racecheck initcheck synccheck; do
    expect_file "results/sanitizer-$tool.log"
done
check 'at most eight files' test "$(find results -type f | wc -l)" -le 8

# Only what was asked for; then everything is fine.
learn_there verify-gpu --out results --only sanitize --chapters one,plus_three
expect_status 0
expect '2 of 2 programs clean'
expect 'All parts ok'

# The tests of some chapters, a few at a time.
learn_there verify-gpu --out results --only test --chapters one,plus_three --jobs 2
expect_status 0
expect '6 passed, 0 failed, 0 skipped'
check 'verify.json says of which chapters' grep -q '"day01.one",' results/verify.json

# A sanitizer that says nothing, or a run without a test case, has checked nothing.
fake compute-sanitizer 'echo "ERROR SUMMARY: 0 errors"'
learn_there verify-gpu --out results --only sanitize --chapters one
expect_status 1
expect 'no test case ran'
fake compute-sanitizer 'echo "Error: no device"; exit 1'
learn_there verify-gpu --out results --only sanitize --chapters one
expect_status 1
expect 'no summary'

# Cases that need more GPUs than there are, or another kind, are no failures; others are.
# shellcheck disable=SC2016 # expands in the impostor
fake compute-sanitizer 'echo "{\"format\": \"warpbook verdict 1\", \"ended\": true,
    \"cases\": [{\"name\": \"adds\", \"verdict\": \"passed\"}, {\"name\": \"sums\",
    \"verdict\": \"skipped\", \"reason\": \"$(<reason)\"}]}" >"$WB_VERDICT"
echo "ERROR SUMMARY: 0 errors"; exit 4'
for reason in 'needs 2 GPUs that can access each other'"'"'s memory' 'needs sm_100' \
    'needs the simulator: why'; do
    echo "$reason" >reason
    learn_there verify-gpu --out results --only sanitize --chapters one
    expect_status 0
    expect '1 of 1 programs clean'
done
for reason in 'needs 1 GPUs' 'no time'; do
    echo "$reason" >reason
    learn_there verify-gpu --out results --only sanitize --chapters one
    expect_status 1
    expect "skipped: $reason"
done

# Two GPUs: the sanitizers are on the second one, but a chapter that sums over GPUs has
# both, and runs after all others.
# shellcheck disable=SC2016 # expands in the impostor
fake nvidia-smi 'if [[ $1 == -L ]]; then echo "GPU 0: NVIDIA H100"
    elif [[ $1 == *count ]]; then echo 2; else echo 580; fi'
# shellcheck disable=SC2016 # expands in the impostor
fake compute-sanitizer 'echo "${*: -2:1} on ${CUDA_VISIBLE_DEVICES-all}" >>order
echo "{\"format\": \"warpbook verdict 1\", \"ended\": true,
    \"cases\": [{\"name\": \"adds\", \"verdict\": \"passed\"}]}" >"$WB_VERDICT"
echo "ERROR SUMMARY: 0 errors"'
echo '// with check_nccl.h' >>solutions/day01-basics/01-one/one.cu
learn_there verify-gpu --out results --only test,sanitize --chapters one,plus_three
expect_status 0
expect '2 of 2 programs clean'
check 'one GPU' grep -q 'plus_three_solution on 1$' order
check 'all GPUs, last' test "$(tail -n 4 order | grep -c 'one_solution on all$')" = 4

# A solution that fails, and a suite in which all tests are skipped.
sed -i 's/return x + 1/return x + 9/' solutions/day01-basics/01-one/one.cu
learn_there verify-gpu --out results --only test
expect_status 1
expect 'suite              FAILED'
expect '6 passed, 3 failed'
for file in solutions/day0*/*/*.cu; do sed -i 's/return .*/skip("why not");/' "$file"; done
learn_there verify-gpu --out results --only test
expect_status 1
expect 'suite              FAILED'
expect '0 passed, 0 failed, 9 skipped (9 without cause)'
finish
