# After the tests have passed in the simulator: the same tests once more, with every
# memory access of the learner's kernels announced to the checker. A right result may be
# luck; the checker says whether it was. Then the chapter's goals in counters.
#
# A file that was judged is not judged again until it changes: .learn/safety/KEY holds
# the fingerprint of what was judged, and the output.
# shellcheck shell=bash

SAFETY_DIR=$PROGRESS_DIR/safety
SAFETY_FOUND=86          # the checker's exit status when it has found something
SAFETY_TIME_LIMIT=120    # seconds, for all cases together

G_SAFETY=''      # safe, unsafe, invalid (no CUDA), or why it is not known: unbuilt,
                 # slow, broken
G_SAFETY_LOG=''  # what the checked tests printed
G_GOALS=''       # what the learner reads about goals that were missed

# judge_safety I: for a chapter that has just passed. WB_SAFETY=0 leaves it out.
judge_safety() {
    local key target fingerprint
    G_SAFETY='' G_GOALS=''
    if [[ $PRESET != sim* || ${WB_SAFETY:-1} == 0 ]]; then return; fi
    key=$(chapter_key "$1")
    target=$(chapter_target "$1")_checked
    G_SAFETY_LOG=$SAFETY_DIR/$key.log
    fingerprint=$(safety_fingerprint "$1")
    mkdir -p "$SAFETY_DIR" || return
    if [[ -f $SAFETY_DIR/$key ]]; then
        local known result
        read -r known result <"$SAFETY_DIR/$key"
        if [[ $known == "$fingerprint" ]]; then
            G_SAFETY=$result
            G_GOALS=$(missed_goals)
            return
        fi
    fi
    # Run for its output, which is not the step's.
    lint "$1" 2>&1 >"$G_SAFETY_LOG" | show_progress \
        'looking for what a GPU cannot run' \
        "Looking in ${CHAPTER_FILE[$1]} for what a GPU cannot run ..."
    if [[ -s $G_SAFETY_LOG ]]; then
        G_SAFETY=invalid
    else
        run_checked "$target" "${CHAPTER_NAME[$1]}"
    fi
    if [[ $G_SAFETY == safe || $G_SAFETY == unsafe || $G_SAFETY == invalid ]]; then
        printf '%s %s\n' "$fingerprint" "$G_SAFETY" >"$SAFETY_DIR/$key"
    fi
    G_GOALS=$(missed_goals)
}

# safety_fingerprint I: of everything of the chapter that a verdict depends on.
safety_fingerprint() {
    local folder=${CHAPTER_PATH[$1]}
    cat "$folder"/*.cu "$folder"/*.h "tests/$folder"/*.cpp 2>/dev/null | cksum | tr ' ' -
}

# run_checked TARGET NAME: builds the checked program of chapter NAME and runs it; sets
# G_SAFETY.
run_checked() {
    local program status
    if ! BUILDING="the race check of $2" build_targets "$1"; then
        if ! grep -q 'unknown target' "$BUILD_LOG"; then G_SAFETY=unbuilt; fi
        return
    fi
    program=$(find_program "$1" 2>/dev/null) || {
        G_SAFETY=unbuilt
        return
    }
    # Races first; what an access costs is counted for the goals only.
    # [long] marks what needs many threads to be right, not to be safe: the learner need
    # not wait for it. The workbook's own checked tests run it.
    SIMT_CHECK_COUNT=0 run_under_checker "$program" '~[large]~[long]~[fault]~[goal]' |
        tee "$G_SAFETY_LOG" 2>/dev/null |
        show_progress 'checking for races: case' "Checking $2 for races ..."
    status=$?
    case $status in
        0 | 4) G_SAFETY=safe ;;
        "$SAFETY_FOUND") G_SAFETY=unsafe ;;
        124) G_SAFETY=slow ;;
        *) G_SAFETY=broken ;;
    esac
    if [[ $G_SAFETY == safe ]]; then run_goals "$program" "$2"; fi
}

# run_under_checker PROGRAM CASES: the program says after each test case how far it is.
run_under_checker() {
    show_command "$@"
    WB_PROGRESS=1 SIMT_CHECK_TABLE=0 timeout --foreground "$(safety_time_limit)" "$@" \
        2>&1 9>&-
}

# safety_time_limit: --time-limit raises it.
safety_time_limit() {
    echo $((TIME_LIMIT > SAFETY_TIME_LIMIT ? TIME_LIMIT : SAFETY_TIME_LIMIT))
}

# run_goals PROGRAM NAME: the test cases tagged [goal], if there are any. Their failure is
# no failure of the chapter.
run_goals() {
    run_under_checker "$1" '[goal]' | tee -a "$G_SAFETY_LOG" 2>/dev/null |
        show_progress 'counting memory accesses: case' "Counting the memory accesses of $2 ..."
}

# missed_goals: the lines of the log about them.
missed_goals() {
    if [[ $G_SAFETY == safe && -f $G_SAFETY_LOG ]]; then
        sed -n 's/^ *wb| performance goal: //p' "$G_SAFETY_LOG" | relative_paths
    fi
}

# A report of the checker begins with its kind in capitals; other lines with this mark are
# messages of the simulator.
REPORT_START='^==SIMT== [A-Z][A-Z]'

# first_finding: the first report in the log, with the lines that belong to it.
first_finding() {
    local line chapter
    awk -v start="$REPORT_START" '
        $0 ~ start { if (on) exit; on = 1; sub(/^==SIMT== /, ""); print; next }
        on && /^[ \t]/ { print; next }
        on { exit }' "$G_SAFETY_LOG" | relative_paths | while IFS= read -r line; do
        # A chapter that is not written yet explains nothing.
        if [[ $line =~ Explained\ in\ (day[0-9a-z/-]+) ]]; then
            chapter=${BASH_REMATCH[1]}
            [[ -d $chapter ]] || continue
        fi
        printf '%s\n' "$line"
    done
}

# finding_count: how many different reports there are.
finding_count() { grep -c -E "$REPORT_START" "$G_SAFETY_LOG"; }

# unsafe_in_words: "RACY" or "NOT SAFE", by the first report.
unsafe_in_words() {
    if [[ $(first_finding) == RACE* ]]; then echo RACY; else echo 'NOT SAFE'; fi
}

# report_unsafe I: the tests pass, but by luck.
report_unsafe() {
    local more
    verdict "$1" "$YELLOW" "RIGHT, BUT $(unsafe_in_words)"
    say
    say "  All $(count_cases "$G_PASSED") pass, but only because the threads happened to" \
        "run in an order that hides this mistake:" | wrapped
    say
    first_finding | indent | wrapped
    say
    more=$(($(finding_count) - 1))
    if ((more > 0)); then say "  $more more below it ($G_SAFETY_LOG)."; fi
    next_step Edit "${CHAPTER_FILE[$1]}"
    next_step See "./learn xray ${CHAPTER_NAME[$1]}"
    next_step Check "./learn check ${CHAPTER_NAME[$1]}"
}

# report_invalid I: the simulator let something pass that no GPU can run.
report_invalid() {
    verdict "$1" "$RED" "DOES NOT COMPILE FOR A GPU"
    say
    indent <"$G_SAFETY_LOG"
    say
    say "  The simulator runs on the CPU and did not mind; nvcc refuses it."
    next_step Edit "${CHAPTER_FILE[$1]}"
    next_step Check "./learn check ${CHAPTER_NAME[$1]}"
}

# report_safety I: below a pass.
report_safety() {
    case $G_SAFETY in
        safe) say "  Checked: no race, no access out of bounds, no uninitialised read." ;;
        slow) note "  Not checked for races: that took more than $(safety_time_limit)" \
            "seconds ($(longer_time_limit "$1" "$(safety_time_limit)") gives it more)." ;;
        unbuilt | broken)
            note "  Not checked for races. $(full_disk || echo "The checked program could" \
                "not be built or run (./learn -v check shows why).")"
            ;;
    esac
    if [[ -n $G_GOALS ]]; then
        say "  ${YELLOW}Performance goal missed:$PLAIN"
        indent <<<"$G_GOALS"
        next_step See "./learn xray ${CHAPTER_NAME[$1]}"
    fi
}
