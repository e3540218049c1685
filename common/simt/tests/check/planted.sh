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

# Where an atomic operation lacks a fence, the report says on which side.
says() { # case words
    local report
    report=$("$program" "$1" 2>&1)
    [[ $report == *"$2"* ]] && return
    echo "$1 does not say \"$2\":"
    echo "$report"
    failed=1
}
program=$1
says last_block_without_fence "none covers the write"
says last_block_relaxed "none covers the write"
says last_block_releases "no fence stands behind it"
says last_block_without_second_fence "no fence stands behind it"
says shared_flag_without_second_fence "no fence stands behind it"
says two_blocks_write_one_element "Nothing orders the two blocks.
"
says read_only_parts_of_other_blocks \
    "read through the read-only cache (__ldg), but this kernel writes it"
says counter_of_two_blocks "the scope of both is the block"
says counter_of_two_scopes "not atomic to each other"
says last_block_of_its_own_scope "the scope of both is the block"
says narrow_acquire "it tells other blocks nothing"
says copy_lands_on_results "had not been waited for when the other wrote"
says scratch_of_two_streams "is in another stream, and nothing orders"
exit $failed
