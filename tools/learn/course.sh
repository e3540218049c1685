# What the course consists of. After configuring, build/<preset>/chapters.tsv says it
# (CMake writes it from the warpbook_chapter() lines); before, the folders do.
# shellcheck shell=bash

# The seven days; a day whose folder does not exist yet is shown as such on the map.
DAY_TITLES=(
    ''
    'basics: a kernel that is right'
    'memory: moving bytes at the speed of the wire'
    'parallel patterns: threads that agree'
    'GEMM: one operation, every level of the machine'
    'quantization: fewer bytes'
    'LLM attention: attention as it is served'
    'tuning: knowing why, not guessing'
)

# One entry per chapter, in course order; filled by load_course.
CHAPTER_DAY=()   # day01
CHAPTER_PATH=()  # day01-basics/02-vector-add
CHAPTER_NAME=()  # vector_add
CHAPTER_FILE=()  # day01-basics/02-vector-add/vector_add.cu

add_chapter() {
    CHAPTER_DAY+=("$1")
    CHAPTER_PATH+=("$2/$3")
    CHAPTER_NAME+=("$4")
    CHAPTER_FILE+=("$5")
}

# load_course: fills the arrays. False, with a sentence, when there is no chapter at all.
load_course() {
    local list=$BUILD_DIR/chapters.tsv day day_dir chapter_dir name file
    CHAPTER_DAY=() CHAPTER_PATH=() CHAPTER_NAME=() CHAPTER_FILE=()
    if [[ -f $list ]]; then
        while IFS=$'\t' read -r day day_dir chapter_dir name file; do
            add_chapter "$day" "$day_dir" "$chapter_dir" "$name" "$file"
        done <"$list"
    else
        load_course_from_folders
    fi
    if ((${#CHAPTER_NAME[@]} == 0)); then
        fail "No chapter was found in $ROOT: this checkout is incomplete." \
            "Clone the repository again."
    fi
}

# A chapter is named after its folder: 02-vector-add is vector_add. What lies beside its
# solution may have any name, and the learner's own file might have been renamed.
load_course_from_folders() {
    local folder path name
    for folder in solutions/day[0-9][0-9]-*/[0-9][0-9]-*/; do
        path=${folder#solutions/}
        path=${path%/}
        name=${path##*/[0-9][0-9]-}
        name=${name//-/_}
        [[ -f solutions/$path/$name.cu ]] || continue
        add_chapter "${path%%-*}" "${path%%/*}" "${path##*/}" "$name" "$path/$name.cu"
    done
}

# The names under which CMake and CTest know chapter I, and which a sentence uses.
chapter_key() { printf '%s' "${CHAPTER_DAY[$1]}.${CHAPTER_NAME[$1]}"; }
chapter_target() { printf '%s' "${CHAPTER_DAY[$1]}_${CHAPTER_NAME[$1]}"; }
chapter_label() { printf '%s' "${CHAPTER_DAY[$1]}/${CHAPTER_PATH[$1]##*/}"; }

# first_unpassed_chapter: prints the index of the first chapter never passed; false when
# all have passed.
first_unpassed_chapter() {
    local i
    for i in "${!CHAPTER_NAME[@]}"; do
        if ! has_passed "$(chapter_key "$i")"; then
            printf '%s' "$i"
            return 0
        fi
    done
    return 1
}

# day_is_complete DAY: every chapter of it has passed.
day_is_complete() {
    local i
    for i in "${!CHAPTER_NAME[@]}"; do
        if [[ ${CHAPTER_DAY[$i]} == "$1" ]] && ! has_passed "$(chapter_key "$i")"; then
            return 1
        fi
    done
}
