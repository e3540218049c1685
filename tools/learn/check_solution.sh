# ./learn check --solution: the workbook's own solutions, graded as a learner's file is,
# and by the race and memory checker where there is one. Progress stays as it is.
# shellcheck shell=bash

# cmd_check_solution [CHAPTERS]: without any, the next one's.
cmd_check_solution() {
    local i passed=0 failed=()
    if (($# == 0)); then
        prepare_single || return
    else
        prepare_chapters "$@" || return
    fi
    for i in "${SELECTED[@]}"; do
        if grade_solution "$i"; then
            passed=$((passed + 1))
            verdict "$i" "$GREEN" "passed, $(count_cases "$G_PASSED")$(skipped_in_words)"
        else
            failed+=("$i")
            verdict "$i" "$RED" "$(solution_state_in_words)"
            explain_solution "$i"
        fi
    done
    say
    say "$passed of ${#SELECTED[@]} solutions pass $(device_in_words)."
    ((${#failed[@]} == 0))
}

# grade_solution I: as grade, but of the solution; sets G_STATE, the counts and G_JUNIT.
grade_solution() {
    local key targets checked
    key=$(chapter_key "$1")
    targets=("$(chapter_target "$1")_solution")
    checked=$(chapter_target "$1")_checked_solution  # in the simulator only
    if grep -q "^build $checked:" "$BUILD_DIR/build.ninja"; then targets+=("$checked"); fi
    G_PASSED=0 G_FAILED=0 G_SKIPPED=0 G_STATE=notests
    G_JUNIT=$ROOT/$BUILD_DIR/learn-solution-junit.xml
    rm -f "$G_JUNIT"
    if ! BUILDING="the solution of ${CHAPTER_NAME[$1]}" build_targets "${targets[@]}"
    then
        G_STATE=broken
        return 1
    fi
    run_tests "$PROGRESS_DIR/log/solution.log" --test-dir "$BUILD_DIR" \
        -R "^${key//./\\.}\\.(solution\\..*|checked)\$" -L '^workbook$' \
        -j "$(parallel_jobs)" --no-tests=error --output-junit "$G_JUNIT"
    [[ -f $G_JUNIT ]] || return 1
    G_PASSED=$(junit_count "$G_JUNIT" passed)
    G_SKIPPED=$(junit_count "$G_JUNIT" skipped)
    G_FAILED=$(($(junit_count "$G_JUNIT" failed) + $(junit_count "$G_JUNIT" notrun)))
    if ((G_FAILED > 0)); then
        G_STATE=failing
    elif ((G_PASSED > 0)); then
        G_STATE=passed
    fi
    [[ $G_STATE == passed ]]
}

skipped_in_words() {
    if ((G_SKIPPED > 0)); then printf ', %d skipped' "$G_SKIPPED"; fi
}

solution_state_in_words() {
    case $G_STATE in
        failing) echo "wrong, $G_FAILED of $((G_PASSED + G_FAILED)) cases fail" ;;
        broken) full_disk || echo "could not be built; the log is $BUILD_LOG" ;;
        *) echo 'no test was run' ;;
    esac
}

# explain_solution I: the first failing case, as the test program put it.
explain_solution() {
    local name
    [[ $G_STATE == failing ]] || return
    name=$(junit_names "$G_JUNIT" failed && junit_names "$G_JUNIT" notrun) || return
    name=${name%%$'\n'*}
    say "    $name"
    junit_output "$G_JUNIT" "$name" | telling_lines | relative_paths | indent
}
