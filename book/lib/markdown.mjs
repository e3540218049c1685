// How Markdown becomes the book's HTML: everything that is not VitePress's own.

/** The option `markdown` of VitePress. */
export const markdown = {
  languageAlias: { cuda: 'cpp', cu: 'cpp', cuh: 'cpp', ptx: 'asm' },
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  config: () => {}
}
