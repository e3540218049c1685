#!/usr/bin/env bash
# The choice between GPU and simulator, and ./learn test, which must never be green
# without having tested something.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=fakes.sh
source "$(dirname "$0")/fakes.sh"
make_checkout

# No nvcc, no GPU.
fake_machine
learn_there check one -v
expect '$ cmake --preset sim'
learn_there check one --gpu
expect_status 2
expect '--gpu needs CUDA'\''s compiler nvcc, which was not found'

# nvcc without a GPU is not enough.
fake nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.48"'
fake nvidia-smi 'echo "NVIDIA-SMI has failed"; exit 9'
learn_there check one -v
expect '--build build/sim'
learn_there check one --gpu
expect_status 2
expect '--gpu needs an NVIDIA GPU, and nvidia-smi reports none'

# An nvcc that is too old.
fake nvcc 'echo "Cuda compilation tools, release 11.8, V11.8.89"'
fake nvidia-smi 'echo "GPU 0: NVIDIA H100 (UUID: GPU-1)"'
learn_there check one --gpu
expect_status 2
expect 'is too old, Warpbook needs CUDA 12.4 or newer'
check 'one sentence' test "$(wc -l <<<"$OUTPUT")" -eq 1
learn_there check one -v
expect '--build build/sim'
learn_there doctor
expect_status 0
expect 'nvcc 11.8'
fake nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.48"'

# Both: the GPU is used, unless --cpu.
# shellcheck disable=SC2016 # expands in the impostor
fake nvidia-smi 'if [[ $1 == -L ]]; then echo "GPU 0: NVIDIA H100 (UUID: GPU-1)"
    else echo 580.1; fi'
learn_there check one -v
expect '--preset cuda'
learn_there check one -v --cpu
expect '--build build/sim'
WB_PRESET=sim learn_there check one -v
expect '--build build/sim'
learn_there doctor
expect_status 0
expect 'NVIDIA H100, driver 580.1'
expect '13.0'

# A preset that does not exist: CMake's words, then ours.
WB_PRESET=nonsense learn_there check one
expect_status 2
expect 'No such '
expect "CMake could not configure the 'nonsense' preset"

# Speed is not measured in the simulator.
learn bench one
expect_status 2
expect 'Speed is measured on a GPU'

# The workbook's own tests: the learner's file may be anything.
solve one 'this is not C++'
learn test --yes
expect_status 0
check 'the count comes last' test "${OUTPUT##*$'\n'}" = '9 passed, 0 failed'

# A solution that is wrong, and one that does not compile.
sed -i 's/x + 1/x + 2/' solutions/day01-basics/01-one/one.cu
learn test
expect_status 1
expect 'FAILED day01.one.solution.adds to small numbers'
expect 'expected 2, got 3'
check 'the count comes last' test "${OUTPUT##*$'\n'}" = '6 passed, 3 failed'
echo 'mistake' >>solutions/day01-basics/01-one/one.cu
learn test
expect_status 1
expect 'solutions/day01-basics/01-one/one.cu'
expect 'Not everything could be built'

# Nothing to test is not a success.
sed -i 's/add_test(NAME/#add_test(NAME/; s/set_tests_prop/#set_tests_prop/; /LABELS "/d' \
    CMakeLists.txt
cp "$REPOSITORY/tests/learn/course/solutions/day01-basics/01-one/one.cu" \
    solutions/day01-basics/01-one/
learn test
expect_status 1

# A checkout that was copied together with its build folder is configured afresh.
cp "$REPOSITORY/tests/learn/course/CMakeLists.txt" .
learn check plus_two
mkdir "$CHECKOUT/copy"
cp -r build learn tools day0* solutions tests CMake* "$CHECKOUT/copy/"
cd "$CHECKOUT/copy" || exit 1
learn check plus_two -v
expect_status 1
expect '--fresh'
expect 'NOT SOLVED YET'

# So is one that another generator made, or a compiler that is gone, or that was cut off.
for damage in 's/^CMAKE_GENERATOR:.*/CMAKE_GENERATOR:INTERNAL=Unix Makefiles/' \
    's|^CMAKE_MAKE_PROGRAM:.*|CMAKE_MAKE_PROGRAM:FILEPATH=/nowhere/ninja|' '20,$d; 19s/.*/x/'
do
    sed -i "$damage" build/sim/CMakeCache.txt
    rm build/sim/learn-configured
    learn check plus_two -v
    expect_status 1
    expect '--fresh'
    expect 'NOT SOLVED YET'
done
echo 'build' >build/sim/build.ninja
learn check plus_two
expect_status 1
expect 'NOT SOLVED YET'
finish
