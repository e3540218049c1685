# The part of ./learn verify-gpu that runs every solution's test program under
# compute-sanitizer's four tools. Small sizes only ("~[large]"): the tools are slow, and
# an error that needs a large size is rare.
# shellcheck shell=bash

SANITIZER_TOOLS=(memcheck racecheck initcheck synccheck)
SANITIZER_JOBS=8      # each holds a CUDA context of its own
SANITIZER_SECONDS=120 # for one program under one tool
SANITIZER_FILTER='~[large]~[fault]~[serial]~[goal]'

verify_sanitize() {
    local tool sanitizer
    if ! sanitizer=$(find_sanitizer); then
        for tool in "${SANITIZER_TOOLS[@]}"; do
            begin_part "$tool"
            end_part "$tool" 'NOT RUN' "compute-sanitizer was not found"
        done
        return
    fi
    begin_part "compute-sanitizer"
    sanitize_all "$sanitizer"
    for tool in "${SANITIZER_TOOLS[@]}"; do sanitizer_result "$tool"; done
}

find_sanitizer() {
    local toolkit
    command -v compute-sanitizer && return
    toolkit=$(dirname "$(readlink -f "$(find_nvcc)")")
    command -v "$toolkit/compute-sanitizer" ||
        command -v "$toolkit/../compute-sanitizer/compute-sanitizer"
}

# sanitize_all SANITIZER: every tool on every selected chapter, several at a time.
sanitize_all() {
    local tool i running=0
    for tool in "${SANITIZER_TOOLS[@]}"; do
        for i in "${SELECTED[@]}"; do
            if ((running >= SANITIZER_JOBS)); then
                wait -n
                running=$((running - 1))
            fi
            sanitize_one "$1" "$tool" "$(chapter_target "$i")_solution" &
            running=$((running + 1))
        done
    done
    wait
}

# sanitize_one SANITIZER TOOL TARGET: leaves TOOL.TARGET.{log,status} in V_WORK. The
# status is "ok" only when the tool said that it found nothing and the tests passed.
sanitize_one() {
    local base=$V_WORK/$2.$3 program status
    if ! program=$(find_program "$3" 2>"$base.log"); then
        echo 'no program' >"$base.status"
        return
    fi
    # API errors that a test provokes on purpose are not what is looked for.
    local options=(--tool "$2" --error-exitcode 86)
    if [[ $2 == memcheck ]]; then options+=(--report-api-errors no); fi
    show_command WB_CANARIES=0 "$1" "${options[@]}" "$program" "$SANITIZER_FILTER"
    # Our own canaries off: the tool sees the true bounds, and does not watch us poison.
    WB_CANARIES=0 timeout "$SANITIZER_SECONDS" \
        "$1" "${options[@]}" "$program" "$SANITIZER_FILTER" >"$base.log" 2>&1
    status=$?
    if ((status == 124)); then
        echo "not done after $SANITIZER_SECONDS s"
    elif ! grep -q -E '(ERROR|RACECHECK) SUMMARY: 0 (errors|hazards)' "$base.log"; then
        grep -E '(ERROR|RACECHECK) SUMMARY' "$base.log" || echo 'no summary'
    elif ((status != 0)); then
        echo "the tests fail under it (exit status $status)"
    elif ! grep -q -E '[1-9][0-9]* test case' "$base.log"; then
        echo "no test case ran"
    else
        echo ok
    fi >"$base.status"
}

# sanitizer_result TOOL: gathers the logs into one file and adds a row to the table.
sanitizer_result() {
    local i target base good=0 bad=() limit=$((12000000 / ${#SELECTED[@]}))
    for i in "${SELECTED[@]}"; do
        target=$(chapter_target "$i")_solution
        base=$V_WORK/$1.$target
        {
            echo "===== $1 $target: $(<"$base.status")"
            head -c "$limit" "$base.log"
        } >>"$V_OUT/sanitizer-$1.log"
        if [[ $(<"$base.status") == ok ]]; then
            good=$((good + 1))
        else
            bad+=("${target%_solution}: $(<"$base.status")")
        fi
    done
    if ((${#bad[@]} == 0)); then
        end_part "$1" ok "$good of ${#SELECTED[@]} programs clean"
    else
        end_part "$1" FAILED "$(printf '%s; ' "${bad[@]}")"
    fi
}
