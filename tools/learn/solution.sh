# ./learn solution: after a chapter has passed (or with --reveal) shows where its
# solution is; --copy puts it into the learner's file, after a backup.
# shellcheck shell=bash

cmd_solution() {
    local argument names=() reveal=0 copy=0 i file
    for argument in "$@"; do
        case $argument in
            --reveal) reveal=1 ;;
            --copy) copy=1 ;;
            -*)
                fail "./learn solution knows --reveal and --copy, not '$argument'."
                return
                ;;
            *) names+=("$argument") ;;
        esac
    done
    choose_preset && load_course && select_single "${names[@]}" || return
    i=${SELECTED[0]}
    file=solutions/${CHAPTER_FILE[$i]}
    if ! has_passed "$(chapter_key "$i")" && ((!reveal)); then
        say "$(chapter_label "$i") has not passed yet: try ./learn hint" \
            "${CHAPTER_NAME[$i]} first."
        say "To see the solution all the same:" \
            "./learn solution ${CHAPTER_NAME[$i]} --reveal"
        return 1
    fi
    if [[ ! -f $file ]]; then
        fail "The solution $file is missing: this checkout is incomplete."
        return
    fi
    if ((copy)); then
        if cmp -s "$file" "${CHAPTER_FILE[$i]}"; then
            say "${CHAPTER_FILE[$i]} is the solution already."
            return 0
        fi
        replace_file "$i" "$file" || return
        say "${CHAPTER_FILE[$i]} is now the solution."
        next_step Check "./learn check ${CHAPTER_NAME[$i]}"
        return 0
    fi
    say "$file"
    next_step Compare "diff ${CHAPTER_FILE[$i]} $file"
    if ((reveal)); then reveal=' --reveal'; else reveal=''; fi
    next_step Use "./learn solution ${CHAPTER_NAME[$i]}$reveal --copy"
}
