#!/bin/bash
# Every planted bug is found, and no correct program is blamed, in order and with random
# orders of threads:
#
#     planted.sh PROGRAM
set -u -o pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
failed=0
for seed in 0 1; do
    verdicts=$(SIMT_SEED=$seed "$here/judge.sh" check "$here/planted" "$1")
    wrong=$(grep -vE $'\t(found|silent)$' <<<"$verdicts")
    count=$(grep -c . <<<"$verdicts")
    echo "SIMT_SEED=$seed: $count programs"
    if ((count < 60)) || [[ -n $wrong ]]; then
        echo "$wrong"
        failed=1
    fi
done
exit $failed
