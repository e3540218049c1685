"""The kinds of mistakes. An operator is a function that yields its mutants in one
function of a solution; its documentation is what docs/mutation.md says of it. What only
changes speed is left alone: unrolling, tile sizes, constants."""

from learn.mutation import names, signs, statements

OPERATORS = {function.__name__: function for function in (
    signs.boundary, signs.equality, signs.arithmetic,
    signs.narrow, signs.cut, signs.percent,
    signs.loop_cut, signs.condition, signs.off_by_one,
    signs.minus_infinity, signs.initial,
    statements.accumulate_half, statements.overwrite, statements.drop,
    statements.barrier, statements.static_local,
    names.bound, names.other_function, names.stream,
    names.template_argument, names.word)}
