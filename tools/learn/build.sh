# Configuring and building, with the log kept aside; steps.sh shows how far it is.
# shellcheck shell=bash

BUILD_LOG=$PROGRESS_DIR/log/build.log

# prepare: everything up to a configured build folder. Cheap when that is done already.
prepare() {
    choose_preset || return
    lock || return
    if ! is_configured; then
        set_up || return
        configure || return
    fi
    load_course
}

# is_configured: by us, for this checkout, and since the presets and the list of chapters
# last changed (git pull). Else ninja itself re-runs CMake when a CMakeLists.txt changes.
is_configured() {
    local stamp=$BUILD_DIR/learn-configured
    [[ -f $stamp && -f $BUILD_DIR/build.ninja && -f $BUILD_DIR/chapters.tsv &&
        ! CMakePresets.json -nt $stamp && ! CMakeLists.txt -nt $stamp &&
        $(<"$stamp") == "$ROOT" ]]
}

configure() {
    local command=(cmake --preset "$PRESET")
    # A cache of another checkout (a copied or moved folder) would be refused by CMake.
    if [[ -f $BUILD_DIR/CMakeCache.txt ]] &&
        ! grep -q -x -F "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$BUILD_DIR/CMakeCache.txt"
    then
        command+=(--fresh)
    fi
    note "Configuring $BUILD_DIR ..."
    mkdir -p "${BUILD_LOG%/*}" || return
    show_command "${command[@]}"
    if "${command[@]}" >"$BUILD_LOG" 2>&1; then
        printf '%s' "$ROOT" >"$BUILD_DIR/learn-configured"
        return 0
    fi
    # CMake's errors, without the status lines around them.
    awk '/^(--|Preset CMake)/ { on = 0 }
         /^CMake Error/ { on = 1 }
         on { print; if (++n >= 12) exit }' "$BUILD_LOG" |
        relative_paths >&2
    fail "CMake could not configure the '$PRESET' preset (the whole log: $BUILD_LOG);" \
        "./learn doctor shows what is missing."
}

# build_targets TARGETS: true when all were built; the output is in BUILD_LOG. A caller
# sets BUILDING to what the learner knows it as.
build_targets() {
    local command=(cmake --build "$BUILD_DIR" --target "$@") announcement
    mkdir -p "${BUILD_LOG%/*}" || return
    if ((VERBOSE)); then
        show_command "${command[@]}"
        "${command[@]}" 2>&1 | tee "$BUILD_LOG" >&2
    else
        announcement="Building ${BUILDING:-$1}$(planned_steps "$@") ..."
        NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 | tee "$BUILD_LOG" |
            show_progress building "$announcement"
    fi
}

# planned_steps TARGETS: " and the simulator (96 steps)", by a dry run of ninja's; it
# takes milliseconds. A dry run of build.ninja itself would stop at the step that updates
# build.ninja, hence the file that includes it.
planned_steps() {
    local ninja plan steps targets=()
    while (($# > 0)) && [[ $1 != -- ]]; do
        targets+=("$1")
        shift
    done
    ninja=$(sed -n 's/^CMAKE_MAKE_PROGRAM:[A-Z]*=//p' "$BUILD_DIR/CMakeCache.txt") || return
    printf 'include build.ninja\n' >"$BUILD_DIR/learn-plan.ninja" || return
    plan=$("$ninja" -C "$BUILD_DIR" -f learn-plan.ninja -n "${targets[@]}")
    steps=$(grep -c '^\[' <<<"$plan")
    if grep -q -E 'common/simt/(src/[a-z]+/)?CMakeFiles' <<<"$plan"; then
        printf ' and the simulator'
    fi
    case $steps in
        0) ;;
        1) printf ' (1 step)' ;;
        *) printf ' (%d steps)' "$steps" ;;
    esac
} 2>/dev/null

# build_log_text: what the compilers said in the last build, without ninja's own lines
# (status, "FAILED:", the command after it, "ninja: ...") and with relative paths.
build_log_text() {
    awk '
        /^\[[0-9]+\/[0-9]+\]/ { command = 0; next }
        /^FAILED: / { command = 1; next }
        /^ninja: / { next }
        # The one line after FAILED is the command that failed.
        command { command = 0; next }
        { print }' "$BUILD_LOG" | relative_paths
}

# parallel_jobs: how many processes at a time. Two is what the smallest machine has.
parallel_jobs() { nproc 2>/dev/null || echo 2; }
