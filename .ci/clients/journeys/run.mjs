#!/usr/bin/env node
// Runs the journeys: each file exports its journeys by name, in order. Files run at the same time, with accounts of their own.
import { mkdirSync } from 'node:fs'
import { browser } from '../browser.mjs'
import { account, BASE_URL } from '../lib.mjs'
import { Person } from './person.mjs'
import { variant } from './variant.mjs'

const LANES = 3
const files = ['staff', 'joining', 'writing', 'replying', 'reacting', 'people', 'messages', 'account'] // the longest first
const chosen = new RegExp(process.env.JOURNEY || '')
const pictures = process.env.JOURNEY_PICTURES // a folder for pictures of what went wrong
const run = Date.now().toString(36).slice(-5)
let failed = 0

// travel takes the journeys of a file, with one account and one window a name of its people.
async function travel(file) {
  const { people = [], journeys } = await import(`./${file}.mjs`)
  const names = Object.keys(journeys).filter((name) => chosen.test(`${file}: ${name}`))
  if (names.length === 0) return
  const persons = {}
  let others = 0
  const other = (name, ...role) => account(BASE_URL, `${name}${++others}_${file.slice(0, 3)}${run}`, ...role) // an account without a window
  for (const name of people) {
    persons[name] = await Person.arrive(await other(name))
    await persons[name].signIn()
    await persons[name].home()
  }
  for (const name of names) {
    const begin = Date.now()
    const windows = []
    const stranger = async (api) => windows[windows.push(await Person.arrive(api)) - 1]
    const staff = async () => {
      const admin = await stranger(await other('admin', '--admin'))
      await admin.signIn()
      await admin.home()
      return admin
    }
    try {
      await journeys[name]({ ...persons, other, stranger, staff, run })
      for (const person of [...Object.values(persons), ...windows]) person.quiet()
      console.log(`ok   ${file}: ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`)
    } catch (error) {
      failed++
      console.log(`FAIL ${file}: ${name}, ${variant}: ${error.stack}`)
      for (const [i, { page }] of [...Object.values(persons), ...windows].entries()) {
        console.log(`-- ${page.url()}\n${(await page.locator('main').innerText().catch(String)).slice(0, 1000)}`)
        if (pictures) {
          mkdirSync(pictures, { recursive: true })
          await page.screenshot({ path: `${pictures}/${file}-${name.replace(/\W+/g, '-')}-${i}.png` }).catch(() => {})
        }
        await page.goto(`${BASE_URL}/favicon.png`).then(() => page.evaluate(() => localStorage.clear())).catch(() => {}) // the drafts
        page.errors.length = 0
      }
    }
    for (const window of windows) await window.leave()
  }
}

const lanes = Array.from({ length: LANES }, async () => {
  for (let file; (file = files.shift());) await travel(file)
})
await Promise.all(lanes)
await browser.close()
if (failed > 0) process.exit(1)
