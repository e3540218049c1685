// The parts together: what a lesson's Markdown becomes.

import assert from 'node:assert/strict'
import path from 'node:path'
import test from 'node:test'
import { createMarkdownRenderer } from 'vitepress'
import { styleSheet } from './code-colours.mjs'
import { markdown } from './markdown.mjs'
import { ROOT } from './pages.mjs'

const LESSON = 'day01-basics/02-vector-add/lesson.md'
const md = await createMarkdownRenderer(ROOT, markdown)

/** The HTML of a text that stands in the lesson of vector add. */
function render(text, source = LESSON) {
  return md.render(text, { path: path.join(ROOT, source), relativePath: source })
}

/** The colour of the first piece of code that contains a word, in light or dark. */
function colour(html, word, scheme = 'light') {
  const pattern = new RegExp(`<span class="(c\\d+)"[^>]*>[^<]*${word}[^<]*</span>`)
  const name = pattern.exec(html.replace(/&(?:lt|#x3C);/g, '＜'))?.[1]
  const look = scheme === 'light' ? 'html:not\\(\\.dark\\)' : '\\.dark'
  const rule = `${look} \\.vp-code${name ? ` \\.${name}` : ''}\\{color:(#\\w+)\\}`
  return new RegExp(rule).exec(styleSheet())[1]
}

test('a region becomes code with the name of its file, also within a fold', () => {
  const line =
    '<<< ../../solutions/day01-basics/02-vector-add/vector_add.cu#v2-kernel{cuda}'
  for (const text of [line, `::: details v2\n${line}\n:::\n`]) {
    const html = render(text)
    assert.match(html, /vector_add_v2_kernel/)
    assert.match(
      html,
      /<span>Listing 1\.2-1<\/span> <a href="[^"]*vector_add\.cu[^"]*">solutions/
    )
    assert.match(html, /<button title="Copy Code" class="copy">/)
    assert.doesNotMatch(html, /#region|#solution|TODO/)
  }
})

test('an edit is shown as the lines after it, or as it is', () => {
  const file = '../../tests/day01-basics/05-dot-product/mutants/last_block_wins.diff'
  const after = render(`<<< ${file}{cuda}`)
  assert.match(after, /s_sum/)
  assert.doesNotMatch(after, /Rejected|atomicAdd/)
  assert.match(render(`<<< ${file}{diff}`), /Rejected[^]*atomicAdd/)
})

test('a region that is not there is an error that names the lesson', () => {
  const text = '::: details v9\n<<< ./vector_add.cu#v9{cuda}\n:::\n'
  assert.throws(
    () => render(text),
    /02-vector-add\/lesson\.md:2: .*region "v9" is missing/
  )
  assert.throws(() => render('<<< ./nothing.cu'), /there is no file/)
})

test('highlighted lines count within the region', () => {
  const html = render('<<< ./vector_add.cu#v1-kernel{4 cuda}')
  const lines = html.split('<span class="line')
  const marked = lines.filter((line) => line.startsWith(' highlighted'))
  assert.equal(marked.length, 1)
  assert.match(marked[0], /__global__/)
})

test('tabs hold code only; the names of the files follow the group', () => {
  const html = render(
    '::: code-group\n<<< ./vector_add.cu#v1-kernel{cuda} [kernel]\n' +
      '<<< ./vector_add.cu#v1-launch{cuda} [launch]\n:::\n'
  )
  const end = html.lastIndexOf('</pre>')
  assert.equal(html.indexOf('wb-source') > end, true)
  assert.equal(html.split('class="wb-source"').length - 1, 2)
})

test('what is CUDA has a colour of its own', () => {
  const html = render(
    '```cuda\n__global__ void f(float4* p) {\n    p[threadIdx.x] = __ldg(p);\n' +
      '    g<<<1, 32>>>(__shfl_xor_sync(~0u, 1, 2));\n    plain = name;\n}\n```\n'
  )
  for (const scheme of ['light', 'dark']) {
    const plain = colour(html, 'nothing but plain text', scheme)
    const special = [
      '__global__',
      'float4',
      'threadIdx',
      '__ldg',
      '__shfl_xor_sync',
      '＜＜＜'
    ]
    for (const word of special) {
      assert.notEqual(colour(html, word, scheme), plain, `${word}, ${scheme}`)
    }
  }
})

test('in comments and strings CUDA is a word like any other', () => {
  const html = render(
    '```cuda\n// __global__ here\nconst char* s = "__global__ there";\n```\n'
  )
  assert.match(html, />\/\/ __global__ here</)
  assert.match(html, /__global__ there/)
})

test('PTX has colours', () => {
  const html = render('```ptx\nld.global.f32 %f1, [%rd1]; // load\n```\n')
  assert.notEqual(colour(html, '%f1'), colour(html, 'ld.global'))
})

test('the line below the title becomes a list, with links to what is needed', () => {
  const html = render(
    '# T\n\n*45 minutes, easy. Needs chapter 01. Runs on any GPU.*\n\nText.\n'
  )
  assert.match(html, /<dl class="wb-facts">.*45 min.*easy.*Runs/)
  assert.match(html, /href="\/day01-basics\/01-hello-gpu\/">01</)
  assert.doesNotMatch(html, /<em>/)
})

test('hints become folds of their own, without an address', () => {
  const html = render(
    '::: details Stuck?\n## Hint 1\n\nOne.\n\n## Hint 2\n\nTwo.\n:::\n\nEnd.\n'
  )
  assert.equal(html.split('<details class="wb-hint">').length - 1, 2)
  assert.equal(html.split('</details>').length - 1, 3)
  assert.doesNotMatch(html, /<h2/)
})

test('links to files become links to pages', () => {
  assert.match(
    render('[x](../03-saxpy-grid-stride/lesson.md#check)'),
    /href="\/day01-basics\/03-saxpy-grid-stride\/#check"/
  )
  assert.match(render('[x](../../LICENSE)'), /href="[^"]*LICENSE/)
  assert.doesNotMatch(render('[x](../../common/include/wb)'), /<a/)
  assert.throws(() => render('[x](../nothing/lesson.md)'), /there is no/)
})

test('a component that does not exist is an error', () => {
  assert.throws(
    () => render('Text <NoSuchThing /> text.'),
    /no component has that name/
  )
  assert.throws(() => render('<NoSuchThing />\n'), /uses <NoSuchThing>/)
  assert.match(render('Code `<T>` and `std::vector<Foo>` is none.'), /&lt;T&gt;/)
})

test('what is wrong with a page is said with file and line', () => {
  const wrong = [
    ['<NoSuchThing />', /lesson\.md:3 uses <NoSuchThing>/],
    ['[x](../nothing/lesson.md)', /lesson\.md:3 links to \.\.\/nothing\/lesson\.md/],
    ['<<< ./nothing.cu', /lesson\.md:3: there is no file/],
    ['A sum: $\\nosuchthing$.', /lesson\.md:3: the formula \\nosuchthing/],
    ['$$ a = b', /lesson\.md:3: "\$\$" has no end/],
    ['Then $$ a = b.', /lesson\.md:3: "\$\$" without its end/],
    ['![](./block.png)', /lesson\.md:3: the image \.\/block\.png has no description/],
    ['<img src="block.png">', /lesson\.md:3: the image <img src="block\.png"> has no/]
  ]
  for (const [line, message] of wrong)
    assert.throws(() => render(`One.\n\n${line}\n`), message)
  assert.match(render('![a block](../../LICENSE)'), /alt="a block"/)
})

test('double braces in code of a line are text, not an expression of Vue', () => {
  assert.match(render('Write `{{1, 2}, {3}}`.'), /<code v-pre[^>]*>\{\{1, 2\}/)
  assert.match(render('Write `{1}`.'), /<code>\{1\}</)
})

test('the first column of a table without a heading for it names its rows', () => {
  const html = render('| | a |\n| --- | --- |\n| x | 1 |\n| y | 2 |\n')
  assert.match(html, /<th scope="row">x<\/th>\s*<td>1<\/td>/)
  assert.equal(html.match(/scope="row"/g).length, 2)
  assert.doesNotMatch(render('| n | a |\n| --- | --- |\n| x | 1 |\n'), /scope/)
})
