# ./learn bench: measures a chapter's ladder and the learner's kernel on the GPU.
# shellcheck shell=bash

cmd_bench() {
    local i target json
    prepare_single "$@" || return
    i=${SELECTED[0]}
    if [[ $PRESET != cuda* ]]; then
        fail "Speed is measured on a GPU, and there is none here: the simulator's times" \
            "say nothing about a GPU's."
        return
    fi
    target=$(chapter_target "$i")_bench
    # The learner's kernel is measured once it is right; before, only the ladder is.
    if has_passed "$(chapter_key "$i")"; then
        bench_program "${target}_learner" "your kernel" || return
    fi
    bench_program "$target" "the ladder"
}

# bench_program TARGET WHAT: builds and runs one benchmark program.
bench_program() {
    local json=$BUILD_DIR/bench/$1.json program
    if ! build_targets "$1"; then
        report_build_failure '' | indent
        fail "The benchmark $1 could not be built (the log: $BUILD_LOG)."
        return
    fi
    program=$(find_program "$1") || return
    mkdir -p "${json%/*}" || return
    say "${BOLD}$2$PLAIN"
    run "$program" --json "$json" || return
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
