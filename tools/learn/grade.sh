# Grading one chapter: build its test program, run its cases, and leave the result in
# the G_ variables for report.sh.
# shellcheck shell=bash

G_STATE=''    # passed unsafe invalid unsolved failing nocompile broken full skipped notests
G_PASSED=0    # cases that passed, failed, were skipped
G_FAILED=0
G_SKIPPED=0
G_NOT_RUN=0   # and that were not run, because one before them had no end
G_FIRST=''    # CTest name of the first failing case
G_JUNIT=''    # CTest's results, as XML
G_CTEST_LOG='' # CTest's own output: says "Timeout", "SEGFAULT"
G_WARNINGS='' # what the compiler remarked in the learner's file, when it was compiled

# grade I: grades chapter I and records the result. True when it passed.
grade() {
    local key file=${CHAPTER_FILE[$1]}
    key=$(chapter_key "$1")
    G_PASSED=0 G_FAILED=0 G_SKIPPED=0 G_NOT_RUN=0 G_FIRST='' G_WARNINGS=''
    G_JUNIT=$ROOT/$BUILD_DIR/learn-junit.xml
    G_CTEST_LOG=$PROGRESS_DIR/log/ctest.log
    if [[ ! -f $file ]]; then
        G_STATE=nofile
        return 1
    fi
    if BUILDING=${CHAPTER_NAME[$1]} build_targets "$(chapter_target "$1")"; then
        G_WARNINGS=$(learners_warnings "$file")
        run_cases "$key"
    elif full_disk >/dev/null; then
        G_STATE=full
    elif is_learners_error "$file" "$(first_compile_error "$file")"; then
        G_STATE=nocompile
    else
        G_STATE=broken
    fi
    G_SAFETY='' G_GOALS=''
    if [[ $G_STATE == passed ]]; then
        judge_safety "$1"
        case $G_SAFETY in
            unsafe | invalid) G_STATE=$G_SAFETY ;;
        esac
    fi
    case $G_STATE in
        invalid) progress_record_grade "$key" nocompile ;;
        passed | unsafe | unsolved | failing | nocompile)
            progress_record_grade "$key" "$G_STATE"
            ;;
    esac
    [[ $G_STATE == passed ]]
}

# case_pattern KEY: the regular expression for ctest -R that selects a chapter's cases.
case_pattern() { printf '^%s\\.' "${1//./\\.}"; }

# case_time_limit: the seconds that a single case may take. In the simulator the slowest
# case of a solution takes 3; on a GPU, its first use may take long.
case_time_limit() {
    if ((TIME_LIMIT > 0)); then
        echo "$TIME_LIMIT"
    elif [[ $PRESET == cuda* ]]; then
        echo 120
    else
        echo 20
    fi
}

# longer_time_limit I SECONDS: the command that grades chapter I with a longer limit.
longer_time_limit() {
    printf './learn check %s --time-limit %d' "${CHAPTER_NAME[$1]}" $(($2 * 4))
}

# run_cases KEY: runs the learner's cases of a chapter and sets G_STATE. Neither "no
# tests were found" nor "all were skipped" counts as passed, though CTest ends with 0.
run_cases() {
    local stop=$ROOT/$BUILD_DIR/learn-stop
    rm -f "$G_JUNIT" "$stop"
    # The first case that does not end within the limit leaves the file behind, and those
    # that start later do not run: else a chapter that hangs would take minutes.
    WB_TIME_LIMIT=$(case_time_limit) WB_STOP_FILE=$stop \
        run_tests "$G_CTEST_LOG" --test-dir "$BUILD_DIR" \
        -R "$(case_pattern "$1")" -L '^learner$' -j 2 --no-tests=error \
        --output-junit "$G_JUNIT"
    if [[ ! -f $G_JUNIT ]]; then
        G_STATE=notests
        if full_disk >/dev/null; then G_STATE=full; fi
        return
    fi
    G_PASSED=$(junit_count "$G_JUNIT" passed)
    G_NOT_RUN=$(junit_lines "$G_JUNIT" | grep -c -E "^O.*wb\| not run:")
    G_SKIPPED=$(($(junit_count "$G_JUNIT" skipped) - G_NOT_RUN))
    # A case that could not run at all is not right either.
    G_FAILED=$(($(junit_count "$G_JUNIT" failed) + $(junit_count "$G_JUNIT" notrun)))
    if ((G_FAILED > 0)); then
        choose_first_failing
    elif ((G_NOT_RUN > 0)); then
        # Nothing failed, and yet cases were left out: that is no pass.
        G_STATE=stopped
    elif ((G_PASSED > 0)); then
        G_STATE=passed
    elif ((G_SKIPPED > 0)); then
        G_STATE=skipped
    else
        G_STATE=notests
    fi
}

# choose_first_failing: sets G_FIRST and G_STATE. Where a chapter has several functions, a
# wrong one is reported before those that are not written yet.
choose_first_failing() {
    local name
    G_FIRST='' G_STATE=unsolved
    while IFS= read -r name; do
        [[ -n $G_FIRST ]] || G_FIRST=$name
        if ! junit_output "$G_JUNIT" "$name" | grep 'wb| not solved yet' >/dev/null; then
            G_FIRST=$name G_STATE=failing
            return
        fi
    done < <(
        junit_names "$G_JUNIT" failed
        junit_names "$G_JUNIT" notrun
    )
}

# ending_of_case NAME: how CTest says that it ended, if that tells more than "Failed":
# Timeout, SEGFAULT, ...
ending_of_case() {
    awk -v name=" - $1 (" '{
        start = index($0, name)
        if (!start) next
        rest = substr($0, start + length(name))
        rest = substr(rest, 1, index(rest, ")") - 1)
        if (rest != "Failed") print rest
        exit
    }' "$G_CTEST_LOG"
}
