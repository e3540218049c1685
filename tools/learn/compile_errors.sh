# From a failed build to what the learner should read: the first error, with their own
# file and line, as g++, clang++ and nvcc put it.
# shellcheck shell=bash

COMPILE_ERROR_LINES=15

# Names that the workbook itself must define: if one of them is undefined, the fault is
# not the learner's.
WORKBOOK_NAMES='^(simt::|wb::|Catch::|cuda|cublas|__)'

# first_compile_error FILE: prints the first error that lies in FILE (else the first one)
# with the lines that belong to it, at most COMPILE_ERROR_LINES.
#
# An error starts at "path:12:5: error:" (g++, clang++), "path(12): error" (nvcc) or a
# linker's "undefined reference"; notes, excerpts and carets follow until the next error
# or warning. An undefined name that is none of the workbook's is the learner's: the
# contract in the chapter's header is theirs to implement.
first_compile_error() {
    build_log_text | awk -v file="$1" -v limit="$COMPILE_ERROR_LINES" \
        -v workbook="$WORKBOOK_NAMES" '
        function is_link_error(line) {
            return line ~ /undefined reference to/ || line ~ /multiple definition of/
        }
        function is_error(line) {
            return line ~ /^[^ ]+:[0-9]+:([0-9]+:)? (fatal )?error:/ ||
                   line ~ /^[^ ]+\([0-9]+\): (catastrophic )?error/ || is_link_error(line)
        }
        function is_boundary(line) {
            return line ~ /^[^ ]+:[0-9]+:([0-9]+:)? warning:/ ||
                   line ~ /^[^ ]+\([0-9]+\): warning/ ||
                   line ~ /^[0-9]+ errors? (generated|detected)/ ||
                   line ~ /^(collect2|compilation terminated|Consider )/ ||
                   line ~ /: in function / || line ~ /^ *$/
        }
        function is_learners(line,    name) {
            if (!is_link_error(line)) return index(line, file) > 0
            name = line
            sub(/.*(undefined reference to|multiple definition of) ./, "", name)
            return name !~ workbook
        }
        is_error($0) { count++; open = 1; sub(/^\/usr\/bin\/ld: /, "") }
        is_boundary($0) && !is_error($0) { open = 0 }
        open {
            if (++length_of[count] <= limit) text[count] = text[count] $0 "\n"
            if (is_learners($0)) mine[count] = 1
        }
        END {
            for (i = 1; i <= count; i++) if (mine[i]) { printf "%s", text[i]; exit }
            if (count) printf "%s", text[1]
        }'
}

# compile_error_count: how many errors the build log has.
compile_error_count() {
    build_log_text | grep -v ^collect2 |
        grep -c -E '(: |catastrophic )error(:| #)|undefined reference to'
}

# is_learners_error FILE ERROR_TEXT: does the error, as first_compile_error found it, lie
# in the learner's file?
is_learners_error() {
    local name
    if [[ $2 == *'undefined reference to'* || $2 == *'multiple definition of'* ]]; then
        name=$(sed -n -E 's/.*(undefined reference to|multiple definition of) .//p' <<<"$2")
        [[ ! $name =~ $WORKBOOK_NAMES ]]
    else
        [[ $2 == *"$1"* ]]
    fi
}

# learners_warnings FILE: the warnings in the learner's file, first lines only.
learners_warnings() {
    build_log_text | grep -F "$1" | grep -E 'warning' | head -n 5
}
