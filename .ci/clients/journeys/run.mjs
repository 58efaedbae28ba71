#!/usr/bin/env node
// Runs the journeys: each file exports its journeys by name, in order. Files run at the same time, with accounts of their own.
import { mkdirSync } from 'node:fs'
import { end } from '../browser.mjs'
import { account, BASE_URL } from '../lib.mjs'
import { Person } from './person.mjs'
import { variant } from './variant.mjs'

const LANES = 3
const files = ['staff', 'joining', 'writing', 'replying', 'reacting', 'people', 'messages', 'account', 'live', 'looking', 'sharing', 'moderating', 'servers'] // the longest first
const chosen = new RegExp(process.env.JOURNEY || '')
const pictures = process.env.JOURNEY_PICTURES // a folder for pictures of what went wrong
const run = Date.now().toString(36).slice(-5)
let failed = 0

// within fails unless a promise ends in time: what Playwright evaluates in a page may last for ever if the page does not answer.
async function within(seconds, what, promise) {
  let timer
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what} has not ended after ${seconds} s`)), seconds * 1000) })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

// enter opens a window of a person who is signed in.
async function enter(api) {
  const person = await Person.arrive(api)
  await person.signIn()
  await person.home()
  return person
}

// again gives a person another window, without the drafts and errors of the last one.
async function again(person) {
  await person.leave()
  return enter(person.api)
}

// travel takes the journeys of a file, with one account and one window a name of its people.
async function travel(file) {
  const { people = [], journeys } = await import(`./${file}.mjs`)
  const names = Object.keys(journeys).filter((name) => chosen.test(`${file}: ${name}`))
  if (names.length === 0) return
  const persons = {}
  let others = 0
  const other = (name, ...role) => account(BASE_URL, `${name}${++others}_${file.slice(0, 3)}${run}`, ...role) // an account without a window
  for (const name of people) persons[name] = await enter(await other(name))
  for (const name of names) {
    const begin = Date.now()
    const windows = []
    const stranger = async (api) => windows[windows.push(await Person.arrive(api)) - 1]
    const staff = async () => windows[windows.push(await enter(await other('admin', '--admin'))) - 1]
    try {
      await within(150, 'the journey', journeys[name]({ ...persons, other, stranger, staff, run }))
      for (const person of [...Object.values(persons), ...windows]) person.quiet()
      console.log(`ok   ${file}: ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`)
    } catch (error) {
      failed++
      console.log(`FAIL ${file}: ${name}, ${variant}: ${error.stack}`)
      for (const [i, { page }] of [...Object.values(persons), ...windows].entries()) {
        const text = await within(10, 'the text of the page', page.locator('main').innerText()).catch(String)
        console.log(`-- ${page.url()}\n${text.slice(0, 1000)}`)
        if (pictures) {
          mkdirSync(pictures, { recursive: true })
          await page.screenshot({ path: `${pictures}/${file}-${name.replace(/\W+/g, '-')}-${i}.png` }).catch(() => {})
        }
      }
      for (const name of people) persons[name] = await again(persons[name])
    }
    for (const window of windows) await window.leave()
  }
}

const lanes = Array.from({ length: LANES }, async () => {
  for (let file; (file = files.shift());) await travel(file)
})
await Promise.all(lanes)
if (failed > 0) process.exitCode = 1
await end()
