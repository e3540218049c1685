# From what the learner typed to chapters. Accepted for chapter 2 of day 1:
#   vector_add  vector-add  02-vector-add  day01/02-vector-add  1/vector_add
#   day01.vector_add (as ctest says it)  a path to its folder or to one of its files
# and for all of day 1:  day01  day1  1  01  day01-basics
# shellcheck shell=bash

SELECTED=() # indices into the CHAPTER_ arrays; filled by select_chapters

# select_chapters ARGS: false, with one sentence, when an argument names nothing.
select_chapters() {
    local argument
    SELECTED=()
    for argument in "$@"; do
        select_one "$argument" || return
    done
}

# select_single [ARG]: exactly one chapter; without an argument the next one.
# SELECTED[0] is the answer.
select_single() {
    if (($# > 1)); then
        fail "One chapter at a time, please: $*"
        return
    fi
    if (($# == 0)); then
        SELECTED=("$(first_unpassed_chapter || echo $((${#CHAPTER_NAME[@]} - 1)))")
        return 0
    fi
    select_chapters "$1" || return
    if ((${#SELECTED[@]} != 1)); then
        fail "'$1' is a whole day; name one of its chapters, for example" \
            "${CHAPTER_NAME[${SELECTED[0]}]}."
    fi
}

# prepare_single [ARG] and prepare_chapters ARGS: select, and have the build folder
# configured. Selecting goes first, so that a slip is answered at once; and again after
# configuring, which may have changed the list of chapters.
prepare_single() {
    choose_preset && load_course && select_single "$@" && prepare && select_single "$@"
}

prepare_chapters() {
    choose_preset && load_course && select_chapters "$@" && prepare &&
        select_chapters "$@"
}

select_one() {
    local typed=$1 wanted
    wanted=$(path_in_checkout "$typed")
    if [[ $wanted =~ ^(day0*([0-9]{1,3})(-[a-z-]*)?|0*([0-9]{1,3}))$ ]]; then
        select_day "$typed" "${BASH_REMATCH[2]}${BASH_REMATCH[4]}"
        return
    fi
    local found=() i
    for i in "${!CHAPTER_NAME[@]}"; do
        if names_chapter "$wanted" "$i"; then found+=("$i"); fi
    done
    case ${#found[@]} in
        0) unknown_chapter "$typed" ;;
        1) SELECTED+=("${found[0]}") ;;
        *) ambiguous_chapter "$typed" "${found[@]}" ;;
    esac
}

# path_in_checkout TYPED: a path becomes its chapter's folder relative to the checkout;
# anything else stays as typed.
path_in_checkout() {
    local wanted=${1%/} full
    if [[ $wanted == */* || $wanted == . || $wanted == *.cu ]]; then
        full=$(cd "$INVOKED_FROM" && realpath -e -q -- "$wanted") ||
            full=$(realpath -e -q -- "$wanted") || full=$wanted
        if [[ -f $full ]]; then full=${full%/*}; fi
        wanted=${full#"$ROOT"/}
        wanted=${wanted#solutions/}
        wanted=${wanted#tests/}
    fi
    printf '%s' "$wanted"
}

# names_chapter WANTED I: does the text name chapter I?
names_chapter() {
    local wanted=${1//-/_} day='' number=${CHAPTER_PATH[$2]##*/}
    wanted=${wanted%.cu}
    local folder=${number//-/_}
    if [[ $wanted =~ ^(day0*([0-9]{1,3})(_[a-z_]*)?|0*([0-9]{1,3}))[/.](.+)$ ]]; then
        printf -v day 'day%02d' "${BASH_REMATCH[2]}${BASH_REMATCH[4]}"
        wanted=${BASH_REMATCH[5]}
        [[ $day == "${CHAPTER_DAY[$2]}" ]] || return
        # Within a day the number is enough: 1/2, day01/02.
        [[ $wanted =~ ^[0-9]+$ ]] && ((10#$wanted == 10#${number%%-*})) && return
    fi
    [[ $wanted == "${CHAPTER_NAME[$2]}" || $wanted == "$folder" ||
        $wanted == "${folder#*_}" || $wanted == "$(chapter_target "$2")" ]]
}

select_day() {
    local typed=$1 number=$2 day i exists=0 here=''
    printf -v day 'day%02d' "$number"
    for i in "${!CHAPTER_NAME[@]}"; do
        if [[ ${CHAPTER_DAY[$i]} == "$day" ]]; then
            SELECTED+=("$i")
            exists=1
        fi
        [[ $here == *"${CHAPTER_DAY[$i]}"* ]] || here+=" ${CHAPTER_DAY[$i]}"
    done
    if ((exists)); then return; fi
    if ((number >= 1 && number < ${#DAY_TITLES[@]})); then
        fail "Day $number (${DAY_TITLES[$number]}) is not written yet; here so far:$here."
    else
        fail "There is no day '$typed': Warpbook has seven days; here so far:$here."
    fi
}

ambiguous_chapter() {
    local typed=$1 labels='' i
    shift
    for i in "$@"; do labels+=" $(chapter_label "$i")"; done
    fail "'$typed' is the name of several chapters; say which:$labels."
}

unknown_chapter() {
    local names='' i similar
    for i in "${!CHAPTER_NAME[@]}"; do names+="${CHAPTER_NAME[$i]}"$'\n'; done
    similar=$(printf '%s' "$names" | similar_words "${1##*/}" | paste -s -d ' ')
    if [[ -n $similar ]]; then
        fail "There is no chapter '$1'. Did you mean: ${similar// /, }?" \
            "(./learn map lists them all.)"
    else
        fail "There is no chapter '$1'; ./learn map lists them all."
    fi
}

# similar_words WORD: of the words on stdin, up to three that contain it, are contained
# in it or differ by few letters (edit distance at most half of its length).
similar_words() {
    awk -v word="${1//-/_}" '
        function min(a, b) { return a < b ? a : b }
        function distance(a, b,    i, j, previous, current, cost) {
            for (j = 0; j <= length(b); j++) previous[j] = j
            for (i = 1; i <= length(a); i++) {
                current[0] = i
                for (j = 1; j <= length(b); j++) {
                    cost = substr(a, i, 1) != substr(b, j, 1)
                    current[j] = min(previous[j - 1] + cost, \
                                     min(previous[j], current[j - 1]) + 1)
                }
                for (j = 0; j <= length(b); j++) previous[j] = current[j]
            }
            return previous[length(b)]
        }
        {
            d = distance(tolower(word), $0)
            if (length(word) > 2 && (index($0, word) || index(word, $0))) d = 1
            if (d <= length(word) / 2) print d, $0
        }' | sort -n | awk 'NR == 1 { best = $1 } NR <= 3 && $1 <= best + 1 { print $2 }'
}
