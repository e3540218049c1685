# The end of ./learn verify-gpu: logs in one file, verify.json, the table.
# shellcheck shell=bash

# gather_logs: build, suite and conformance in one file, since eight files are all that
# DIR may hold; each part is kept below the size at which it would no longer travel.
gather_logs() {
    local part
    for part in build ctest conformance; do
        if [[ -f $V_WORK/$part.log ]]; then
            printf '===== %s =====\n' "$part"
            head -c 5000000 "$V_WORK/$part.log"
        fi
    done >"$V_OUT/ctest.log"
}

json_text() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    text=${text//$'\n'/; }
    printf '"%s"' "${text//[[:cntrl:]]/ }"
}

# write_verify_json: what was tested, on what, with what result.
write_verify_json() {
    local part separator=''
    {
        printf '{\n  "date": "%(%Y-%m-%dT%H:%M:%S%z)T",\n' -1
        printf '  "commit": %s,\n' \
            "$(json_text "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)")"
        printf '  "preset": %s,\n' "$(json_text "$PRESET")"
        printf '  "nvcc": %s,\n' "$(json_text "$(nvcc_version)")"
        printf '  "compiler": %s,\n' "$(json_text "$(compiler_version "$(find_compiler)")")"
        printf '  "cmake": %s,\n' "$(json_text "$(cmake_version)")"
        gpu_json
        printf '  "seconds": %d,\n  "parts": {\n' "$SECONDS"
        for part in "${V_PARTS[@]}"; do
            printf '%s    %s: {"result": %s, "detail": %s, "seconds": %d}' "$separator" \
                "$(json_text "$part")" "$(json_text "${V_RESULT[$part]}")" \
                "$(json_text "${V_DETAIL[$part]}")" "${V_SECONDS[$part]}"
            separator=$',\n'
        done
        printf '\n  }\n}\n'
    } >"$V_OUT/verify.json"
}

# gpu_json: the GPU and its state after the run, as nvidia-smi reports it.
gpu_json() {
    local field value fields=(name driver_version memory.total clocks.sm clocks.mem
        clocks.max.sm clocks.max.mem power.limit temperature.gpu ecc.mode.current)
    printf '  "gpu": {'
    for field in "${fields[@]}"; do
        value=$(gpu_query "$field")
        printf '"%s": %s' "$field" "$(json_text "${value:-unknown}")"
        [[ $field == "${fields[-1]}" ]] || printf ', '
    done
    printf '},\n'
}

# verify_table: one line a part, then the verdict. True when every part is ok.
verify_table() {
    local part not_ok=0
    say
    printf '%-18s %-8s %6s  %s\n' part result s detail
    for part in "${V_PARTS[@]}"; do
        printf '%-18s %-8s %6d  %s\n' "$part" "${V_RESULT[$part]}" \
            "${V_SECONDS[$part]}" "${V_DETAIL[$part]}"
        if [[ ${V_RESULT[$part]} != ok ]]; then not_ok=$((not_ok + 1)); fi
    done
    if [[ -s $V_OUT/bench.json ]]; then
        say
        bench_rows "$V_OUT/bench.json"
    fi
    say
    if ((not_ok == 0)); then
        say "All parts ok after $SECONDS s. Results: $V_OUT"
    else
        say "$not_ok parts are not ok after $SECONDS s. Results: $V_OUT"
    fi
    ((not_ok == 0))
}
