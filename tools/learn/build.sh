# Configuring and building, with the log kept aside and one line of progress on a
# terminal.
# shellcheck shell=bash

BUILD_LOG=$PROGRESS_DIR/log/build.log

# prepare: everything up to a configured build folder. Cheap when that is done already.
prepare() {
    choose_preset || return
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
    if run_logged "$BUILD_LOG" "${command[@]}"; then
        printf '%s' "$ROOT" >"$BUILD_DIR/learn-configured"
        if [[ $PRESET == sim* ]]; then
            note "The first build compiles the simulator as well: about a minute."
        fi
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

# build_targets TARGETS: true when all were built; the output is in BUILD_LOG.
build_targets() {
    local command=(cmake --build "$BUILD_DIR" --target "$@")
    mkdir -p "${BUILD_LOG%/*}" || return
    if ((VERBOSE)); then
        show_command "${command[@]}"
        "${command[@]}" 2>&1 | tee "$BUILD_LOG" >&2
    else
        NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 | tee "$BUILD_LOG" |
            show_progress building
    fi
}

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
