# ./learn hint: the next of a chapter's three hints. hints.md holds them under the
# headings "## Hint 1" to "## Hint 3"; which were shown is kept with the progress.
# shellcheck shell=bash

cmd_hint() {
    local i file total shown key
    choose_preset && load_course && select_single "$@" || return
    i=${SELECTED[0]}
    key=$(chapter_key "$i")
    file=${CHAPTER_PATH[$i]}/hints.md
    if [[ ! -f $file ]]; then
        fail "$(chapter_label "$i") has no hints ($file is missing)."
        return
    fi
    total=$(grep -c '^## Hint [0-9]' "$file")
    shown=$(progress_field "$key" 5)
    if ((shown < total)); then shown=$((shown + 1)); fi
    verdict "$i" "$YELLOW" "hint $shown of $total"
    say
    hint_text "$file" "$shown" | indent
    say
    progress_record_hints "$key" "$shown"
    if ((shown < total)); then
        next_step More "./learn hint ${CHAPTER_NAME[$i]}"
    else
        say "  That was the last one; all are in $file."
        next_step Else "./learn solution ${CHAPTER_NAME[$i]} --reveal"
    fi
}

# hint_text FILE N: the section "## Hint N", without its heading and blank ends.
hint_text() {
    awk -v n="$2" '
        /^## / { on = $0 ~ "^## Hint " n "([^0-9]|$)"; next }
        on { text = text $0 "\n" }
        END { sub(/^\n+/, "", text); sub(/\n+$/, "\n", text); printf "%s", text }' "$1"
}
