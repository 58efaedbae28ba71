#!/usr/bin/env node
// Uses the pages in Chromium and checks each for accessibility.
//
// usage: pages.mjs setup LINK | pages.mjs authorize BASE_URL | pages.mjs interface BASE_URL | pages.mjs looks BASE_URL | pages.mjs forms BASE_URL
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { end, fill, isUsable, press, signIn, submit, visitor } from './browser.mjs'
import { check, outOfBand, PASSWORD } from './lib.mjs'
import { walkThroughForms } from './pages-forms.mjs'
import { walkThroughLooks, walkThroughPush } from './pages-looks.mjs'

const agree = /allow|approve|authori[sz]e|accept|^yes/i
const deny = /deny|cancel|refuse|reject|^no/i
const [walk, address] = process.argv.slice(2)

// api calls the server at base as an app and returns the response.
async function api(base, path, body, token) {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) }
  const response = await fetch(base + path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
  const text = await response.text()
  assert(response.ok, `${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

const registerApp = (base, redirect_uri) => {
  return api(base, '/api/v1/apps', { client_name: 'Page check', redirect_uris: redirect_uri, scopes: 'read write follow' })
}

async function walkThroughSetup(link) {
  const page = await visitor()
  const base = new URL(link).origin
  await check('set-up page', async () => {
    await page.goto(link)
    await isUsable(page)
    assert.notEqual(await page.locator('input[type=password]:visible').count(), 0)
  })
  await check('set-up page makes the first account', async () => {
    await fill(page, { nickname: 'owner', email: 'owner@example.org', password: PASSWORD })
    await submit(page)
    await isUsable(page)
  })
  await check('pages of staff', () => lookAt(page, base, pagesOfStaff))
  await check('the first account is an admin', async () => {
    const { client_id, client_secret } = await registerApp(base, outOfBand)
    const grant = { grant_type: 'password', client_id, client_secret, username: 'owner', password: PASSWORD, scope: 'read' }
    const { access_token } = await api(base, '/oauth/token', grant)
    const account = await api(base, '/api/v1/accounts/verify_credentials', null, access_token)
    assert.equal(account.acct, 'owner')
    assert.equal(account.svc.is_admin, true)
  })
  await check('the link works once', async () => {
    const another = await visitor()
    const response = await another.goto(link)
    assert(response.status() >= 400, `${response.status()}`)
    assert.equal(await another.locator('input[type=password]').count(), 0)
  })
}

async function walkThroughAuthorize(base) {
  const person = { nickname: 'alice', password: PASSWORD }
  const authorizePage = (app, parameters) => `${base}/oauth/authorize?${new URLSearchParams({
    response_type: 'code', client_id: app.client_id, scope: 'read write follow', ...parameters })}`

  const page = await visitor()
  await check('authorize page', async () => {
    await page.goto(authorizePage(await registerApp(base, outOfBand), { redirect_uri: outOfBand }))
    await isUsable(page)
    assert.match(await page.textContent('body'), /Page check/)
  })
  await check('a wrong password leads back to the form', async () => {
    await fill(page, { ...person, password: 'wrong' })
    await submit(page)
    await isUsable(page, [401])
    assert.equal(await page.locator('input[type=password]:visible').count(), 1)
  })
  await check('login leads to consent', async () => {
    await fill(page, person)
    await submit(page)
    await isUsable(page)
    assert.match(await page.textContent('body'), /Page check/)
    assert(await page.getByRole('button', { name: agree }).count(), 'no button to agree')
    assert(await page.getByRole('button', { name: deny }).count(), 'no button to deny')
  })
  await check('consent leads to the code', async () => {
    await press(page, agree)
    await isUsable(page)
    assert.match(await page.locator('input[readonly]').inputValue(), /^[\w.~-]{16,}$/)
  })

  const visits = []
  const client = createServer((request, response) => {
    visits.push(new URL(request.url, 'http://localhost').searchParams)
    response.setHeader('Content-Type', 'text/html').end('<title>App</title>')
  })
  await new Promise((listening) => client.listen(0, '127.0.0.1', listening))
  const redirect_uri = `http://localhost:${client.address().port}/callback`
  const app = await registerApp(base, redirect_uri)
  for (const [name, button, parameter, want] of [
    ['consent leads to the app', agree, 'code', /^[\w.~-]{16,}$/],
    ['denial leads to the app', deny, 'error', /^access_denied$/],
  ]) {
    await check(name, async () => {
      const visit = await visitor()
      await visit.goto(authorizePage(app, { redirect_uri, state: 'kept' }))
      await fill(visit, person)
      await submit(visit)
      await press(visit, button)
      const parameters = visits.find((v) => v.has(parameter))
      assert.match(parameters?.get(parameter) ?? visit.url(), want)
      assert.equal(parameters.get('state'), 'kept')
    })
  }
  client.close()
  client.closeAllConnections()

  await check('a wrong redirect address gets an error page', async () => {
    const visit = await visitor()
    const response = await visit.goto(authorizePage(app, { redirect_uri: 'https://evil.example.com/' }))
    assert(response.status() >= 400 && visit.url().startsWith(base), `${response.status()} ${visit.url()}`)
    await isUsable(visit, [response.status()])
  })
}

const pagesOfVisitors = ['/', '/about', '/public', '/web/sign_in', '/@alice', '/tags/tea']
const pagesOfPeople = ['/web', '/web/local', '/web/known', '/web/menu', '/web/notifications', '/web/conversations', '/web/chats', '/web/lists', '/web/collections', '/web/tags', '/web/bookmarks',
  '/web/favourites', '/web/scheduled', '/web/requests', '/web/filters', '/web/search?q=alice', '/web/compose', '/@alice', '/@bob', '/tags/tea',
  '/web/settings', '/web/settings/profile', '/web/settings/privacy', '/web/settings/notifications', '/web/settings/push', '/web/settings/appearance', '/web/settings/reading', '/web/shortcuts',
  '/web/settings/password', '/web/settings/email', '/web/settings/two_factor', '/web/settings/sessions', '/web/settings/hidden', '/web/settings/hidden/domains',
  '/web/settings/featured_tags', '/web/settings/interactions', '/web/requests/sent', '/web/settings/moving', '/web/settings/move', '/web/settings/data', '/web/settings/closing', '/web/settings/delete']
const pagesOfStaff = ['', '/reports', '/accounts', '/rules', '/announcements', '/invites', '/domains', '/relays', '/email_domains', '/networks', '/apps', '/frontends', '/log',
  '/documents', '/documents/terms-of-service', '/emoji',
  '/deliveries', '/explain', '/jobs', '/storage', '/media', '/doctor'].map((path) => `/web/admin${path}`)

// lookAt opens pages and reports all that are not usable.
async function lookAt(page, base, paths) {
  const faults = []
  for (const path of paths) {
    const response = await page.goto(base + path)
    if (!response.ok()) faults.push(`${path}: ${response.status()}`)
    await isUsable(page).catch((fault) => faults.push(fault.message))
    page.errors = []
  }
  assert.equal(faults.join('\n'), '')
}

// walkThroughInterface uses the web interface twice, with JavaScript and without.
async function walkThroughInterface(base) {
  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript'
    const page = await visitor({ base, javaScriptEnabled })
    await check(`pages of visitors, ${how}`, async () => {
      await lookAt(page, base, pagesOfVisitors)
    })
    await check(`sign in and post, ${how}`, async () => {
      await signIn(page, base, 'alice')
      await page.fill('textarea[name=status]', `Some #tea ${how}`)
      await page.getByRole('button', { name: 'Post', exact: true }).click()
      await page.getByText('Your post is published.').waitFor()
      await isUsable(page)
    })
    await check(`favourite, ${how}`, async () => {
      const post = page.locator('.post', { hasText: `Some #tea ${how}` })
      await post.getByRole('button', { name: 'Favourite' }).click()
      await post.locator('.star[aria-pressed=true]').waitFor()
      await post.locator('.when a').first().click()
      await page.waitForURL(/@alice/)
      await isUsable(page)
    })
    await check(`reply, ${how}`, async () => {
      await page.getByRole('link', { name: 'Reply' }).first().click()
      await page.fill('textarea[name=status]', `More tea, ${how}`)
      await page.getByRole('button', { name: 'Post', exact: true }).click()
      await page.getByText('Your post is published.').waitFor()
    })
    await check(`pages of people, ${how}`, async () => {
      await lookAt(page, base, pagesOfPeople)
    })
  }
}

const pagesToLookAt = ['/web', '/@alice', '/web/compose', '/web/settings/profile', '/web/settings/data', '/web/notifications', '/about']

const walks = { forms: (base) => walkThroughForms(base, signIn), looks: (base) => walkThroughLooks(base, pagesToLookAt, signIn).then(() => walkThroughPush(base, signIn)), setup: walkThroughSetup, authorize: walkThroughAuthorize, interface: walkThroughInterface }
await walks[walk](address)
await end()
