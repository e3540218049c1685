# ./learn dev check: for those who write chapters. Every chapter has all its parts, the
# starter follows from the solution, compiles without warnings and says what to do, and
# the lesson's code regions exist. These are the tests that CTest labels `dev`.
# shellcheck shell=bash

cmd_dev() {
    local junit log=$PROGRESS_DIR/log/dev.log
    if [[ ${1:-} != check || $# -ne 1 ]]; then
        fail "./learn dev knows one thing: ./learn dev check"
        return
    fi
    prepare || return
    build_targets workbook -- -k 0 || report_build_failure '' | indent
    junit=$ROOT/$BUILD_DIR/dev-junit.xml
    rm -f "$junit"
    run_tests "$log" --test-dir "$BUILD_DIR" -L '^dev$' \
        -j "$(parallel_jobs)" --no-tests=error --output-on-failure \
        --output-junit "$junit"
    test_summary "$junit" "$log"
}
