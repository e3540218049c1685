# The part of ./learn verify-gpu that measures.
# shellcheck shell=bash

BENCH_SECONDS=120 # for one chapter
PEERS_SECONDS=300 # for PyTorch on all sizes of a day

# verify_bench: each chapter's benchmark, one at a time and with nothing beside it; each
# merges its rows into the one file bench.json.
verify_bench() {
    local i good=0 bad=()
    begin_part bench
    rm -f "$V_OUT/bench.json"
    for i in "${SELECTED[@]}"; do
        if bench_chapter "$i"; then
            good=$((good + 1))
        else
            bad+=("$(chapter_key "$i")")
        fi
    done
    bench_peers
    if ((${#bad[@]} == 0)); then
        end_part bench ok "$good programs"
    else
        end_part bench FAILED "$good programs; without a result: ${bad[*]}"
    fi
}

# bench_chapter I: true when its benchmark ran and added to the results.
bench_chapter() {
    local target program before log=$V_WORK/bench.$1.log json=$V_OUT/bench.json
    target=$(chapter_target "$1")_bench
    if ! program=$(find_program "$target" 2>/dev/null); then
        say "  there is no program $target"
        return 1
    fi
    before=$(cksum "$json" 2>/dev/null)
    if run_logged "$log" timeout "$BENCH_SECONDS" "$program" --json "$json" &&
        [[ -s $json && $(cksum "$json") != "$before" ]]; then
        indent <"$log"
    else
        tail -n 5 "$log" | indent
        return 1
    fi
}

# bench_peers: what PyTorch makes of the same sizes, for days that have a script for it.
# Nobody needs PyTorch; without it, the script says so, and the run is as good as before.
bench_peers() {
    local i script seen='' log
    for i in "${SELECTED[@]}"; do
        script=tests/${CHAPTER_PATH[i]%%/*}/torch_peers.py
        if [[ $seen == *"|$script|"* || ! -f $script ]]; then continue; fi
        seen+="|$script|"
        if ! command -v python3 >/dev/null; then
            say '  PyTorch is not measured: there is no python3'
            return
        fi
        log=$V_WORK/bench.peers.${CHAPTER_DAY[i]}.log
        run_logged "$log" timeout "$PEERS_SECONDS" \
            python3 "$script" --json "$V_OUT/bench.json" ||
            say "  $script ended with $?"
        indent <"$log"
    done
}

# bench_rows FILE: of each exercise and rung the row of the largest size, which comes
# last: "vector_add_v1  n = 268435456  2876.1 GB/s  96.8 %". The benchmark writes each
# row of its JSON on a line of its own.
bench_rows() {
    awk '
        function field(key,    start, rest) {
            start = index($0, "\"" key "\":")
            if (!start) return ""
            rest = substr($0, start + length(key) + 3)
            sub(/^ */, "", rest)
            if (rest ~ /^"/) {
                rest = substr(rest, 2)
                return substr(rest, 1, index(rest, "\"") - 1)
            }
            sub(/[,}].*/, "", rest)
            return rest
        }
        /"exercise":/ && /"rung":/ {
            rung = field("exercise") "  " field("rung")
            if (!(rung in text)) order[++count] = rung
            speed = field("gbps") != "" ? field("gbps") " GB/s" : field("tflops") " TFLOP/s"
            percent = field("percent")
            split(speed, parts, " ")
            text[rung] = sprintf("%-24s %-26s %-18s %8.1f %-7s %s", field("exercise"),
                field("rung"), field("size"), parts[1], parts[2],
                percent == "null" || percent == "" ? "" : sprintf("%5.1f %%", percent))
        }
        END { for (i = 1; i <= count; i++) print text[order[i]] }' "$1"
}
