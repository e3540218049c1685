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
    local command=(cmake --preset "$PRESET") problem
    if cache_is_stale; then command+=(--fresh); fi
    note "Configuring $BUILD_DIR ..."
    rm -f "$BUILD_DIR/learn-configured"
    if configure_with "${command[@]}"; then return 0; fi
    # A cache that was cut off in the middle, by a full disk for example.
    if [[ ${command[-1]} != --fresh ]] && grep -q 'Parse error in cache' "$BUILD_LOG" &&
        configure_with "${command[@]}" --fresh; then
        return 0
    fi
    if problem=$(full_disk); then
        fail "$problem"
        return
    fi
    # CMake's errors, without the status lines around them.
    awk '/^(--|Preset CMake)/ { on = 0 }
         /^CMake Error/ { on = 1 }
         on { print; if (++n >= 12) exit }' "$BUILD_LOG" |
        relative_paths >&2
    fail "CMake could not configure the '$PRESET' preset (the whole log: $BUILD_LOG);" \
        "./learn doctor shows what is missing."
}

# configure_with COMMAND: it inherits the lock, unlike what run_logged runs.
configure_with() {
    mkdir -p "${BUILD_LOG%/*}" || return
    show_command "$@"
    "$@" >"$BUILD_LOG" 2>&1 &&
        printf '%s' "$ROOT" >"$BUILD_DIR/learn-configured"
}

# cache_is_stale: is there a cache that CMake would refuse: of another checkout (a copied
# or moved folder), of another generator, or of tools that are not there any more?
cache_is_stale() {
    local cache=$BUILD_DIR/CMakeCache.txt tool
    [[ -f $cache ]] || return
    if [[ $(cached CMAKE_HOME_DIRECTORY) != "$ROOT" ||
        $(cached CMAKE_GENERATOR) != Ninja ]]; then
        return 0
    fi
    for tool in CMAKE_COMMAND CMAKE_CXX_COMPILER CMAKE_MAKE_PROGRAM; do
        tool=$(cached "$tool")
        if [[ -n $tool ]] && ! command -v "$tool" >/dev/null; then return 0; fi
    done
    return 1
}

# cached NAME: what CMake's cache holds under it.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$BUILD_DIR/CMakeCache.txt"; }

# full_disk: one sentence if the last step failed because a disk is full; else false. The
# log may have been cut off by that itself.
full_disk() {
    local folder free full=''
    for folder in "$ROOT" "${TMPDIR:-/tmp}"; do
        free=$(free_disk_kb "$folder")
        if [[ -n $free ]] && ((free < FULL_DISK_KB)); then full=${full:-$folder}; fi
    done
    if [[ -z $full ]]; then
        grep -q -s -i -E 'no space left on device|disk quota exceeded' "$BUILD_LOG" ||
            return
        full=$ROOT
    fi
    printf '%s' "The disk is full ($full): free some space and run the same command" \
        " again; it goes on where it stopped."
}

# build_targets TARGETS: true when all were built; the output is in BUILD_LOG. A caller
# sets BUILDING to what the learner knows it as.
build_targets() {
    run_build "$@" && return
    # Files of CMake's that a full disk or a kill has cut off are made again.
    if grep -q -E '^ninja: error: ([^ ]*[.]ninja:|loading )' "$BUILD_LOG"; then
        configure && run_build "$@"
        return
    fi
    return 1
}

run_build() {
    local command=(cmake --build "$BUILD_DIR" --target "$@") announcement
    local doing=building
    if [[ ${BUILDING:-} == the\ * ]]; then doing+=" $BUILDING,"; fi
    mkdir -p "${BUILD_LOG%/*}" || return
    if ((VERBOSE)); then
        show_command "${command[@]}"
        "${command[@]}" 2>&1 | tee "$BUILD_LOG" >&2
    else
        announcement="Building ${BUILDING:-$1}$(planned_steps "$@") ..."
        NINJA_STATUS='[%f/%t] ' "${command[@]}" 2>&1 | tee "$BUILD_LOG" 2>/dev/null |
            show_progress "$doing" "$announcement"
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
    ninja=$(cached CMAKE_MAKE_PROGRAM) || return
    printf 'include build.ninja\n' >"$BUILD_DIR/learn-plan.ninja" || return
    plan=$("$ninja" -C "$BUILD_DIR" -f learn-plan.ninja -n "${targets[@]}")
    steps=$(grep -c '^\[' <<<"$plan")
    if grep -q 'common/simt/CMakeFiles' <<<"$plan"; then
        printf ' and the simulator'
    elif grep -q 'common/simt/src/check/' <<<"$plan"; then
        printf " and the simulator's checker"
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
