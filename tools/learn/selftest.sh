# ./learn test: checks the workbook itself. Every solution passes, every untouched
# starter says what to do, every known-wrong kernel is rejected, and the simulator's and
# ./learn's own tests pass. The learner's own files are not part of it. ./learn test day01
# leaves it at the chapters of one day.
# shellcheck shell=bash

TEST_SHOWN_FAILURES=10 # in full; the rest is in the log

cmd_test() {
    local problem log=$PROGRESS_DIR/log/test.log junit built=1 target=workbook filter=()
    if (($# == 1)) && [[ $1 =~ ^(day0?)?([1-7])$ ]]; then
        target=workbook_day0${BASH_REMATCH[2]}
        filter=(-L "^day0${BASH_REMATCH[2]}\$")
    elif (($# > 0)); then
        fail "./learn test takes a day, not a chapter; to grade one: ./learn check $1"
        return
    fi
    prepare || return
    junit=$ROOT/$BUILD_DIR/test-junit.xml
    if ! BUILDING="the workbook's tests" build_targets "$target" -- -k 0; then
        if problem=$(full_disk); then
            fail "$problem"
            return
        fi
        # The tests that could be built still say something.
        built=0
        report_build_failure '' | indent
        say "  Not everything could be built; the log is $BUILD_LOG"
    fi
    run_workbook_tests "$junit" "$log" "${filter[@]}"
    test_summary "$junit" "$log" && ((built))
}

# run_workbook_tests JUNIT LOG [CTEST ARGS]: everything but the learner's own cases, and
# what .ci/run alone runs, for it takes long.
run_workbook_tests() {
    local junit=$1 log=$2
    shift 2
    rm -f "$junit"
    run_tests "$log" --test-dir "$BUILD_DIR" -LE '^(learner|simt-slow|nvcc)$' \
        -j "$(parallel_jobs)" --no-tests=error --output-on-failure \
        --output-junit "$junit" "$@"
}

# skipped_reasons JUNIT: "<test>: <reason>" for each, as the test program put it.
skipped_reasons() {
    local name reason
    while read -r name; do
        reason=$(junit_output "$1" "$name" | sed -n "s/^ *wb| SKIPPED: //p" | head -n 1)
        say "$name${reason:+: $reason}"
    done < <(junit_names "$1" skipped)
}

# telling_lines: of a failed test's output the last 20 lines, and of those before them
# the first few that speak of a failure.
telling_lines() {
    awk '
        { line[NR] = $0 }
        END {
            last = NR > 20 ? NR - 19 : 1
            for (i = 1; i < last; i++) {
                if (line[i] ~ /FAIL|WRONG|failed|error:|wb\|/ && ++shown <= 8) print line[i]
            }
            if (shown) print "..."
            for (i = last; i <= NR; i++) print line[i]
        }'
}

# test_summary JUNIT LOG: the failures, then "N passed, N failed" as the last line. True
# when at least one test passed and none failed: a run that tested nothing is no success.
test_summary() {
    local junit=$1 log=$2 failures passed=0 skipped=0 name
    if [[ -f $junit ]]; then
        mapfile -t failures < <(junit_names "$junit" failed && junit_names "$junit" notrun)
        passed=$(junit_count "$junit" passed)
        skipped=$(junit_count "$junit" skipped)
    else
        failures=("ctest itself, see below")
        tail -n 5 "$log" | indent
    fi
    for name in "${failures[@]:0:TEST_SHOWN_FAILURES}"; do
        say "${RED}FAILED $name$PLAIN"
        if [[ -f $junit ]]; then
            junit_output "$junit" "$name" | telling_lines | relative_paths | indent
        fi
    done
    if ((${#failures[@]} > TEST_SHOWN_FAILURES)); then
        say "and $((${#failures[@]} - TEST_SHOWN_FAILURES)) more."
    fi
    if ((${#failures[@]} > 0)); then say "The whole log: $log"; fi
    if ((skipped > 0)); then
        say "$skipped skipped:"
        skipped_reasons "$junit" | indent
    fi
    say "$passed passed, ${#failures[@]} failed"
    ((passed > 0 && ${#failures[@]} == 0))
}
