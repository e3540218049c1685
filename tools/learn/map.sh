# ./learn map: progress over all seven days.
# shellcheck shell=bash

cmd_map() {
    local passed=0 i day number next
    choose_preset && load_course || return
    for i in "${!CHAPTER_NAME[@]}"; do
        if has_passed "$(chapter_key "$i")"; then passed=$((passed + 1)); fi
    done
    say "${BOLD}Warpbook: $passed of ${#CHAPTER_NAME[@]} chapters passed$PLAIN"
    next=$(first_unpassed_chapter) || next=''
    for ((number = 1; number < ${#DAY_TITLES[@]}; number++)); do
        printf -v day 'day%02d' "$number"
        if map_day_exists "$day"; then
            say
            say "$BOLD$day$PLAIN ${DAY_TITLES[$number]}"
            map_day "$day" "$next"
        else
            note "$day ${DAY_TITLES[$number]} (not written yet)"
        fi
    done
}

map_day_exists() {
    local i
    for i in "${!CHAPTER_DAY[@]}"; do
        if [[ ${CHAPTER_DAY[$i]} == "$1" ]]; then return 0; fi
    done
    return 1
}

# map_day DAY NEXT: one line per chapter of the day.
map_day() {
    local i mark words colour line
    for i in "${!CHAPTER_NAME[@]}"; do
        [[ ${CHAPTER_DAY[$i]} == "$1" ]] || continue
        map_chapter "$i"
        if [[ $i == "$2" ]]; then words="${words:+$words, }next: ./learn"; fi
        printf -v line "  [%s] %-26s %s" "$mark" "${CHAPTER_PATH[$i]##*/}" "$words"
        # Without the blanks at the end, when there are no words.
        printf "%s%s%s\n" "$colour" "${line%"${line##*[! ]}"}" "$PLAIN"
    done
}

# map_chapter I: sets the caller's mark, words and colour.
map_chapter() {
    local key grade passed hints
    key=$(chapter_key "$1")
    grade=$(progress_field "$key" 2)
    passed=$(progress_field "$key" 4)
    hints=$(progress_field "$key" 5)
    mark=' ' words='' colour=''
    if [[ $passed != - ]]; then
        mark=x words="passed $passed" colour=$GREEN
        if [[ $grade != passed ]]; then words+=', changed since: not passing now'; fi
    elif [[ $grade == failing || $grade == unsafe || $grade == nocompile ]]; then
        mark=~ words='started' colour=$YELLOW
    fi
    case $hints in
        0) ;;
        1) words+="${words:+, }1 hint" ;;
        *) words+="${words:+, }$hints hints" ;;
    esac
}
