# ./learn help, and what to say to a command that does not exist.
# shellcheck shell=bash

COMMANDS='lesson book check hint watch map reset solution bench ceilings xray setup doctor test dev verify-gpu help'

cmd_help() {
    case $1 in
        next | help) help_all ;;
        lesson) help_one 'lesson [CHAPTER] [--all]' \
            'A lesson in the terminal, with its code; needs nothing installed. Without an' \
            'argument: of the next exercise. --all opens what is folded: the solution.' ;;
        book) help_one 'book [build | pdf] [--port N]' \
            'The lessons as a book, with figures and search: builds what has changed and' \
            'serves it on this machine. Installs the packages of the book on first use,' \
            'after asking. build: only builds, into book/dist; book/dist/offline needs no' \
            'server. pdf: all of it as book/dist/warpbook.pdf.' ;;
        check) help_one 'check [DAY | CHAPTER ...] [--solution]' \
            'Grades chapters: day01, vector_add, day01/02-vector-add, or a path. Without' \
            'an argument: the first one that has not passed. --solution grades the' \
            "workbook's solutions instead of your files, and leaves your progress alone." \
            'A test case that does not end is stopped after 20 seconds (on a GPU: 120) and' \
            'the remaining ones are not run; --time-limit N makes that N seconds.' ;;
        hint) help_one 'hint [CHAPTER]' 'Shows the next of three hints.' ;;
        watch) help_one 'watch [CHAPTER]' \
            'Grades again on every save, and moves on when it passes. Ctrl-C stops.' ;;
        map) help_one 'map' 'Progress over all seven days.' ;;
        reset) help_one 'reset CHAPTER' \
            'Puts the starter back. Your version is kept in .learn/backup first.' ;;
        solution) help_one 'solution [CHAPTER] [--reveal] [--copy]' \
            'After a pass (or with --reveal): where the solution is. --copy puts it into' \
            'your file; your version is kept in .learn/backup first.' ;;
        bench) help_one 'bench [CHAPTER] [--sizes small|full|grid] [--seconds S]' \
            'Measures speed, on a GPU: your kernel once it is right, our ladder, the' \
            'library, and PyTorch where it is installed.' ;;
        ceilings) help_one 'ceilings' \
            'Measures, on a GPU, what it can do at most: reading, writing, copying, and' \
            'products of matrices in fp32, tf32, fp16 and bf16. Kept in' \
            '.learn/ceilings.json, for the tables of bench and the model of xray.' ;;
        xray) help_xray ;;
        setup) help_one 'setup [--yes]' \
            'Installs the packages that are missing; asks first, unless --yes.' ;;
        doctor) help_one 'doctor' 'What was found, what is missing, what to do.' ;;
        test) help_one 'test [DAY] [--yes] [--cpu | --gpu]' \
            'Checks the workbook itself: solutions, starters, wrong kernels, simulator.' \
            'Ends with "N passed, N failed".' ;;
        dev) help_one 'dev check' 'For authors: is every chapter complete?' ;;
        verify-gpu) help_verify_gpu ;;
        *) unknown_command "$1" ;;
    esac
}

# help_one USAGE TEXT...
help_one() {
    say "Usage: ./learn $1"
    shift
    printf '  %s\n' "$@"
}

help_xray() {
    help_one 'xray [CHAPTER | FILE.cu] [options] [-- ARGUMENTS]' \
        'What the memory system would do for each line of your kernel, and what is' \
        'unsafe in it, without a GPU. Also for any program of your own; ARGUMENTS are' \
        'passed on to it. The report is written as a page, too.' \
        '--solution     the rungs of the solution; --rung v3 only one of them' \
        '--kernel NAME  only kernels whose name contains NAME' \
        '--size TEXT    on the size that contains TEXT, as "n = 4096"' \
        '--gpu MODEL    h100 (usual), a100, rtx4090 or t4: for the predicted time' \
        '--seed N       another order of threads and blocks, the same for the same N' \
        '--html FILE    where the page goes (build/xray/NAME.html)'
}

help_verify_gpu() {
    help_one 'verify-gpu --out DIR [--only PARTS] [--chapters LIST]' \
        'On a machine with a GPU: builds all, runs the suite through nvcc, the solutions' \
        'under compute-sanitizer, the benchmarks; a table last, JSON and logs in DIR.' \
        '--only takes build, test, sanitize and bench, separated by commas.' \
        '--chapters takes names separated by commas; it limits sanitizers and benches.'
}

help_all() {
    cat <<'TEXT'
Warpbook, a CUDA workbook.

  ./learn lesson [CHAPTER]   the lesson, in the terminal
  ./learn book               all lessons as a book, with figures and search
  ./learn                    build and grade the next exercise, say what to do
  ./learn check [CHAPTER]    grade any chapter or day: vector_add, day01
  ./learn hint [CHAPTER]     the next of three hints
  ./learn watch [CHAPTER]    grade again on every save
  ./learn map                progress over all seven days
  ./learn reset CHAPTER      start over; your version is kept
  ./learn solution [CHAPTER] after passing, or with --reveal
  ./learn bench [CHAPTER]    speed, on a GPU
  ./learn ceilings           what this GPU can do at most, measured once
  ./learn xray [CHAPTER]     races and the cost of each line, without a GPU

  ./learn setup              install what is missing (asks first)
  ./learn doctor             what was found, what is missing
  ./learn test               check the workbook itself
  ./learn dev check          for authors: is every chapter complete?
  ./learn verify-gpu         for authors: everything, on a GPU machine

Options for every command:
  --gpu, --cpu   choose by hand (default: the GPU when there is one)
  -v             show the cmake and ctest commands behind
  --yes          do not ask
  --time-limit N the seconds that a test case may take (default: 20; on a GPU: 120)
  --no-color     plain text; so does the variable NO_COLOR
  -h             help on a command
One ./learn at a time works in a checkout; a second one says so and waits its turn.
The variable WB_PRESET names any CMake preset instead: WB_PRESET=sim-debug ./learn
TEXT
}

unknown_command() {
    local similar
    # ./learn vector_add is a likely slip.
    if choose_preset 2>/dev/null && load_course 2>/dev/null &&
        select_chapters "$1" 2>/dev/null; then
        fail "'$1' is a chapter, not a command: ./learn check $1"
        return
    fi
    similar=$(tr ' ' '\n' <<<"$COMMANDS" | similar_words "$1" | paste -s -d ' ')
    if [[ -n $similar ]]; then
        fail "./learn has no command '$1'. Did you mean: ${similar// /, }?"
    else
        fail "./learn has no command '$1'; ./learn help lists them."
    fi
}
