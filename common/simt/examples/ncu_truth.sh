#!/usr/bin/env bash
# ncu_truth.sh: what Nsight Compute counts for the examples on the GPU of this machine.
#
#     common/simt/examples/ncu_truth.sh OUT
#
# Writes to the folder OUT
#   ncu.csv        one row a launch: hardware counters, at the examples' default sizes
#   ncu_lines.tsv  one row a machine instruction: file, line, SASS, what it cost
#   ncu_large.csv  time and traffic at sizes that fill the GPU
#   machine.txt    GPU, driver, versions;  sass.txt.gz  the machine code;  log.txt
# ncu_compare joins these with what the simulator counts. It takes a minute or two. The
# clocks of the GPU are left as they are.
set -u -o pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mkdir -p "${1:?usage: ncu_truth.sh OUT}" && cd "$1" && pwd) || exit 2
PATH=$PATH:/usr/local/cuda/bin$(printf ':%s' /opt/nvidia/nsight-compute/*)
programs=(transpose strided_copy aos_soa reduce histogram shared_banks divergence flash)
# Sizes at which a kernel runs long enough for its time to mean something.
declare -A large=([transpose]=4096 [strided_copy]=4194304 [aos_soa]=4194304
    [reduce]=16777216 [histogram]=16777216 [divergence]=16777216 [flash]=1024)

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
log=$out/log.txt
: >"$log"
say() { printf '%4d s  %s\n' $SECONDS "$*" | tee -a "$log"; }

for tool in nvcc ncu nvidia-smi; do
    command -v $tool >/dev/null || { say "there is no $tool here" && exit 2; }
done
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1
    ncu --version | grep -i '^version'
    nvcc --version | grep -i release
    for program in "${!large[@]}"; do echo "size $program ${large[$program]}"; done
} >"$out/machine.txt"

say "compile"
jobs=()
for program in "${programs[@]}"; do
    nvcc -std=c++20 -O3 -lineinfo -arch=native -o "$work/$program" "$here/$program.cu" \
        >>"$log" 2>&1 &
    jobs+=($!)
done
for job in "${jobs[@]}"; do
    wait "$job" || { say "an example does not compile" && tail -30 "$log" && exit 1; }
done
for program in "${programs[@]}"; do
    "$work/$program" >>"$log" 2>&1 || say "$program is WRONG on this GPU"
    printf '==== %s\n' "$program"
    cuobjdump -sass "$work/$program" 2>>"$log"
done | gzip >"$out/sass.txt.gz"

# Counters by operation. A GPU that lacks one is not asked for it.
wanted=()
for op in ld st red atom; do
    wanted+=("l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum"
        "l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum"
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum"
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$op.sum"
        "smsp__sass_inst_executed_op_shared_$op.sum")
done
wanted+=(
    smsp__thread_inst_executed_per_inst_executed.ratio
    smsp__sass_average_branch_targets_threads_uniform.pct
    smsp__inst_executed.sum smsp__warps_launched.sum
    smsp__sass_thread_inst_executed_op_fadd_pred_on.sum
    smsp__sass_thread_inst_executed_op_fmul_pred_on.sum
    smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
    lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum
    dram__bytes_read.sum dram__bytes_write.sum gpu__time_duration.sum)
ncu --query-metrics 2>>"$log" | awk '{ print $1 }' | sort -u >"$work/known"
metrics=launch__registers_per_thread
for metric in "${wanted[@]}"; do
    if grep -qxF "${metric%%.*}" "$work/known"; then
        metrics+=,$metric
    else
        say "not on this GPU: $metric"
    fi
done

# Rows of all programs one below another; each program's begin with their header.
profile() { # name rows-file program-and-size… -- ncu-option…
    local name=$1 rows=$2 program=()
    shift 2
    while [[ $1 != -- ]]; do program+=("$1") && shift; done
    shift
    ncu --clock-control none --force-overwrite --export "$work/$name" "$@" \
        "${program[@]}" >>"$log" 2>&1 || say "ncu failed on $name: see log.txt"
    ncu --import "$work/$name.ncu-rep" --page raw --csv --print-units base \
        --print-kernel-base demangled >>"$rows" 2>>"$log"
}
: >"$out/ncu.csv"
for program in "${programs[@]}"; do
    say "profile $program"
    profile "$program" "$out/ncu.csv" "$work/$program" -- --import-source yes \
        --section SourceCounters --section LaunchStats --section Occupancy \
        --metrics "$metrics"
done

say "instructions"
reader=$(find -L /opt/nvidia "$(dirname "$(readlink -f "$(command -v ncu)")")/.." \
    -name ncu_report.py -print -quit 2>/dev/null)
reports=("${programs[@]/#/$work/}")
PYTHONPATH=$(dirname "${reader:-.}") python3 "$here/ncu_lines.py" \
    "${reports[@]/%/.ncu-rep}" >"$out/ncu_lines.tsv" 2>>"$log" ||
    for program in "${programs[@]}"; do
        printf '==== %s\n' "$program"
        ncu --import "$work/$program.ncu-rep" --page source --csv --print-source sass
    done >"$out/ncu_source.csv" 2>>"$log"

: >"$out/ncu_large.csv"
for program in "${!large[@]}"; do
    say "profile $program ${large[$program]}"
    profile "${program}_large" "$out/ncu_large.csv" \
        "$work/$program" "${large[$program]}" -- \
        --metrics gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum
done
say "done: $(grep -c . "$out/ncu_lines.tsv") instructions in $out"
