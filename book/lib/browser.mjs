// The browser that the PDF and the tests use: the system's own, driven by
// playwright-core, which brings none.

import fs from 'node:fs'
import path from 'node:path'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The browser's program, or null; CHROMIUM names one that lies elsewhere. */
export function findBrowser(environment = process.env) {
  if (environment.CHROMIUM) {
    return fs.existsSync(environment.CHROMIUM) ? environment.CHROMIUM : null
  }
  const folders = (environment.PATH ?? '').split(path.delimiter).filter(Boolean)
  const programs = NAMES.flatMap((name) =>
    folders.map((folder) => path.join(folder, name))
  )
  return programs.find((program) => fs.existsSync(program)) ?? null
}

/** Starts it without a window. Root, in a container, gets no sandbox of its own. */
export function launchBrowser(more = []) {
  const executablePath = findBrowser()
  if (!executablePath) {
    const how =
      'install it ("apt-get install chromium"), or say with CHROMIUM where it is'
    throw new Error(`there is no Chromium here: ${how}`)
  }
  const isRoot = process.getuid?.() === 0
  const args = [...(isRoot ? ['--no-sandbox'] : []), ...more]
  return chromium.launch({ executablePath, args })
}
