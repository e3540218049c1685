#!/bin/bash
# The checker finds each planted bug, and blames no correct program, in order
# and with random orders of threads:
#
#     planted.sh PROGRAM
set -u -o pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
failed=0
for seed in 0 1 2; do
    verdicts=$(SIMT_SEED=$seed "$here/../check/judge.sh" check "$here/planted" "$1")
    count=$(grep -cE $'\t(found|silent)$' <<<"$verdicts")
    if ((count != 23)); then
        echo "SIMT_SEED=$seed:"
        echo "$verdicts"
        failed=1
    fi
done
exit $failed
