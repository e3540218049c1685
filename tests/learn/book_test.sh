#!/usr/bin/env bash
# ./learn book on machines without what it needs, and ./learn lesson, which needs little.
# Node, npm and Chromium are impostors here; the book itself has tests of its own.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"
# shellcheck source=fakes.sh
source "$(dirname "$0")/fakes.sh"
make_checkout
mkdir -p book/lib book/dist
echo '{}' >package-lock.json

# book_machine VERSION: a machine with that Node and an npm that works.
book_machine() {
    fake_machine
    # shellcheck disable=SC2016 # expands in the impostor
    fake node 'case $1 in
        --version) echo v'"$1"' ;;
        *serve.mjs) echo "The book is at http://127.0.0.1:4173/" ;;
        *pdf.mjs) echo "book/dist/warpbook.pdf: 6 MB" ;;
    esac'
    # shellcheck disable=SC2016
    fake npm 'case $* in
        ci*) mkdir -p node_modules ;;
        *book:build) mkdir -p book/dist; touch book/dist/index.html
            echo "3 pages; the heaviest is index.html: 90 kB of 300 kB" ;;
    esac'
    rm -rf node_modules book/dist/.built
}

# No Node, and nobody to ask.
fake_machine
learn_there book
expect_status 2
expect 'not installed yet: nodejs npm'
expect 'Nothing was installed.'
expect 'The book needs Node 18 or newer'
expect './learn lesson'
expect 'day01-basics/01-one/lesson.md'
expect_not_called apt-get

# No Node, no network.
fake apt-get 'echo "E: Failed to fetch, Temporary failure resolving"; exit 1'
learn_there book --yes
expect_status 2
expect 'The package server could not be reached'
expect './learn lesson'

# A Node of another age, and one that does not start.
book_machine 12.22.9
learn_there book --yes
expect_status 2
expect 'Node 12.22.9 is too old, the book needs 18 or newer'
expect './learn lesson'
expect_not_called npm
book_machine 18.20.4
fake node 'exit 127'
learn_there book --yes
expect_status 2
expect 'The command node does not work'

# The packages: not without being asked, and each way to fail has its sentence.
book_machine 18.20.4
learn_there book
expect_status 2
expect 'The book needs packages from npm'
expect 'Nothing was installed. To go on, run ./learn book --yes.'
expect './learn lesson'
expect_not_called npm
fake npm 'echo "npm error code EAI_AGAIN"; exit 1'
learn_there book build --yes
expect_status 2
expect 'npm could not reach its registry (no network?)'
expect './learn lesson'
fake npm 'echo "npm error code ENOSPC"; exit 1'
learn_there book build --yes
expect 'The disk is full'
fake npm 'echo "npm error code EUSAGE"; exit 1'
learn_there book build --yes
expect_status 2
expect 'npm ci failed: npm error code EUSAGE'

# All is well: installed once, built once, built again when a lesson has changed.
book_machine 18.20.4
learn_there book build --yes
expect_status 0
expect_called '^npm ci'
expect_called '^npm run --silent book:build'
expect '3 pages; the heaviest'
expect 'book/dist/offline/index.html opens without a server'
: >"$CALLS"
learn_there book
expect_status 0
expect 'The book is at http://127.0.0.1:4173/'
expect_not_called '^npm'
expect_not_called 'book:build'
sleep 0.01
touch day01-basics/01-one/one.cu
learn_there book
expect_not_called 'book:build'
touch day01-basics/01-one/lesson.md
learn_there book --port 8000
expect_called '^npm run --silent book:build'
expect_called 'serve.mjs --port 8000'

# A new lock file means other packages.
echo '{ }' >package-lock.json
: >"$CALLS"
learn_there book build --yes
expect_called '^npm ci'

# A book with a fault is not served, and the fault is shown.
fake npm 'echo "build error:"; echo "lesson.md, near line 7: region \"v9\" is missing"; exit 1'
touch day01-basics/01-one/lesson.md
learn_there book
expect_status 1
expect 'region "v9" is missing'
expect 'The book was not built'
expect_not 'http://'

# A PDF needs a browser.
book_machine 18.20.4
learn_there book pdf --yes
expect_status 2
expect_called 'apt-get install .* chromium$'
expect 'A PDF is printed by Chromium, which is not here'
expect_not_called 'pdf.mjs'
fake chromium true
learn_there book pdf --yes
expect_status 0
expect 'book/dist/warpbook.pdf'
learn_there book epub --yes
expect_status 0
expect_called 'lib/epub.mjs'
export CHROMIUM=/nowhere/chromium
learn_there book pdf --yes
expect_status 2
expect 'CHROMIUM names /nowhere/chromium, which is not there.'
unset CHROMIUM

# Slips.
learn_there book print
expect_status 2
expect "./learn book knows build, pdf, epub and --port N, not 'print'."
learn_there book --port many
expect_status 2
expect '--port wants a number'

# A lesson, with what a lesson can have.
mkdir -p book/components book/figures/bank-conflicts
touch book/components/LadderTable.vue
cat >day01-basics/02-plus-two/lesson.md <<'LESSON'
---
title: Two more
---
# Two more

A number that was <Measured
of="day01/plus_two/v1">12</Measured> once.

<BankConflicts mode="padded" />

<<< ./plus_two.cu#sum{cuda}

::: details v2: folded
Deep secret.
<<< ../../solutions/day01-basics/02-plus-two/plus_two.cu#v2{cuda}
:::

<LadderTable exercise="plus_two">

| a | b |
| --- | --- |

</LadderTable>

::: details Stuck?
<!--@include: ./hints.md-->
:::
LESSON
cat >solutions/day01-basics/02-plus-two/plus_two.cu <<'CODE'
// #region other
other
// #endregion other
// #region sum
// #region v2
    // #region inner
    // TODO(learner): the sum
    // of both
    // #starter return 0;
    // #solution
    return a + b;
    // #end
    // #endregion inner
// #endregion v2
// #endregion sum
CODE
learn_there lesson plus_two
expect_status 0
expect_first_line 'Two more'
expect 'A number that was 12 once.'
expect '[figure: bank conflicts; '
expect 'day01-basics/02-plus-two/plus_two.cu:'
expect '    // TODO(learner): the sum'
expect '▸ v2: folded'
expect './learn lesson plus_two --all'
expect 'a  b'
expect_not 'other'
expect '    return 0;'
expect_not 'Deep secret.'
expect_not 'a + b'
expect_not '#region'
expect_not '#starter'
expect_not '<'
expect_not 'title:'

learn_there lesson plus_two --all
expect 'Deep secret.'
expect 'solutions/day01-basics/02-plus-two/plus_two.cu:'
expect '    return a + b;'
expect_not '#solution'
expect 'shows them one at a time'

# The learner has solved it, or lost it: the lesson shows what was handed out.
echo 'int x;' >day01-basics/02-plus-two/plus_two.cu
learn_there lesson plus_two
expect_status 0
expect '    // TODO(learner): the sum'
expect_not 'int x;'
rm day01-basics/02-plus-two/plus_two.cu
learn_there lesson plus_two
expect '    // TODO(learner): the sum'
echo '<<< ../nowhere.h{cpp}' >>day01-basics/02-plus-two/lesson.md
learn_there lesson plus_two
expect 'there is no file day01-basics/nowhere.h'

learn_there lesson plus_tow
expect_status 2
expect 'Did you mean: plus_two?'
learn_there lesson plus_two --most
expect_status 2
expect "./learn lesson has no option '--most'"

# What doctor says of it.
learn_there doctor
expect 'Node 18.20.4'
finish
