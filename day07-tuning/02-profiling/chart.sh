#!/usr/bin/env bash
# chart.sh: what Nsight Compute counts in the six patients, one launch of each.
#
#     bash day07-tuning/02-profiling/chart.sh build/cuda/day07_patients [mystery|mended]
set -euo pipefail

program=${1:?"usage: chart.sh PROGRAM [mystery|mended]"}
which=${2:-mystery}
metrics=(
    gpu__time_duration.sum
    launch__grid_size
    launch__block_size
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
    smsp__thread_inst_executed_per_inst_executed.ratio
    launch__registers_per_thread
    launch__shared_mem_per_block_dynamic
    launch__occupancy_limit_registers
    launch__occupancy_limit_shared_mem
    launch__occupancy_limit_warps
    sm__maximum_warps_per_active_cycle_pct
    sm__warps_active.avg.pct_of_peak_sustained_active
    dram__throughput.avg.pct_of_peak_sustained_elapsed
)
names=$(IFS=, && printf '%s' "${metrics[*]}")
for letter in a b c d e f; do
    ncu --clock-control none --nvtx --nvtx-include "${which}_$letter/" \
        --launch-count 1 --metrics "$names" "$program" "$which" "$letter"
done
