# Which of CMakePresets.json's presets to work with: `cuda` when there are both a CUDA
# compiler and a GPU, else `sim`, the simulator. --gpu and --cpu choose by hand, and the
# variable WB_PRESET names any preset.
# shellcheck shell=bash

# find_nvcc: prints the path of the CUDA compiler; false when there is none. NVIDIA's
# installer does not put it on PATH, so its usual place is looked at too.
find_nvcc() {
    local candidate
    for candidate in "${CUDACXX:-}" nvcc "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
        if [[ -n $candidate ]] && command -v "$candidate"; then return 0; fi
    done
    return 1
}

# nvcc_release NVCC: "12.4".
nvcc_release() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }

# nvcc_problem NVCC: one sentence when it is too old; false when it is new enough.
nvcc_problem() {
    local have
    have=$(nvcc_release "$1")
    if [[ -z $have ]] || version_at_least "$have" "$MINIMUM_NVCC"; then return 1; fi
    printf '%s' "nvcc $have ($1) is too old, Warpbook needs CUDA $MINIMUM_NVCC or newer:" \
        " install a newer toolkit, or name another nvcc in the variable CUDACXX"
}

# run_nvidia_smi ARGS: under WSL it is not on PATH. A driver in a bad state can hang,
# hence the time limit.
run_nvidia_smi() {
    local program
    program=$(command -v nvidia-smi || command -v /usr/lib/wsl/lib/nvidia-smi) || return
    timeout 20 "$program" "$@" 2>/dev/null
}

# gpu_names: prints one line per GPU that the driver offers; false when there is
# none.
gpu_names() {
    local list
    list=$(run_nvidia_smi -L) || return 1
    [[ $list == GPU* ]] && printf '%s\n' "$list"
}

# gpu_query FIELD: what nvidia-smi says about the first GPU.
gpu_query() { run_nvidia_smi --query-gpu="$1" --format=csv,noheader | head -n 1; }

# choose_preset: sets PRESET and BUILD_DIR; false, with a sentence, when --gpu was asked
# for in vain.
choose_preset() {
    local nvcc='' problem
    if [[ -n $PRESET ]]; then return 0; fi # asked before
    PRESET=${WB_PRESET:-}
    if [[ -z $PRESET && $DEVICE == cpu ]]; then PRESET=sim; fi
    if [[ -z $PRESET || $PRESET == cuda* ]]; then nvcc=$(find_nvcc); fi
    if [[ -z $PRESET && $DEVICE == gpu ]]; then
        if [[ -z $nvcc ]]; then
            fail "--gpu needs CUDA's compiler nvcc, which was not found: install the" \
                "CUDA toolkit or put its bin folder on PATH; without --gpu the" \
                "simulator is used."
            return
        fi
        if problem=$(nvcc_problem "$nvcc"); then
            fail "$problem; without --gpu the simulator is used."
            return
        fi
        if ! gpu_names >/dev/null; then
            fail "--gpu needs an NVIDIA GPU, and nvidia-smi reports none: check the" \
                "driver; without --gpu the simulator is used."
            return
        fi
        PRESET=cuda
    fi
    if [[ -z $PRESET ]]; then
        PRESET=sim
        if [[ -n $nvcc ]] && ! nvcc_problem "$nvcc" >/dev/null && gpu_names >/dev/null
        then
            PRESET=cuda
        fi
    fi
    BUILD_DIR=build/$PRESET
}

# device_in_words: what the exercises run on, for headings.
device_in_words() {
    if [[ $PRESET == cuda* ]]; then printf 'on the GPU'; else printf 'in the simulator'; fi
}
