# ./learn book: builds the book and serves it on this machine. It is the only part of the
# workbook that needs Node and packages from npm; they are installed on first use, after
# asking. The lessons are plain Markdown and can be read without any of it.
# shellcheck shell=bash

MINIMUM_NODE=18
BOOK_STAMP=book/dist/.built

cmd_book() {
    local what=serve port=()
    while (($# > 0)); do
        case $1 in
            build | pdf) what=$1 ;;
            serve) ;;
            --port)
                if [[ ! ${2:-} =~ ^[0-9]{1,5}$ ]]; then
                    fail "--port wants a number, as in ./learn book --port 8000."
                    return
                fi
                port=(--port "$2")
                shift
                ;;
            *)
                fail "./learn book knows build, pdf and --port N, not '$1'."
                return
                ;;
        esac
        shift
    done
    lock || return
    book_tools || return
    if [[ $what == pdf ]]; then book_browser || return; fi
    book_build || return
    case $what in
        build)
            say "The book is in book/dist; book/dist/offline/index.html opens without" \
                "a server."
            ;;
        pdf) run node book/lib/pdf.mjs ;;
        serve)
            unlock
            run node book/lib/serve.mjs "${port[@]}"
            ;;
    esac
}

# book_fail TEXT: one sentence, and where the lessons are all the same.
book_fail() {
    fail "$*"
    say "The lessons are plain Markdown as well: ./learn lesson, or open" \
        "$(echo day*/*/lesson.md | cut -d ' ' -f 1) in any editor." >&2
    return 2
}

# node_version: "20.20.2"; false when there is none.
node_version() {
    local version
    version=$(node --version 2>/dev/null) && printf '%s' "${version#v}"
}

# npm_packages_are_current: what is in node_modules is what the lock file asks for.
npm_packages_are_current() { cmp -s package-lock.json node_modules/.warpbook-lock; }

# book_tools: Node, npm and the book's packages are here; false, with one sentence, when
# they are not and could not be installed.
book_tools() {
    local version
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        install_packages nodejs npm
        if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
            book_fail "The book needs Node $MINIMUM_NODE or newer, and npm."
            return
        fi
    fi
    if ! version=$(node_version); then
        book_fail "The command node does not work; try: node --version"
        return
    fi
    if ! version_at_least "$version" "$MINIMUM_NODE"; then
        book_fail "Node $version is too old, the book needs $MINIMUM_NODE or newer: get" \
            "it from https://nodejs.org."
        return
    fi
    npm_packages_are_current || book_packages
}

# book_packages: runs npm, after asking.
book_packages() {
    local log=$PROGRESS_DIR/log/npm.log
    say "The book needs packages from npm (130, 120 MB, in node_modules)."
    if ! confirm "Install them now with 'npm ci'?"; then
        book_fail "Nothing was installed. To go on, run ./learn book --yes."
        return
    fi
    say "Installing (the log is $log) ..."
    if run_logged "$log" npm ci --no-fund --no-audit; then
        cp package-lock.json node_modules/.warpbook-lock
        return 0
    fi
    if grep -q -E 'ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ENETUNREACH|ECONNRESET' \
        "$log"; then
        book_fail "npm could not reach its registry (no network?): connect, then run" \
            "./learn book again."
    elif grep -q -E 'ENOSPC' "$log"; then
        book_fail "The disk is full: free some space, then run ./learn book again."
    else
        book_fail "npm ci failed: $(grep -m 1 -i 'error' "$log" || tail -n 1 "$log")"
    fi
}

# find_browser: prints the Chromium that book/lib/browser.mjs would take.
find_browser() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

# book_browser: a PDF is printed by Chromium.
book_browser() {
    if [[ -n ${CHROMIUM:-} ]]; then
        if ! command -v "$CHROMIUM" >/dev/null; then
            book_fail "CHROMIUM names $CHROMIUM, which is not there."
        fi
        return
    fi
    if find_browser >/dev/null; then return 0; fi
    install_packages chromium && find_browser >/dev/null && return
    book_fail "A PDF is printed by Chromium, which is not here. If it lies elsewhere," \
        "say where: CHROMIUM=/path ./learn book pdf."
}

# book_is_current: no source of the book is newer than the book. The learner's own files
# are none: the book shows them as they were handed out.
book_is_current() {
    local newer
    [[ -f $BOOK_STAMP && -f book/dist/index.html ]] || return
    newer=$(find book day* solutions tests docs common package-lock.json \
        \( -path book/dist -o -path book/.vitepress/cache -o -path book/.vitepress/.temp \
        -o -path 'day*.cu' \) -prune -o -type f -newer "$BOOK_STAMP" -print -quit)
    [[ -z $newer ]]
}

# book_build: builds what is not built yet.
book_build() {
    local log=$PROGRESS_DIR/log/book.log
    if book_is_current; then return 0; fi
    say "Building the book, which takes a minute (the log is $log) ..."
    mkdir -p "$PROGRESS_DIR" && touch "$PROGRESS_DIR/book-started" || return
    if run_logged "$log" node node_modules/vitepress/bin/vitepress.js build book; then
        grep -E '^[0-9]+ pages;' "$log"
        # What changed while it was built is newer than the book.
        touch -r "$PROGRESS_DIR/book-started" "$BOOK_STAMP"
        return 0
    fi
    grep -E -A 12 -m 1 'build error|^\[|the book has faults' "$log" | indent >&2
    fail "The book was not built; all of it is in $log."
    return 1
}
