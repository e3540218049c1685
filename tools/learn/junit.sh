# CTest's results, machine-readable: `ctest --output-junit` writes XML, and junit_lines
# turns that into lines that awk and read can handle.
# shellcheck shell=bash

# junit_lines FILE: for each test
#   T <tab> name <tab> passed|failed|skipped|notrun <tab> seconds <tab> ctest's reason
#   O <tab> one line of its output        (repeated)
#
# CTest writes one element a line; only <system-out> spans lines.
junit_lines() {
    awk '
        function attribute(line, key,    start, rest) {
            start = index(line, " " key "=\"")
            if (!start) return ""
            rest = substr(line, start + length(key) + 3)
            return decode(substr(rest, 1, index(rest, "\"") - 1))
        }
        function decode(text) {
            gsub(/&lt;/, "<", text)
            gsub(/&gt;/, ">", text)
            gsub(/&quot;/, "\"", text)
            gsub(/&apos;/, "\047", text)
            gsub(/&#9;/, "\t", text)
            gsub(/&amp;/, "\\&", text)
            return text
        }
        function flush_test(    i) {
            if (name == "") return
            printf "T\t%s\t%s\t%s\t%s\n", name, status, seconds, reason
            for (i = 1; i <= lines; i++) printf "O\t%s\n", output[i]
            name = ""
        }
        function add_output(line) { output[++lines] = decode(line) }
        in_output {
            end = index($0, "</system-out>")
            if (end) {
                if (end > 1) add_output(substr($0, 1, end - 1))
                in_output = 0
            } else {
                add_output($0)
            }
            next
        }
        /<testcase / {
            flush_test()
            name = attribute($0, "name")
            seconds = attribute($0, "time")
            reason = ""
            lines = 0
            status = attribute($0, "status")
            status = status == "run" ? "passed" : status == "fail" ? "failed" : "notrun"
        }
        /<failure / { reason = attribute($0, "message"); status = "failed" }
        /<skipped / {
            reason = attribute($0, "message")
            # A test whose program is missing is "skipped" too, but nobody skipped it.
            if (reason ~ /SKIP/) status = "skipped"
        }
        /<system-out>/ {
            rest = substr($0, index($0, "<system-out>") + 12)
            end = index(rest, "</system-out>")
            if (end) {
                if (end > 1) add_output(substr(rest, 1, end - 1))
            } else {
                add_output(rest)
                in_output = 1
            }
        }
        END { flush_test() }' "$1"
}

# junit_count FILE STATUS: how many tests ended so.
junit_count() {
    junit_lines "$1" | awk -F '\t' -v status="$2" \
        '$1 == "T" && $3 == status { n++ } END { print n + 0 }'
}

# junit_names FILE STATUS: their names, one a line.
junit_names() {
    junit_lines "$1" | awk -F '\t' -v status="$2" '$1 == "T" && $3 == status { print $2 }'
}

# junit_output FILE NAME: what one test printed.
junit_output() {
    junit_lines "$1" | awk -F '\t' -v name="$2" '
        $1 == "T" { on = $2 == name; next }
        on { sub(/^O\t/, ""); print }'
}
