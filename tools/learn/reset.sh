# ./learn reset: start a chapter over. The learner's file is saved first.
# shellcheck shell=bash

BACKUP_DIR=$PROGRESS_DIR/backup

cmd_reset() {
    local i file starter
    if (($# == 0)); then
        fail "Say which chapter to start over, for example: ./learn reset vector_add"
        return
    fi
    prepare_single "$@" || return
    i=${SELECTED[0]}
    file=${CHAPTER_FILE[$i]}
    starter=$BUILD_DIR/starters/$file
    if ! BUILDING='the starters' build_targets starters || [[ ! -f $starter ]]; then
        fail "The starter of $(chapter_label "$i") could not be made, your file was left" \
            "alone. $(full_disk || echo "The log is $BUILD_LOG.")"
        return
    fi
    if [[ -f $file ]] && cmp -s "$starter" "$file"; then
        say "$file is the starter already; nothing was changed."
        return 0
    fi
    replace_file "$i" "$starter" || return
    say "$file is the starter again."
    next_step Next "./learn check ${CHAPTER_NAME[$i]}"
}

# replace_file I SOURCE: puts SOURCE in place of the learner's file of chapter I, after
# saving that under BACKUP_DIR; it is not touched unless the copy succeeded.
replace_file() {
    local file=${CHAPTER_FILE[$1]} stamp copy
    if [[ -f $file ]]; then
        printf -v stamp '%(%Y%m%d-%H%M%S)T' -1
        copy=$BACKUP_DIR/${CHAPTER_DAY[$1]}-${CHAPTER_NAME[$1]}-$stamp.cu
        # Two backups within a second must not become one.
        while [[ -e $copy ]]; do copy=${copy%.cu}x.cu; done
        if ! mkdir -p "$BACKUP_DIR" || ! cp -p "$file" "$copy" || ! cmp -s "$file" "$copy"
        then
            fail "Your file could not be saved to $copy, so nothing was changed."
            return
        fi
        say "Your version is kept in $copy"
    fi
    if ! cp "$2" "$file"; then fail "$file could not be written."; fi
}
