# ./learn dev check: for those who write chapters: does every chapter have all its parts,
# and do they belong together? These are the tests that CTest labels `dev`, quick ones;
# ./learn test runs them too, with everything that needs compiling.
# shellcheck shell=bash

cmd_dev() {
    local junit log=$PROGRESS_DIR/log/dev.log
    if [[ ${1:-} != check || $# -ne 1 ]]; then
        fail "./learn dev knows one thing: ./learn dev check"
        return
    fi
    prepare || return
    if ! BUILDING='the starters' build_targets starters; then
        report_build_failure '' | indent
        return 1
    fi
    junit=$ROOT/$BUILD_DIR/dev-junit.xml
    rm -f "$junit"
    run_tests "$log" --test-dir "$BUILD_DIR" -L '^dev$' \
        -j "$(parallel_jobs)" --no-tests=error --output-on-failure \
        --output-junit "$junit"
    test_summary "$junit" "$log"
}
