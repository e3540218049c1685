# ./learn verify-gpu: everything that can be known about the workbook on a machine with
# a GPU, in one unattended run: build, suite through nvcc, conformance, solutions under
# compute-sanitizer, benchmarks. A short table comes last; DIR gets at most eight files.
#
# What could not run is reported as NOT RUN and makes the run fail: only what was seen
# passing passes.
# shellcheck shell=bash

V_OUT=''         # the folder for the results
V_PARTS=()       # in the order of the table
declare -A V_RESULT=() V_DETAIL=() V_SECONDS=()
V_STARTED=0      # when the current part began
V_WORK=''        # scratch: one log per program

cmd_verify_gpu() {
    local only='' chapters=()
    verify_arguments "$@" || return
    mkdir -p "$V_OUT" || return
    V_OUT=$(realpath "$V_OUT")
    # The GPU is what this is about: no falling back to the simulator.
    if [[ -z ${WB_PRESET:-} ]]; then DEVICE=gpu; fi
    prepare || return
    if ((${#chapters[@]} > 0)); then
        select_chapters "${chapters[@]}" || return
    else
        SELECTED=("${!CHAPTER_NAME[@]}")
    fi
    V_WORK=$ROOT/$BUILD_DIR/verify
    rm -rf "$V_WORK"
    mkdir -p "$V_WORK" || return

    # Nothing can be tested that has not been built, so building is part of every run.
    verify_build
    if wants_part test; then
        verify_suite
        verify_conformance
    fi
    if wants_part sanitize; then verify_sanitize; fi
    if wants_part bench; then verify_bench; fi
    gather_logs
    write_verify_json
    verify_table
}

# verify_arguments ARGS: sets V_OUT and the caller's only and chapters.
verify_arguments() {
    while (($# > 0)); do
        case $1 in
            --out | --only | --chapters)
                if (($# < 2)); then
                    fail "$1 needs a value; see ./learn verify-gpu -h."
                    return
                fi
                case $1 in
                    --out) V_OUT=$(cd "$INVOKED_FROM" && realpath -m -- "$2") ;;
                    --only) only=$2 ;;
                    --chapters) IFS=, read -r -a chapters <<<"$2" ;;
                esac
                shift
                ;;
            *)
                fail "./learn verify-gpu does not know '$1'; see ./learn verify-gpu -h."
                return
                ;;
        esac
        shift
    done
    if [[ -z $V_OUT ]]; then
        fail "./learn verify-gpu needs a folder for its results: --out DIR"
        return
    fi
    local part='(build|test|sanitize|bench)'
    if [[ ! $only =~ ^($part(,$part)*)?$ ]]; then
        fail "--only takes build, test, sanitize or bench, or several with commas, not" \
            "'$only'."
    fi
}

# wants_part PART: is it one of the caller's `only`, or are all wanted?
wants_part() { [[ -z $only || ,$only, == *",$1,"* ]]; }

begin_part() {
    V_STARTED=$SECONDS
    note "== $1 =="
}

# end_part NAME ok|FAILED|'NOT RUN' DETAIL: one row of the table.
end_part() {
    V_PARTS+=("$1")
    V_RESULT[$1]=$2
    V_DETAIL[$1]=$3
    V_SECONDS[$1]=$((SECONDS - V_STARTED))
    say "$1: $2, $3"
}

verify_build() {
    local targets=(workbook)
    begin_part build
    if has_target conformance; then targets+=(conformance); fi
    if BUILDING='the whole workbook' build_targets "${targets[@]}" -- -k 0; then
        end_part build ok "nvcc $(nvcc_version), ${#CHAPTER_NAME[@]} chapters"
    else
        report_build_failure '' | indent
        end_part build FAILED "see $BUILD_LOG"
    fi
    cp "$BUILD_LOG" "$V_WORK/build.log"
}

# Not grep -q, here and elsewhere: it would leave early, and what writes to it would fail.
has_target() {
    cmake --build "$BUILD_DIR" --target help 2>/dev/null | grep "^$1: " >/dev/null
}

nvcc_version() { nvcc_release "${CUDACXX:-nvcc}"; }

# The whole suite. A skip counts as a failure, unless the test names the architecture it
# would need: a suite that skips everything must not look green.
verify_suite() {
    local junit=$V_OUT/junit.xml passed failed skipped name unexplained=0
    begin_part suite
    # The results travel: a test that fails in thousands of lines must not fill them.
    run_workbook_tests "$junit" "$V_WORK/ctest.log" --test-output-size-failed 20000
    if [[ ! -f $junit ]]; then
        tail -n 3 "$V_WORK/ctest.log" | indent
        end_part suite FAILED "CTest ran no tests"
        return
    fi
    passed=$(junit_count "$junit" passed)
    failed=$(($(junit_count "$junit" failed) + $(junit_count "$junit" notrun)))
    skipped=$(junit_count "$junit" skipped)
    while read -r name; do
        junit_output "$junit" "$name" | grep 'sm_[0-9]' >/dev/null ||
            unexplained=$((unexplained + 1))
    done < <(junit_names "$junit" skipped)
    test_summary "$junit" "$V_WORK/ctest.log"
    if ((passed > 0 && failed == 0 && unexplained == 0)); then
        end_part suite ok "$passed passed, 0 failed, $skipped skipped"
    else
        end_part suite FAILED \
            "$passed passed, $failed failed, $skipped skipped ($unexplained without cause)"
    fi
}

# The simulator's conformance program, compiled by nvcc: the same answers on a GPU.
verify_conformance() {
    local program log=$V_WORK/conformance.log status last
    begin_part conformance
    if ! has_target conformance || ! program=$(find_program conformance 2>/dev/null); then
        end_part conformance 'NOT RUN' "there is no program 'conformance' in this build"
        return
    fi
    run_logged "$log" timeout 120 "$program"
    status=$?
    last=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if ((status == 0)) && [[ $last =~ ^[1-9][0-9]*\ passed,\ 0\ failed ]]; then
        end_part conformance ok "$last"
    else
        tail -n 15 "$log" | indent
        end_part conformance FAILED "${last:-no summary}, exit status $status"
    fi
}
