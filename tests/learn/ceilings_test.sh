#!/usr/bin/env bash
# ./learn ceilings: refuses without a GPU, stores what the program says, and hands it to
# the programs that can use it.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
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

finish
