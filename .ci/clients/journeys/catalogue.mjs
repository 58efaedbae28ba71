// The texts of the pages in the language of the variant, so that a journey is the same in each language.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { language } from './variant.mjs'

const file = new URL(`../../../server/web/messages/${language}.toml`, import.meta.url)
const texts = new Map()
let table = ''
for (const line of readFileSync(file, 'utf8').split('\n')) {
  table = /^\[(.+)\]$/.exec(line)?.[1] ?? table
  const [, key, value] = /^"?([\w.:-]+)"? = (".*")$/.exec(line) ?? []
  if (key) texts.set(table ? `${table}.${key}` : key, JSON.parse(value))
}

// t returns the text of a key with these values.
export function t(key, ...values) {
  const text = texts.get(key)
  assert(text !== undefined, `no text ${key}`)
  return text.replace(/%[sd]/g, () => values.shift())
}

// tn returns the form of a text for a number.
export const tn = (key, n) => t(`${key}.${n === 1 ? 'one' : 'other'}`, n)

// pattern returns a text as a regular expression, in which anything stands for values.
export const pattern = (key) => new RegExp(t(key).replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%[sd]/g, '.+'))
