#!/usr/bin/env bash
# ./learn ceilings: refuses without a GPU, stores what the program says, and hands it to
# the programs that can use it.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=fakes.sh
source "$(dirname "$0")/fakes.sh"
make_checkout

learn ceilings
expect_status 2
expect 'there is none here'
learn ceilings one
expect_status 2
expect "takes no argument, but was given 'one'"

# Nothing is stored: the renderer of xray is given nothing.
solve one 'return x + 1;'
learn xray one
expect_status 0
expect_not '--ceilings'

mkdir -p .learn
echo '{}' >.learn/ceilings.json
learn xray one
expect_status 0
expect "--ceilings $CHECKOUT/.learn/ceilings.json"

learn help ceilings
expect 'Usage: ./learn ceilings'

# On a machine with a GPU, or so it says.
rm .learn/ceilings.json
fake_machine
fake nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.48"'
# shellcheck disable=SC2016 # expands in the impostor
fake nvidia-smi 'if [[ $1 == -L ]]; then echo "GPU 0: NVIDIA H100 (UUID: GPU-1)"; fi'
learn_there ceilings
expect_status 0
expect 'copy 3026 GB/s'
expect 'written to .learn/ceilings.json'
expect_file .learn/ceilings.json

finish
