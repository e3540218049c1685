# ./learn bench: measures a chapter's ladder and the learner's kernel on the GPU.
# shellcheck shell=bash

cmd_bench() {
    local i target script chapter=() options=()
    while (($# > 0)); do
        case $1 in
            --sizes | --seconds)
                if (($# < 2)); then
                    fail "$1 needs a value; see ./learn bench -h."
                    return
                fi
                options+=("$1" "$2")
                shift
                ;;
            *) chapter+=("$1") ;;
        esac
        shift
    done
    prepare_single "${chapter[@]}" || return
    i=${SELECTED[0]}
    if [[ $PRESET != cuda* ]]; then
        fail "Speed is measured on a GPU, and there is none here: the simulator's times" \
            "say nothing about a GPU's."
        return
    fi
    target=$(chapter_target "$i")_bench
    # The learner's kernel is measured once it is right; before, only the ladder is.
    if has_passed "$(chapter_key "$i")"; then
        bench_program "${target}_learner" "your kernel" "${options[@]}" || return
    fi
    bench_program "$target" "the ladder" "${options[@]}" || return
    script=tests/${CHAPTER_PATH[i]%%/*}/torch_peers.py
    if [[ -f $script ]]; then bench_torch "$script" "$target" "${options[@]}"; fi
}

# bench_torch SCRIPT TARGET OPTIONS: PyTorch on the sizes that the ladder has just been
# measured on, where there is a PyTorch.
bench_torch() {
    local json=$BUILD_DIR/bench/$2.json
    if [[ " ${*:3} " == *' --sizes grid '* ]]; then
        note "  PyTorch on the same grid: python3 $1 --grid fp32 --json $json (or bf16)"
    elif command -v python3 >/dev/null; then
        say "${BOLD}PyTorch$PLAIN"
        run python3 "$1" --json "$json"
    fi
}

# bench_program TARGET WHAT OPTIONS: builds and runs one benchmark program.
bench_program() {
    local json=$BUILD_DIR/bench/$1.json program stored
    if ! BUILDING="the benchmark of $2" build_targets "$1"; then
        report_build_failure '' | indent
        fail "$(full_disk || echo "The benchmark $1 could not be built (the log:" \
            "$BUILD_LOG).")"
        return
    fi
    program=$(find_program "$1") || return
    mkdir -p "${json%/*}" || return
    say "${BOLD}$2$PLAIN"
    mapfile -t stored < <(ceilings_options)
    run "$program" --json "$json" "${stored[@]}" "${@:3}" || return
    note "  written to $json"
}

# find_program TARGET: prints where the build put a program.
find_program() {
    local path
    path=$(find "$BUILD_DIR" -name "$1" -type f -perm -u+x -print -quit)
    if [[ -z $path ]]; then
        fail "The build made no program $1."
        return
    fi
    printf '%s' "$path"
}
