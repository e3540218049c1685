"""Operators over signs, conditions and numbers."""

import re

from learn.mutation.mutant import NAMESPACE, Mutant, meaning
from learn.mutation.reading import live, operand, operands

INFIX = {
    "boundary": {
        "<": ("<=", "less_equal"), "<=": ("<", "less"), ">": (">=", "greater_equal"),
        ">=": (">", "greater")},
    "equality": {"==": ("!=", "not_equal"), "!=": ("==", "equal")},
    "arithmetic": {
        "+": ("-", "minus"), "-": ("+", "plus"), "*": ("+", "plus"),
        "/": ("*", "times"), "%": ("/", "over"), "&": ("|", "bit_or"),
        "|": ("&", "bit_and"), "<<": (">>", "shift_right"), ">>": ("<<", "shift_left")}}


def _infix(code, function, name, i, text, what, *arguments) -> Mutant:
    shown = operands(code, i)
    return Mutant(code, function, name, i, i, text, shown,
                  infix=meaning(what, *arguments), sign=i)


def _of_signs(name: str):
    def find(code, function):
        for i in live(code, function):
            if code.tokens[i].spaced and code[i] in INFIX[name]:
                text, what = INFIX[name][code[i]]
                yield _infix(code, function, name, i, text, what)
    return find


def boundary(code, function):
    """`<` for `<=`, `>` for `>=`, and the other way round"""
    yield from _of_signs("boundary")(code, function)


def equality(code, function):
    """`==` for `!=`, and the other way round"""
    yield from _of_signs("equality")(code, function)


def arithmetic(code, function):
    """`+` for `-` and `*`, `*` for `/`, `/` for `%`, `<<` for `>>`, and so on"""
    yield from _of_signs("arithmetic")(code, function)


def narrow(code, function):
    """a product or sum of 64 bits computed in 32: `int` for `int64_t`, a lost cast"""
    for i in live(code, function):
        if code.tokens[i].spaced and code[i] in ("*", "+"):
            mutant = _infix(code, function, "narrow", i, code[i], "narrow")
            left, right = mutant.shown
            mutant.first, mutant.last = left, right
            mutant.text = f"int({code.words(left, right)})"
            yield mutant


def cut(code, function):
    """a stride that ends at 64, or at 128"""
    long = {name for name, asked in function.loops if _is_long(code, name, asked)}
    small = {name for name, _ in function.loops} - long
    for i in live(code, function):
        if not code.tokens[i].spaced or code[i] != "*":
            continue
        right = operand(code, i + 1, 1)
        word = code.words(i + 1, right)
        if not re.fullmatch(r"[a-zA-Z]\w*((\.|->)\w+)?", word) or re.match(
                r"k[A-Z]|[BWT][DKMN]$|(block|grid)(Dim|Idx)|threadIdx|sizeof", word):
            continue  # constants, and what the launch decides
        if word in small:
            continue
        for most in (64, 128):
            mutant = _infix(code, function, "cut", i, "*", "cut", most)
            mutant.first, mutant.last = i + 1, right
            mutant.text = f"min({word}, {most})"
            yield mutant


def percent(code, function):
    """a product of floats that is 1 % too large"""
    for i in live(code, function):
        if function.on_device and code.tokens[i].spaced and code[i] == "*":
            mutant = _infix(code, function, "percent", i, "* 1.01f *", "percent")
            yield mutant


def loop_cut(code, function):
    """a loop that ends at 1024"""
    for name, condition in function.loops:
        if _is_long(code, name, condition):
            yield Mutant(
                code, function, "loop_cut", condition.first, condition.last,
                f"{name} < 1024 && {code.words(condition.first, condition.last)}",
                (condition.first, condition.last),
                around=(condition.first, condition.last,
                        f"{NAMESPACE}below<ID>({name}, 1024) && (", ")"))


def _is_long(code, name: str, condition) -> bool:
    """Does the end of a loop depend on more than constants? These are small."""
    words = [code[i] for i in range(condition.first, condition.last + 1)
             if code.tokens[i].kind == "name" and code[i + 1] != "::"]
    return name in words and any(
        not re.fullmatch(r"k[A-Z]\w*|[DT]|[BWT][DKMN]", w) and w != name
        for w in words)


def condition(code, function):
    """`true` or `false` for a condition, or for one side of `&&` and `||`: a guard, a
    mask, a tail or a case that is left out, or always taken"""
    for asked in function.conditions:
        if asked.first in function.constant:
            continue
        for word, what in (("true", "always"), ("false", "never")):
            if code.words(asked.first, asked.last) == word or (
                    asked.where in ("for", "while") and word == "true"):
                continue
            yield Mutant(
                code, function, "condition", asked.first, asked.last, word,
                (asked.first, asked.last),
                around=(asked.first, asked.last, f"{NAMESPACE}{what}<ID>(", ")"))


def off_by_one(code, function):
    """a subscript, or a whole number, that is one larger; a subscript one smaller"""
    for i in live(code, function):
        token = code.tokens[i]
        if code[i] == "[" and i in code.pair and code.pair[i] > i + 1 and (
                code.tokens[i - 1].kind == "name" or code[i - 1] in (")", "]")):
            first, last = i + 1, code.pair[i] - 1
            for sign, what in (("+", "one_more"), ("-", "one_less")):
                yield Mutant(
                    code, function, "off_by_one", first, last,
                    f"{code.words(first, last)} {sign} 1",
                    (operand(code, i - 1, -1), last + 1),
                    around=(first, last, f"{NAMESPACE}{what}<ID>(", ")"))
        elif token.kind == "number" and re.fullmatch(r"\d+[uUlL]*", token.text) and (
                not _is_shared_size(code, i)):
            value = str(int(re.match(r"\d+", token.text)[0]) + 1)
            near = code[i - 1], code[i + 1]
            shown = (max(function.body + 1, i - 2), min(function.end - 1, i + 2))
            if near[0] in ("-", "*") and not code.tokens[i - 1].spaced:
                continue
            yield Mutant(
                code, function, "off_by_one", i, i, value, shown,
                around=(i, i, f"{NAMESPACE}one_more<ID>(", ")"))


def _is_shared_size(code, i) -> bool:
    """The third argument of a launch: more shared memory is only slower."""
    commas, at = 0, i
    while at > 0 and code[at] not in (";", "{", "}"):
        if code[at] in (")", "]"):
            at = code.pair.get(at, at)
        elif code[at] == "(":
            return False
        elif code[at] == ",":
            commas += 1
        elif code[at] == "<<<":
            return commas == 2
        at -= 1
    return False


def minus_infinity(code, function):
    """0 for −∞: a maximum that begins at zero, a mask that hides nothing"""
    for i in live(code, function):
        if code[i] == "INFINITY" and code[i - 1] == "-":
            yield Mutant(
                code, function, "minus_infinity", i - 1, i, "0.0f", (i - 2, i + 1),
                around=(i - 1, i, f"{NAMESPACE}zero<ID>(", ")"))


def initial(code, function):
    """another number for a floating-point one: 1 for 0, 0 for 1, 1 % more"""
    for i in live(code, function):
        text = code[i]
        if code.tokens[i].kind == "number" and re.search(r"\.\d*(e-?\d+)?f?$", text):
            value = float(text.rstrip("fF"))
            other = {0.0: "1.0f", 1.0: "0.0f"}.get(value, f"1.01f * {text}")
            shown = (max(function.body + 1, i - 2), min(function.end - 1, i + 1))
            yield Mutant(
                code, function, "initial", i, i, other, shown,
                around=(i, i, f"{NAMESPACE}other_number<ID>(", ")"))
