#!/usr/bin/env node
// Installs a front end from a zip archive by command and uses it in Chromium: it boots, signs in both ways, shows the home timeline, posts,
// and is replaced and rolled back. API_NAME is the api.name of the server, the family for which the front end is built.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { end, fill, isUsable, press, submit, visitor } from './browser.mjs'
import { BASE_URL, check, command, PASSWORD, waitFor, WORK } from './lib.mjs'

const name = process.env.API_NAME ?? 'svc'
const source = fileURLToPath(new URL('frontend', import.meta.url))
const user = { nickname: 'alice', password: PASSWORD }

// build writes the archive of a version as build tools do: a folder dist, and names of files with a hash of their content.
function build(ref, title) {
  const folder = `${WORK}/frontend-${ref}`
  mkdirSync(`${folder}/dist/static`, { recursive: true })
  const hashed = (base, extension, end) => {
    const text = readFileSync(`${source}/${base}.${extension}`, 'utf8') + end
    const built = `${base}.${createHash('sha256').update(text).digest('hex').slice(0, 20)}.${extension}`
    writeFileSync(`${folder}/dist/static/${built}`, text)
    return built
  }
  const index = readFileSync(`${source}/index.html`, 'utf8')
    .replace('Trial front end', title).replace('STYLE', hashed('style', 'css', '')).replace('SCRIPT', hashed('app', 'js', `// ${ref}\n`))
  writeFileSync(`${folder}/dist/index.html`, index)
  writeFileSync(`${folder}/dist/static/family.json`, JSON.stringify({ name }))
  cpSync(`${WORK}/picture.png`, `${folder}/dist/static/logo.png`)
  execFileSync('python3', ['-m', 'zipfile', '-c', `${folder}.zip`, `${folder}/dist`])
  return `${folder}.zip`
}

const ready = (page) => page.waitForSelector('html[data-ready=yes]')
const streaming = (page) => page.waitForSelector('main[data-streaming=yes]')

// open opens a path of the front end and waits until it has shown its content.
async function open(page, path) {
  const answer = await page.goto(BASE_URL + path)
  assert.equal(answer.status(), 200)
  await ready(page)
  return answer
}

await check('a front end is installed from a zip archive', () => {
  assert.match(command('frontend', 'install', 'trial-fe', '--ref', '1.0', '--file', build('1.0', 'First version')), /Installed trial-fe/)
})
await check('"use" shows it', async () => {
  assert.doesNotMatch(await (await fetch(BASE_URL)).text(), /First version/)
  assert.equal(command('frontend', 'use', 'trial-fe/1.0'), 'In use: trial-fe/1.0. Before: none.\n')
})

const page = await visitor()
await check(`it boots as a front end of the family ${name}`, async () => {
  await open(page, '/')
  assert.match(await page.textContent('#server'), new RegExp(`^${name}: .+, [1-9]\\d+ features`))
  await isUsable(page)
})
await check('a wrong password is refused with a reason', async () => {
  await fill(page, { ...user, password: 'wrong' })
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForFunction(() => document.querySelector('#fault').textContent !== '')
  await isUsable(page, [400, 401])
})
await check('it signs in with a password', async () => {
  await page.locator('input[type=password]').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home of @alice' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/main/friends')
  assert.equal(await page.textContent('#role'), 'User')
})
await check('a post comes back by the stream', async () => {
  await streaming(page)
  await page.locator('textarea').fill('Hello from <the front end>')
  await page.getByRole('button', { name: 'Post' }).click()
  await page.locator('article', { hasText: 'Hello from <the front end>' }).waitFor()
  await isUsable(page)
})
await check('the post can be favourited', async () => {
  await page.getByRole('button', { name: 'Favourite' }).first().click()
  await page.getByRole('button', { name: 'Favourite (1)' }).waitFor()
})
await check('paths of the front end are opened directly', async () => {
  await open(page, '/main/friends')
  await page.getByRole('heading', { name: 'Home of @alice' }).waitFor()
  await streaming(page)
  await page.locator('article a').first().click()
  await ready(page)
  await page.locator('article', { hasText: 'Hello from <the front end>' }).waitFor()
  await isUsable(page)
})
await check('signing out ends the session', async () => {
  await open(page, '/main/friends')
  await streaming(page)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await isUsable(page)
})

const admin = await visitor()
await check('it signs in on the page of the server', async () => {
  await open(admin, '/')
  await admin.getByRole('link', { name: 'Sign in on the page of the server' }).click()
  await admin.waitForURL('**/oauth/authorize?**')
  await fill(admin, { nickname: 'admin', password: PASSWORD })
  await submit(admin)
  await press(admin, /allow|approve|authori[sz]e|accept|^yes/i)
  await ready(admin)
  await admin.getByRole('heading', { name: 'Home of @admin' }).waitFor()
  assert.equal(await admin.textContent('#role'), 'Administrator')
  await isUsable(admin)
})

await check('browsers keep hashed files and ask for the index', async () => {
  const index = await fetch(`${BASE_URL}/some/path`)
  assert.equal(index.headers.get('cache-control'), 'public, no-cache')
  const again = await fetch(BASE_URL, { headers: { 'If-None-Match': index.headers.get('etag') } })
  assert.equal(again.status, 304)
  const script = /\/static\/app\.\w+\.js/.exec(await index.text())[0]
  assert.match((await fetch(BASE_URL + script)).headers.get('cache-control'), /immutable/)
})
await check('the API answers beside it', async () => {
  assert.equal((await fetch(`${BASE_URL}/api/v1/missing`)).status, 404)
  const actor = await fetch(`${BASE_URL}/users/alice`, { headers: { Accept: 'application/activity+json' } })
  assert.equal((await actor.json()).preferredUsername, 'alice')
})

await check('an update is installed beside it, shown, and rolled back', async () => {
  command('frontend', 'install', 'trial-fe', '--ref', '2.0', '--file', build('2.0', 'Second version'))
  const title = async () => {
    const visit = await visitor()
    await open(visit, '/')
    return visit.textContent('h1')
  }
  assert.equal(await title(), 'First version')
  command('frontend', 'use', 'trial-fe/2.0')
  assert.equal(await title(), 'Second version')
  command('frontend', 'use', 'trial-fe/1.0')
  assert.equal(await title(), 'First version')
})
await check('the front end for administrators has a path of its own', async () => {
  command('frontend', 'use', 'trial-fe/2.0', '--admin')
  await waitFor(async () => (await (await fetch(`${BASE_URL}/${name}/admin/`)).text()).includes('Second version'))
  assert.match(await (await fetch(BASE_URL)).text(), /First version/)
})
await end()
