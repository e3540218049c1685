#!/bin/bash
# The table of the README from planted.tsv: how many bugs of each kind a mode finds.
#
#     summary.sh [README]     with a file: fails unless the file contains the table
set -u

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
table=$(awk -F'\t' '
    NR == 1 {
        head = "| planted bugs |"; rule = "| --- |"
        for (i = 3; i <= NF; ++i) { head = head " " $i " |"; rule = rule " --- |" }
        columns = NF
        print head; print rule
        next
    }
    {
        kind = $2 == "none" ? "correct programs blamed" : $2
        if (!(kind in total)) order[++kinds] = kind
        ++total[kind]
        for (i = 3; i <= NF; ++i)
            if ($i == "found" || $i == "FALSE ALARM") ++found[kind, i]
    }
    END {
        for (k = 1; k <= kinds; ++k)
            if (order[k] !~ /^correct/) print row(order[k])
        print row("correct programs blamed")
    }
    function row(kind,    i, line) {
        line = "| " kind " (" total[kind] ") |"
        for (i = 3; i <= columns; ++i) line = line " " found[kind, i] + 0 " |"
        return line
    }' "$here/planted.tsv")
if (($# == 0)); then
    echo "$table"
    exit
fi
[[ $(<"$1") == *"$table"* ]] && exit
echo "$1 lacks this table:"
echo "$table"
exit 1
