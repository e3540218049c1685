// What follows VitePress's own work when the book is built: copies of the files that it
// names, the checks that VitePress does not make, and the copy for reading offline. Any
// fault fails the build.

import { checkAnchors } from './anchors.mjs'
import { writeOffline } from './offline.mjs'
import { copySources } from './sources.mjs'
import { checkWeight } from './weight.mjs'

/** @param {{outDir: string}} site  VitePress's description of the site */
export async function finishBuild({ outDir }) {
  copySources(outDir)
  const faults = [...checkAnchors(outDir), ...checkWeight(outDir)]
  if (faults.length > 0)
    throw new Error(`the book has faults:\n  ${faults.join('\n  ')}`)
  await writeOffline(outDir)
}
