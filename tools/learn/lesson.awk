# A lesson as text for a terminal. ./learn lesson passes in:
#   folder, name         of the chapter
#   all                  1: open folds too
#   figures              names of everything that the book draws
#   bold, dim, plain     how to switch colours; may be empty

# A path without "x/..", so that it can be clicked.
function tidy(path,    before) {
    do {
        before = path
        sub(/[^\/.][^\/]*\/\.\.\//, "", path)
    } while (path != before)
    gsub(/\/\.\//, "/", path)
    return path
}

# Prints the paragraph that was collected. Where tags were taken out of it, its lines
# are filled anew: the tags are longer than what they hold.
function flush(    n, i, words, line, indent) {
    if (text == "") return
    text = without_tags(text)
    vanished = text ~ /^[ \t\n]*$/
    if (!dropped) {
        print text
    } else if (!vanished) {
        indent = text ~ /^[-*] / ? "  " : ""
        n = split(text, words, /[ \t\n]+/)
        for (i = 1; i <= n; i++) {
            if (words[i] == "") continue
            if (line != "" && length(line) + 1 + length(words[i]) > 88) {
                print line
                line = indent words[i]
            } else {
                line = line (line == "" || line == indent ? "" : " ") words[i]
            }
        }
        print line
    }
    text = ""
}

# The text without the book's tags, of which each may stand in several lines. A figure
# that stands alone is mentioned.
function without_tags(text,    n, i, list, words) {
    dropped = 0
    n = split(figures, list, " ")
    for (i = 1; i <= n; i++) {
        if (index(text, "<" list[i]) == 0 && index(text, "</" list[i]) == 0) continue
        words = list[i]
        gsub(/[A-Z]/, " &", words)
        if (text ~ "^<" list[i] "[^>]*/>") {
            return dim "[figure:" tolower(words) "; ./learn book shows it]" plain
        }
        gsub("</?" list[i] "(>|[ \t\n][^>]*>)", "", text)
        dropped = 1
    }
    return text
}

# Prints a file, or a region of it, as the book shows it: without markers. A solution is
# shown without what the starter asks; a starter as it was handed out, made from its
# solution, whatever the learner has made of it.
function snippet(path, region,
                 file, starter, line, inside, found, cut, lines, n, i) {
    file = path
    starter = path ~ /^day.*\.cu$/ && readable("solutions/" path)
    if (starter) file = "solutions/" path
    if (!readable(file)) {
        print "    " dim "(there is no file " path ")" plain
        return
    }
    inside = region == ""
    found = inside
    while ((getline line < file) > 0) {
        sub(/\r$/, "", line)
        # Of an edit (tools/bundle/edit.h): the text after it.
        if (file ~ /\.diff$/) {
            if (line ~ /^[#-]/) continue
            line = line ~ /^@@/ ? "" : substr(line, 2)
        }
        if (line ~ "^[ \t]*// #region " region "[ \t]*$") inside = found = 1
        if (line ~ "^[ \t]*// #endregion " region "[ \t]*$") inside = 0
        if (line ~ /^[ \t]*\/\/ #(end)?region /) continue
        if (line ~ /^[ \t]*\/\/ #(solution|end)$/) {
            cut = starter && line ~ /solution$/
            continue
        }
        if (line ~ /^[ \t]*\/\/ #starter /) {
            cut = 0
            if (!starter) continue
            sub(/\/\/ #starter /, "", line)
        }
        if (!starter && file ~ /^solutions\//) {
            if (line ~ /\/\/ TODO\(learner\)/) cut = 1
            else if (line !~ /^[ \t]*\/\//) cut = 0
        }
        if (inside && !cut) lines[++n] = line
    }
    close(file)
    if (!found) {
        print "    " dim "(" path " has no part \"" region "\")" plain
        return
    }
    print "    " dim path plain
    while (n > 0 && lines[n] ~ /^[ \t]*$/) n--
    for (i = 1; i <= n; i++) {
        if (i == 1 && lines[i] ~ /^[ \t]*$/) continue
        print (lines[i] == "" ? "" : "    " lines[i])
    }
}

function readable(file,    line, status) {
    status = (getline line < file)
    close(file)
    return status >= 0
}

# Front matter.
NR == 1 && /^---$/ { front = 1; next }
front { if (/^---$/) front = 0; next }

# Whatever is no line of a paragraph ends the one before.
code || /^[ \t]*$/ || /^ *(```|~~~|\||[-*] |[0-9]+\. )/ { flush() }
/^(:::|<<<|<!--|#)/ { flush() }

# Folds. A closed one says how to open it.
/^::: *details/ {
    title = $0
    sub(/^::: *details */, "", title)
    print bold "> " title plain
    folded = !all
    if (folded) print "  (folded: ./learn lesson " name " --all)"
    next
}
/^:::/ { folded = 0; next }
folded { next }

/^<!--@include:.*hints\.md/ {
    print "  (./learn hint " name " shows them one at a time)"
    next
}

/^ *(```|~~~)/ { code = !code; next }
code { print ($0 == "" ? "" : "    " $0); next }

/^<<< / {
    source = $2
    sub(/\{.*$/, "", source)
    region = ""
    if (match(source, /#.*$/)) {
        region = substr(source, RSTART + 1)
        source = substr(source, 1, RSTART - 1)
    }
    if (previous != "") print ""
    snippet(tidy(folder "/" source), region)
    next
}

/^#+ / { print bold $0 plain; next }
/^[ \t]*$/ {
    if (!vanished) print ""
    vanished = 0
    next
}
{ text = text (text == "" ? "" : "\n") $0 }
END { flush() }
