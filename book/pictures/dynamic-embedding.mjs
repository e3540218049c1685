import { picture } from '../lib/picture.mjs'

export default picture({
  title: 'A bucket, and the way of a key into it',
  label: 'A bucket is one cache line of 128 bytes: 14 digests of a byte, two bytes free, ' +
    'and 14 keys of 8 bytes. The upper half of the hash of a key names its bucket, the ' +
    'lower half its digest. Key 77 finds bucket 2 full and goes to place 1 of bucket 3.'
}, (p) => {
  p.text(1, 0, 'a bucket: one cache line of 128 bytes', { strong: true })
    .box(1, 1, 22, 1, '14 digests + 2', { tone: 2 }).box(23, 1, 10, 1, 'key 0', { tone: 1 })
    .box(33, 1, 10, 1, 'key 1', { tone: 1 }).box(43, 1, 8, 1, '...', { tone: 1 })
    .box(51, 1, 11, 1, 'key 13', { tone: 1 })
    .text(3, 2, '1 byte each', { muted: true }).text(24, 2, '8 bytes each', { muted: true })
  p.step('The hash of a key: the upper 32 bits choose the bucket, the lower ones the digest.')
    .text(1, 4, 'hash(key)', { mono: true })
    .box(13, 4, 30, 1, 'upper 32 bits: which bucket', { tone: 3 })
    .box(43, 4, 31, 1, 'lower 32 bits: which digest', { tone: 2 })
  p.step('Bucket 2, the home of key 77, is full: the next one of the window of 2 has room.')
    .text(1, 6, 'key 77').arrow([[8, 6], [11, 6]])
    .box(13, 6, 26, 1, 'home bucket 2: full', { tone: 4 }).arrow([[40, 6], [45, 6]])
    .box(47, 6, 28, 1, 'bucket 3: place 1 is free', { tone: 3 })
  p.step('The place names all that belongs to the key: slot 43 = 3 * 14 + 1.')
    .text(1, 8, 'slot 43').arrow([[9, 8], [11, 8]])
    .box(13, 8, 16, 1, 'claims[43]', { tone: 6 }).box(31, 8, 16, 1, 'counts[43]', { tone: 6 })
    .box(49, 8, 26, 1, 'row 43, hot or cold', { tone: 6 })
})
