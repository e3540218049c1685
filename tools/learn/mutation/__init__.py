"""Mutation testing: small mistakes made by machine, which the tests must notice
(docs/mutation.md).

    tokens.py, code.py   reading a solution: words, functions, statements
    operators.py         what can go wrong: a function for each kind of mistake, in
                         signs.py, statements.py and names.py
    ladder.py            which version of the solution the tests run
    weave.py             all mistakes in one text, chosen at run time
    programs.py          building that text, and running it
    hunt.py              which cases reach a mistake, and which reject it
    known.py             the mistakes that change nothing; the scores
"""
