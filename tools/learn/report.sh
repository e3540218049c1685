# What the learner reads after a grade: the verdict first, then the first thing to look
# at, then what to do next.
# shellcheck shell=bash

# Without these words a long failure scrolls the verdict off a small terminal.
REPORT_LINES=30

# report I: the whole report on the chapter that grade() has just graded.
report() {
    case $G_STATE in
        passed) report_passed "$1" ;;
        unsafe) report_unsafe "$1" ;;
        invalid) report_invalid "$1" ;;
        unsolved) report_unsolved "$1" ;;
        failing) report_failing "$1" ;;
        nocompile) report_nocompile "$1" ;;
        *) report_not_graded "$1" ;;
    esac
}

# verdict I COLOUR WORDS: the headline.
verdict() {
    printf '%s%s: %s%s%s\n' "$BOLD" "$(chapter_label "$1")" "$2" "$3" "$PLAIN"
}

report_passed() {
    verdict "$1" "$GREEN" "PASSED, all $(count_cases "$G_PASSED") $(device_in_words)"
    if ((G_SKIPPED > 0)); then
        say "  $(count_cases "$G_SKIPPED") skipped: this device cannot run them."
    fi
    report_safety "$1"
    report_warnings
}

report_unsolved() {
    verdict "$1" "$YELLOW" "NOT SOLVED YET"
    # Several TODOs in one file: naming the file once is enough.
    junit_output "$G_JUNIT" "$G_FIRST" | learners_lines |
        sed "s|, ${CHAPTER_FILE[$1]}:|, |g" | indent
    next_step Read "${CHAPTER_PATH[$1]}/lesson.md"
    next_step Edit "${CHAPTER_FILE[$1]}"
    next_step Check "./learn check ${CHAPTER_NAME[$1]}"
    next_step Stuck? "./learn hint ${CHAPTER_NAME[$1]}"
}

report_failing() {
    local total=$((G_PASSED + G_FAILED + G_NOT_RUN))
    verdict "$1" "$RED" \
        "NOT RIGHT YET, $G_FAILED of $(count_cases "$total") fail $(device_in_words)"
    say
    report_case "$1"
    report_other_cases
    report_warnings
    next_step Edit "${CHAPTER_FILE[$1]}"
    next_step Check "./learn check ${CHAPTER_NAME[$1]}"
    next_step Stuck? "./learn hint ${CHAPTER_NAME[$1]}"
    show_command ctest --test-dir "$BUILD_DIR" --output-on-failure \
        -R "^$(escape_regex "$G_FIRST")\$"
}

# report_case I: the first failing case in full.
report_case() {
    local text ending seconds
    say "  ${BOLD}First failing case: ${G_FIRST#"$(chapter_key "$1")."}$PLAIN"
    text=$(junit_output "$G_JUNIT" "$G_FIRST" | learners_lines)
    ending=$(ending_of_case "$G_FIRST")
    case $ending in
        Timeout) report_hang "$1" ;;
        SEGFAULT) say "    The program crashed: a pointer leads outside any allocation." ;;
        '') ;;
        *) say "    The program ended early: $ending." ;;
    esac
    seconds=$(sed -n 's/^did not end within \([0-9]*\) seconds$/\1/p' <<<"$text")
    if [[ -n $seconds ]]; then
        report_hang "$1" "$seconds"
        text=$(grep -v '^did not end within' <<<"$text")
    elif [[ -z $text ]]; then
        # No words of ours: the test program's own are better than none.
        text=$(junit_output "$G_JUNIT" "$G_FIRST" | tail -n 15)
    fi
    if [[ -n $text ]]; then head -n "$REPORT_LINES" <<<"$text" | indent; fi
    if ((VERBOSE)); then
        note "  Everything that the test program printed:"
        junit_output "$G_JUNIT" "$G_FIRST" | indent
    fi
    say
}

# report_hang I [SECONDS]: a case that was ended by force, after so long if that is known.
report_hang() {
    local limit
    limit=$(case_time_limit)
    say "    It did not end within ${2:-the limit of $limit} seconds: is there a loop that" \
        "never ends, on the host or in a kernel, or a barrier that some threads never" \
        "reach?" | wrapped
    say "    If it only needs longer: $(longer_time_limit "$1" "${2:-$limit}")"
}

report_other_cases() {
    local others
    mapfile -t others < <(junit_names "$G_JUNIT" failed | grep -v -x -F "$G_FIRST")
    if ((${#others[@]} > 0)); then
        say "  Also failing:"
        printf '    %s\n' "${others[@]:0:5}" | sed -E 's/day[0-9]+\.[A-Za-z0-9_]+\.//'
        if ((${#others[@]} > 5)); then say "    and $((${#others[@]} - 5)) more"; fi
    fi
    if ((G_PASSED > 0)); then say "  $(count_cases "$G_PASSED") pass."; fi
    if ((G_NOT_RUN > 0)); then
        say "  Not run, because this one took so long: $(count_cases "$G_NOT_RUN")."
    fi
    say
}

report_warnings() {
    if [[ -n $G_WARNINGS ]]; then
        say "  The compiler warns:"
        indent <<<"$G_WARNINGS"
        say
    fi
}

report_nocompile() {
    local count
    count=$(compile_error_count)
    verdict "$1" "$RED" "DOES NOT COMPILE"
    say
    first_compile_error "${CHAPTER_FILE[$1]}" | indent
    say
    if grep -q 'undefined reference to' "$BUILD_LOG"; then
        say "  A function that the chapter's header declares is not defined, or is" \
            "defined with other parameters."
    fi
    if ((count > 1)); then
        say "  $((count - 1)) more below it; they often vanish with the first one." \
            "(All: $BUILD_LOG)"
    fi
    next_step Edit "${CHAPTER_FILE[$1]}"
    next_step Check "./learn check ${CHAPTER_NAME[$1]}"
}

# Nothing was graded, and that is not the learner's fault, or hardly.
report_not_graded() {
    case $G_STATE in
        nofile)
            verdict "$1" "$RED" "THE FILE IS MISSING"
            say "  ${CHAPTER_FILE[$1]} is not there. Get the starter back with:"
            next_step Restore "./learn reset ${CHAPTER_NAME[$1]}"
            ;;
        broken)
            verdict "$1" "$RED" "COULD NOT BE BUILT, and the fault is not in your file"
            report_build_failure "${CHAPTER_FILE[$1]}" | indent
            if disk_problem; then return; fi
            say "  The whole log: $BUILD_LOG. ./learn doctor checks the tools."
            ;;
        full)
            verdict "$1" "$RED" "NOT GRADED"
            say "  $(full_disk || echo "The disk was full: run the same command again.")"
            ;;
        stopped)
            verdict "$1" "$RED" "NOT GRADED: $(count_cases "$G_NOT_RUN") did not run"
            say "  Something stopped them, though no case failed. Run it again; if it stays" \
                "so, look for what your file writes to disk."
            ;;
        skipped)
            verdict "$1" "$YELLOW" "NOT GRADED: this device cannot run it"
            junit_output "$G_JUNIT" "$(junit_names "$G_JUNIT" skipped | head -n 1)" |
                learners_lines | indent
            ;;
        *)
            verdict "$1" "$RED" "NOT GRADED: CTest found no test of this chapter"
            tail -n 3 "$G_CTEST_LOG" | indent
            say "  Try: cmake --preset $PRESET, then ./learn check ${CHAPTER_NAME[$1]}"
            ;;
    esac
}

# report_build_failure FILE: the first error of a compiler; if none spoke, what the build
# tool said last.
report_build_failure() {
    local text
    text=$(first_compile_error "$1")
    if [[ -n $text ]]; then
        say "$text"
    else
        tail -n 5 "$BUILD_LOG" | relative_paths
    fi
}

# learners_lines: of a test program's output, the lines meant for the learner: those
# that begin with "wb| ", and the simulator's fault reports with the indented lines that
# continue them.
learners_lines() {
    awk '
        function flush_fault() { if (fault != "") print fault; fault = "" }
        /^ *wb\| ?/ { flush_fault(); sub(/^ *wb\| ?/, ""); print; next }
        /^ *==SIMT== ?/ {
            flush_fault()
            sub(/^ *==SIMT== ?/, "")
            fault = "simulator: " $0
            next
        }
        # Who waits for what in a deadlock: each on a line of its own.
        fault != "" && /^ +([0-9]+ threads|the mbarrier|Look at|Every) / { fault = fault "\n  " }
        fault != "" && /^    / { sub(/^ +/, " "); fault = fault $0; next }
        { flush_fault() }
        END { flush_fault() }' | relative_paths | wrapped
}

count_cases() {
    if (($1 == 1)); then printf '1 case'; else printf '%s cases' "$1"; fi
}

# escape_regex TEXT: TEXT as a regular expression that matches just it.
escape_regex() { printf '%s' "$1" | sed 's/[][\.*^$+?(){}|]/\\&/g'; }
