/**
 * memory-access/expression.js: integer expressions as C++ reads them, without eval.
 *
 * Operators: ?:  ||  &&  |  ^  &  == !=  < <= > >=  << >>  + -  * / %  and, before a
 * value, - + ~ !; parentheses; decimal and hexadecimal numbers; the names that the
 * caller knows. All values are `int`: division truncates, comparisons give 0 or 1, and
 * a result that an int cannot hold is an error, as it is undefined in C++.
 */

/** What is wrong with an expression, and where: `at` counts characters from 0. */
export class ExpressionError extends Error {
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

const NUMBER = '0[xX][0-9a-fA-F]+|\\d+';
const NAME = '[A-Za-z_][\\w.]*';
const OPERATOR = '<<|>>|<=|>=|==|!=|&&|\\|\\||[-+*/%&|^~!<>()?:]';
const TOKEN = new RegExp(`\\s*(?:(${NUMBER})|(${NAME})|(${OPERATOR}))`, 'y');

/** Splits a text into tokens: { kind: 'number' | 'name' | 'operator', text, at }. */
function tokensOf(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  const end = text.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const before = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) {
      const at = before + text.slice(before).search(/\S/);
      throw new ExpressionError(`"${text[at]}" means nothing here`, at);
    }
    const [, digits, name, operator] = match;
    const found = digits ?? name ?? operator;
    tokens.push({
      kind: digits ? 'number' : name ? 'name' : 'operator',
      text: found,
      at: TOKEN.lastIndex - found.length,
    });
  }
  return tokens;
}

/** Binary operators by precedence, the loosest first. */
const LEVELS = [
  ['||'], ['&&'], ['|'], ['^'], ['&'], ['==', '!='], ['<', '<=', '>', '>='],
  ['<<', '>>'], ['+', '-'], ['*', '/', '%'],
];

/** An int, or an error if the value is none. */
function int(value, at) {
  if (value < -(2 ** 31) || value >= 2 ** 31)
    throw new ExpressionError(`${value} does not fit into an int`, at);
  return value + 0 === 0 ? 0 : value;
}

function nonzero(value, at) {
  if (value === 0) throw new ExpressionError('division by 0', at);
  return value;
}

function shiftable(value, at) {
  if (value < 0 || value > 31)
    throw new ExpressionError(`a shift by ${value} bits is undefined`, at);
  return value;
}

const BINARY = {
  '|': (a, b) => a | b,
  '^': (a, b) => a ^ b,
  '&': (a, b) => a & b,
  '==': (a, b) => Number(a === b),
  '!=': (a, b) => Number(a !== b),
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>': (a, b) => Number(a > b),
  '>=': (a, b) => Number(a >= b),
  '<<': (a, b, at) => int(a * 2 ** shiftable(b, at), at),
  '>>': (a, b, at) => a >> shiftable(b, at),
  '+': (a, b, at) => int(a + b, at),
  '-': (a, b, at) => int(a - b, at),
  '*': (a, b, at) => int(a * b, at),
  '/': (a, b, at) => int(Math.trunc(a / nonzero(b, at)), at),
  '%': (a, b, at) => int(a % nonzero(b, at), at),
};

/**
 * Translates an expression into a function of its names' values.
 * @param {string} text
 * @param {string[]} names  that may occur
 * @returns {(values: Object<string, number>) => number}  throws ExpressionError too
 */
export function compile(text, names) {
  const tokens = tokensOf(text);
  let next = 0;
  const peek = () => tokens[next]?.text;
  const here = () => tokens[next]?.at ?? text.length;

  function expect(operator) {
    if (peek() !== operator)
      throw new ExpressionError(`"${operator}" expected`, here());
    ++next;
  }

  function primary() {
    const token = tokens[next];
    const at = here();
    if (!token) throw new ExpressionError('something is missing at the end', at);
    ++next;
    if (token.kind === 'number') {
      const value = int(Number(token.text), at);
      return () => value;
    }
    if (token.kind === 'name') {
      if (!names.includes(token.text))
        throw new ExpressionError(
          `"${token.text}" is unknown; known are ${names.join(', ')}`, at);
      return (values) => values[token.text];
    }
    if (token.text === '(') {
      const inner = conditional();
      expect(')');
      return inner;
    }
    --next;
    throw new ExpressionError(`a value expected, not "${token.text}"`, at);
  }

  function unary() {
    const operator = peek();
    const at = here();
    if (!['-', '+', '~', '!'].includes(operator)) return primary();
    ++next;
    const inner = unary();
    if (operator === '-') return (values) => int(-inner(values), at);
    if (operator === '~') return (values) => ~inner(values);
    if (operator === '!') return (values) => Number(inner(values) === 0);
    return inner;
  }

  function binary(level) {
    if (level === LEVELS.length) return unary();
    let left = binary(level + 1);
    while (LEVELS[level].includes(peek())) {
      const operator = peek();
      const at = here();
      ++next;
      const a = left;
      const b = binary(level + 1);
      // The right side is not evaluated if the left one decides.
      if (operator === '||') left = (v) => Number(a(v) !== 0 || b(v) !== 0);
      else if (operator === '&&') left = (v) => Number(a(v) !== 0 && b(v) !== 0);
      else left = (v) => BINARY[operator](a(v), b(v), at);
    }
    return left;
  }

  function conditional() {
    const condition = binary(0);
    if (peek() !== '?') return condition;
    ++next;
    const yes = conditional();
    expect(':');
    const no = conditional();
    return (values) => (condition(values) !== 0 ? yes(values) : no(values));
  }

  const whole = conditional();
  if (next < tokens.length)
    throw new ExpressionError(`"${peek()}" was not expected`, here());
  return whole;
}
