// The page of ./learn xray --trace, opened from a disk, and the same figure in the book.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { open, start } from './site.mjs'

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../..')
const FOLDER = fs.mkdtempSync(path.join(os.tmpdir(), 'trace-'))
const { browser, origin } = await start((end) =>
  after(async () => {
    await end()
    fs.rmSync(FOLDER, { recursive: true })
  })
)

const recorded = (name) =>
  JSON.parse(fs.readFileSync(path.join(ROOT, `book/data/traces/${name}.json`)))

/** A tab with the page that the command would write for a trace. */
async function openPage(name, trace, hash = '') {
  const [data, page] = ['json', 'html'].map((kind) => path.join(FOLDER, `${name}.${kind}`))
  fs.writeFileSync(data, JSON.stringify(trace))
  const script =
    'import json, sys; from learn import trace_page\n' +
    'from pathlib import Path; figure = Path("../book/figures/kernel-trace")\n' +
    'trace = json.load(open(sys.argv[1]))\n' +
    'open(sys.argv[2], "w").write(trace_page.page(trace, figure))'
  const made = spawnSync('python3', ['-B', '-c', script, data, page], {
    cwd: path.join(ROOT, 'tools'),
    encoding: 'utf8'
  })
  assert.equal(made.status, 0, made.stderr)
  const tab = await (await browser.newContext()).newPage()
  const complaints = []
  tab.on('pageerror', (error) => complaints.push(error.message))
  tab.on('request', (request) => {
    if (request.url().split('#')[0] !== pathToFileURL(page).href) {
      complaints.push(request.url())
    }
  })
  await tab.goto(pathToFileURL(page).href + hash)
  await tab.waitForFunction(() => window.player)
  return { tab, complaints, bytes: fs.statSync(page).size }
}

const says = (tab, text) =>
  tab.waitForFunction(
    (wanted) => document.querySelector('[role="status"]').innerText.includes(wanted),
    text,
    { timeout: 5000 }
  )

test('the page works from a disk, by keys', async () => {
  const { tab, complaints } = await openPage('dot', recorded('dot_product'), '#60')
  await says(tab, 'Step 60 of')
  await tab.keyboard.press('ArrowRight')
  await says(tab, 'Step 61 of')
  await tab.keyboard.press('ArrowLeft')
  await tab.keyboard.press('ArrowLeft')
  await says(tab, 'Step 59 of')
  await tab.keyboard.press('w')
  await says(tab, 'warp 7 waits at the barrier')
  await tab.keyboard.press('n')
  await says(tab, 'No further race or bank conflict')
  await tab.keyboard.press('End')
  await says(tab, 'Step 109 of 109')
  await tab.keyboard.press('Home')
  await says(tab, 'Step 0 of')
  assert.deepEqual(complaints, [])
  await tab.close()
})

test('n goes to a race, which is told', async () => {
  const trace = recorded('dot_product')
  trace.findings = [{ kind: 'race', what: 'write after read', text: 'RACE on s_sum' }]
  trace.found = [40, 0]
  const { tab } = await openPage('race', trace)
  await tab.keyboard.press('n')
  await says(tab, 'RACE, WRITE AFTER READ!')
  assert.equal(await tab.locator('.kt-finding').innerText(), 'RACE on s_sum')
  await tab.close()
})

test('20,000 steps go by without a jerk', async () => {
  const trace = recorded('flash_attention')
  const once = trace.steps
  trace.steps = [once, once, once, once].flat().slice(0, 3 * 20000)
  const { tab, bytes } = await openPage('long', trace)
  assert.ok(bytes < 10e6, `${bytes} bytes`)
  const times = await tab.evaluate(() => {
    const measure = (steps) => {
      const times = steps.map((at) => {
        const begin = performance.now()
        window.player.go(at)
        window.player.draw()
        void document.body.offsetHeight
        return performance.now() - begin
      })
      return times.sort((a, b) => a - b)[times.length >> 1]
    }
    const steps = Array.from({ length: 300 }, (_, i) => 10000 + i)
    return {
      forward: measure(steps),
      back: measure([...steps].reverse()),
      jumps: measure(steps.map((at) => (at * 7919) % 20000))
    }
  })
  console.log('median ms for a step:', JSON.stringify(times))
  // A frame has 16 ms; machines that test have little time for each.
  for (const time of Object.values(times)) assert.ok(time < 50, JSON.stringify(times))
  await tab.close()
})

test('the book shows it in a lesson, too', async () => {
  const { page, complaints, close } = await open(
    browser, origin, '/figures/kernel-trace.html')
  await page.locator('.kt input[type="range"]').focus()
  await page.keyboard.press('Home')
  await says(page, 'Step 0 of 109')
  assert.deepEqual(complaints, [])
  await close()
})
