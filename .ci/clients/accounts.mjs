#!/usr/bin/env node
// An account from sign-up to deletion, in Chromium and by the API: first on a server where everybody can register, then on one with invites,
// a captcha and approval.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { end, isUsable, leave, press, visitor } from './browser.mjs'
import { check, outOfBand, PASSWORD, waitFor, WORK } from './lib.mjs'

const { BINARY, OPEN_HOME, INVITED_HOME } = process.env
const lib = fileURLToPath(new URL('lib.py', import.meta.url))
const newPassword = `${PASSWORD} changed`
const scope = 'read write follow'

// trialServer is one of the two servers. mails is the folder of its mails.
function trialServer(home, mails) {
  const base = readFileSync(`${home}/url`, 'utf8').trim()
  return {
    base, mails, host: new URL(base).host,
    command: (...args) => execFileSync(BINARY, [...args, '--config', `${home}/config.toml`], { encoding: 'utf8' }),
    // call sends a request, in JSON unless body is a form, and returns status and body.
    call: async (method, path, body, token) => {
      const json = body && !(body instanceof FormData)
      const headers = { ...json && { 'Content-Type': 'application/json' }, ...token && { Authorization: `Bearer ${token}` } }
      const response = await fetch(base + path, { method, headers, body: json ? JSON.stringify(body) : body })
      const text = await response.text()
      return { status: response.status, body: text && JSON.parse(text) }
    },
  }
}

const open = trialServer(OPEN_HOME, `${OPEN_HOME}/data/mail`)
const invited = trialServer(INVITED_HOME, `${WORK}/maildir`)

// request is call, and the status must be 200 and the body without error.
async function request(server, ...args) {
  const { status, body } = await server.call(...args)
  assert(status === 200 && !body.error, `${args[0]} ${args[1]}: ${status} ${JSON.stringify(body)}`)
  return body
}

// mailed waits for a mail and returns its text.
async function mailed(server, address, subject) {
  let text
  await waitFor(() => {
    try {
      text = execFileSync(lib, ['mail', server.mails, address, subject], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    } catch (error) {
      if (error.status !== 3) throw error // 3: not yet
    }
    return text
  })
  return text
}

// mailedLink waits for a mail and returns its link to a path.
async function mailedLink(server, address, subject, path) {
  const text = await mailed(server, address, subject)
  const link = text.match(/https?:\/\/\S+/g)?.find((l) => l.startsWith(server.base + path))
  assert(link, `no link to ${path} in: ${text}`)
  return link
}

const registerApp = (server) => request(server, 'POST', '/api/v1/apps', { client_name: 'Account check', redirect_uris: outOfBand, scopes: scope })

// signInPage opens the sign-in page of an app in a new browser.
async function signInPage(server) {
  const { client_id } = await registerApp(server)
  const page = await visitor()
  await page.goto(`${server.base}/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id, redirect_uri: outOfBand, scope })}`)
  return page
}

async function signIn(page, name, password) {
  await page.getByLabel('Nickname or e-mail address').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await press(page, 'Sign in')
}

// wantConsent fails unless the page asks whether the app may use the account.
async function wantConsent(page) {
  assert(await page.getByRole('button', { name: /allow|authorize/i }).count(), await page.textContent('main'))
  await leave(page)
}

// fillSignUp fills the sign-up page. agreed is false where the box was checked before.
async function fillSignUp(page, { nickname, email, password, again = password, reason, agreed = true }) {
  await page.getByLabel('Nickname').fill(nickname)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Repeat the password').fill(again)
  if (reason) await page.getByLabel('Why do you want to join?').fill(reason)
  if (agreed) await page.getByLabel('I agree').check()
}

// newToken returns a token of the password grant.
async function newToken(server, username, password) {
  const { client_id, client_secret } = await registerApp(server)
  return (await request(server, 'POST', '/oauth/token', { grant_type: 'password', client_id, client_secret, username, password, scope })).access_token
}

const heading = (page) => page.textContent('h1')

async function registerInTheBrowser(server) {
  const page = await signInPage(server)
  await check('the sign-in page links to the sign-up page', async () => {
    await isUsable(page)
    await page.getByRole('link', { name: 'Create an account' }).click()
    await page.waitForURL(/\/auth\/sign_up/)
    await isUsable(page)
  })
  const dora = { nickname: 'dora', email: 'dora@example.org', password: PASSWORD }
  await check('a refused sign-up shows every error beside its field', async () => {
    await fillSignUp(page, { ...dora, nickname: 'admin', again: 'another one' })
    await press(page, 'Create the account')
    assert.equal(await page.locator('[aria-invalid=true]').count(), 2, await page.textContent('main'))
    await isUsable(page, [422])
  })
  await check('sign-up asks to confirm the address', async () => {
    await fillSignUp(page, { ...dora, agreed: false })
    await press(page, 'Create the account')
    assert.equal(await heading(page), 'Confirm your e-mail address')
    await isUsable(page)
  })
  await check('an account without a confirmed address cannot sign in', async () => {
    const refused = await signInPage(server)
    await signIn(refused, 'dora', PASSWORD)
    assert.match(await refused.textContent('[role=alert]'), /confirm/i)
    await isUsable(refused, [401, 403])
  })
  await check('the link in the mail confirms the address, once', async () => {
    const link = await mailedLink(server, 'dora@example.org', 'Confirm your mail address', '/api/account/confirm_email/')
    await page.goto(link)
    assert.equal(await heading(page), 'Address confirmed')
    await isUsable(page)
    await page.goto(link)
    assert.equal(await heading(page), 'This link is not valid')
    await isUsable(page, [404])
  })
  await check('the new account signs in', async () => {
    const allowed = await signInPage(server)
    await signIn(allowed, 'dora', PASSWORD)
    await isUsable(allowed)
    await wantConsent(allowed)
  })
}

async function resetPassword(server) {
  const page = await signInPage(server)
  await check('the sign-in page links to the page for forgotten passwords', async () => {
    await page.getByRole('link', { name: 'Forgot password?' }).click()
    await page.waitForURL(/forgot_password/)
    await isUsable(page)
    await page.getByLabel('Nickname or e-mail address').fill('dora')
    await press(page, 'Send the mail')
    assert.equal(await heading(page), 'Check your mail')
    await isUsable(page)
  })
  await check('the link in the mail sets a new password', async () => {
    const link = await mailedLink(server, 'dora@example.org', 'Set a new password', '/api/v1/svc/password_reset/')
    const set = async (password, again) => {
      await page.getByLabel('New password').fill(password)
      await page.getByLabel('Repeat the password').fill(again)
      await press(page, 'Set the password')
    }
    await page.goto(link)
    await isUsable(page)
    await set(newPassword, PASSWORD)
    assert.match(await page.textContent('[role=alert]'), /not the same/)
    await isUsable(page)
    await set(newPassword, newPassword)
    assert.equal(await heading(page), 'Password changed!')
    await isUsable(page)
    await page.goto(link)
    assert.equal(await heading(page), 'Invalid Token')
    await isUsable(page)
  })
  await check('the new password counts, the old one does not', async () => {
    const again = await signInPage(server)
    await signIn(again, 'dora', PASSWORD)
    assert(await again.locator('[role=alert]').count(), await again.textContent('main'))
    await signIn(again, 'dora', newPassword)
    await wantConsent(again)
  })
}

// oathtool returns the code of a secret, and that of the next time step, which the server accepts, too.
const oathtool = (key, time) => execFileSync('oathtool', ['--totp', '--base32', '--now', time, key], { encoding: 'utf8' }).trim()

async function secondFactor(server) {
  const token = await newToken(server, 'dora', newPassword)
  let key, backup
  await check('a second factor is set up with oathtool', async () => {
    backup = (await request(server, 'GET', '/api/v1/svc/accounts/mfa/backup_codes', undefined, token)).codes
    key = (await request(server, 'GET', '/api/v1/svc/accounts/mfa/setup/totp', undefined, token)).key
    const code = oathtool(key, 'now')
    await request(server, 'POST', '/api/v1/svc/accounts/mfa/confirm/totp', { password: newPassword, code }, token)
    assert.equal((await request(server, 'GET', '/api/v1/svc/accounts/mfa', undefined, token)).settings.totp, true)
  })
  await check('sign-in asks for the second factor', async () => {
    const page = await signInPage(server)
    await signIn(page, 'dora', newPassword)
    assert.equal(await heading(page), 'Two-factor authentication')
    await isUsable(page)
    await page.getByLabel('Code from your authenticator app').fill('000000')
    await press(page, 'Sign in')
    assert(await page.locator('[role=alert]').count(), await page.textContent('main'))
    await isUsable(page, [400, 401])
    await page.getByLabel('Code from your authenticator app').fill(oathtool(key, 'now + 30 seconds'))
    await press(page, 'Sign in')
    await wantConsent(page)
  })
  await check('a backup code signs in, once', async () => {
    for (const works of [true, false]) {
      const page = await signInPage(server)
      await signIn(page, 'dora', newPassword)
      await page.getByLabel('Code from your authenticator app').fill(backup[0])
      await press(page, 'Sign in')
      assert.equal(await page.locator('[role=alert]').count(), works ? 0 : 1, await page.textContent('main'))
    }
  })
  await check('the second factor is turned off', async () => {
    await request(server, 'DELETE', `/api/v1/svc/accounts/mfa/totp?password=${encodeURIComponent(newPassword)}`, undefined, token)
  })
}

async function importLists(server, token) {
  const following = `Account address,Show boosts,Notify on new posts,Languages\nbob@${server.host},true,false,\ncarol@${server.host},false,true,"en, de"\n` +
    `nobody@${server.host},true,false,\n`
  const listed = async (path) => (await request(server, 'GET', path, undefined, token)).map((account) => account.acct).sort()
  await check('a CSV of Mastodon is imported by the API', async () => {
    const form = new FormData()
    form.append('list', new Blob([following], { type: 'text/csv' }), 'following_accounts.csv')
    assert.equal(await request(server, 'POST', '/api/v1/svc/follow_import', form, token), 'job started')
    let last
    await waitFor(async () => {
      [last] = await request(server, 'GET', '/api/v1/svc/imports', undefined, token)
      return last.finished_at
    })
    const { id } = await request(server, 'GET', '/api/v1/accounts/verify_credentials', undefined, token)
    assert.deepEqual(await listed(`/api/v1/accounts/${id}/following`), ['bob', 'carol'])
    const skipped = await request(server, 'GET', `/api/v1/svc/imports/${last.id}/skipped`, undefined, token)
    assert.equal(skipped.length, 1, JSON.stringify(skipped))
    const carol = await request(server, 'GET', '/api/v1/accounts/lookup?acct=carol', undefined, token)
    const [relation] = await request(server, 'GET', `/api/v1/accounts/relationships?id=${carol.id}`, undefined, token)
    assert.deepEqual([relation.showing_reblogs, relation.notifying], [false, true], JSON.stringify(relation))
  })
  await check('CSVs of Mastodon are imported by the command', async () => {
    for (const [kind, csv, path] of [
      ['mutes', `Account address,Hide notifications\ncarol@${server.host},true\n`, '/api/v1/mutes'],
      ['blocks', `erin@${server.host}\n`, '/api/v1/blocks'],
    ]) {
      writeFileSync(`${WORK}/${kind}.csv`, csv)
      assert.match(server.command('user', 'import', 'dora', kind, `${WORK}/${kind}.csv`, '--wait'), /Imported 1 of 1/)
      assert.equal((await listed(path)).length, 1)
    }
  })
  await check('an export is what Mastodon exports', () => {
    const csv = server.command('user', 'export', 'dora', 'follows')
    for (const line of following.split('\n').slice(0, 3)) assert(csv.includes(line), csv)
  })
}

async function changeAndDelete(server) {
  for (const nickname of ['bob', 'carol', 'erin']) {
    server.command('user', 'create', nickname, '--email', `${nickname}@example.org`, '--password', PASSWORD)
  }
  await importLists(server, await newToken(server, 'dora', newPassword))
  let token = await newToken(server, 'dora', newPassword)
  await check('the password is changed, which revokes tokens', async () => {
    const change = { password: newPassword, new_password: PASSWORD, new_password_confirmation: PASSWORD }
    const wrong = await server.call('POST', '/api/v1/svc/change_password', { ...change, password: 'wrong' }, token)
    assert.deepEqual(wrong.body, { error: 'Invalid password.' })
    rmSync(server.mails, { recursive: true }) // the reset sent such a mail before
    await request(server, 'POST', '/api/v1/svc/change_password', change, token)
    assert.equal((await server.call('GET', '/api/v1/accounts/verify_credentials', undefined, token)).status, 401)
    await mailed(server, 'dora@example.org', 'Your password')
    token = await newToken(server, 'dora', PASSWORD)
  })
  await check('the address is changed by a link, and the old address gets a notice', async () => {
    await request(server, 'POST', '/api/v1/svc/change_email', { password: PASSWORD, email: 'new@example.org' }, token)
    const page = await visitor()
    await page.goto(await mailedLink(server, 'new@example.org', 'Confirm your new mail address', '/api/account/confirm_email/'))
    assert.equal(await heading(page), 'Address confirmed')
    await isUsable(page)
    await mailed(server, 'dora@example.org', 'The mail address of your account')
  })
  await check('the account is deleted, and its nickname stays reserved', async () => {
    const wrong = await server.call('POST', '/api/v1/svc/delete_account', { password: 'wrong' }, token)
    assert.deepEqual(wrong.body, { error: 'Invalid password.' })
    const { id } = await request(server, 'GET', '/api/v1/accounts/verify_credentials', undefined, token)
    await request(server, 'POST', '/api/v1/svc/delete_account', { password: PASSWORD }, token)
    const refused = await signInPage(server)
    await signIn(refused, 'dora', PASSWORD)
    assert(await refused.locator('[role=alert]').count(), await refused.textContent('main'))
    assert.notEqual((await server.call('GET', `/api/v1/accounts/${id}`)).status, 200)
    const again = await visitor()
    await again.goto(`${server.base}/auth/sign_up`)
    await fillSignUp(again, { nickname: 'dora', email: 'other@example.org', password: PASSWORD })
    await press(again, 'Create the account')
    assert.equal(await again.locator('#nickname[aria-invalid=true]').count(), 1, await again.textContent('main'))
  })
}

const words = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen'.split(' ')

// solve returns the digits that the words beside a captcha describe, as "the digit after two; three plus four".
function solve(text) {
  return text.split('without spaces: ')[1].split('.')[0].split('; ').map((part) => {
    const list = part.split(' ')
    const [first, last] = [words.indexOf(list[0]), words.indexOf(list.at(-1))]
    const results = { after: last + 1, before: last - 1, of: last / 2, minus: first - last, plus: first + last }
    assert(list.at(-2) in results, part)
    return results[list.at(-2)]
  }).join('')
}

async function registerByInvite(server) {
  const page = await visitor()
  await check('closed registration says so', async () => {
    await page.goto(`${server.base}/auth/sign_up`)
    assert.equal(await heading(page), 'Registration is closed')
    await isUsable(page, [403])
  })
  const link = server.command('user', 'invite').match(/https?:\/\/\S+/)[0]
  const fay = { nickname: 'fay', email: 'fay@example.org', password: PASSWORD, reason: 'I like it here.' }
  await check('an invite opens the sign-up page, which has a captcha', async () => {
    await page.goto(link)
    await isUsable(page)
    assert(await page.locator('img.captcha').evaluate((image) => image.complete && image.naturalWidth > 0), 'no picture')
    await page.getByText('You cannot see the picture?').click()
    await isUsable(page)
  })
  await check('wrong digits get an error and another picture', async () => {
    const before = await page.locator('img.captcha').getAttribute('src')
    await fillSignUp(page, fay)
    await page.getByLabel('Digits in the picture').fill('1')
    await press(page, 'Create the account')
    assert.equal(await page.locator('#captcha[aria-invalid=true]').count(), 1, await page.textContent('main'))
    assert.notEqual(await page.locator('img.captcha').getAttribute('src'), before)
    await isUsable(page, [422])
  })
  await check('the words beside the picture solve it', async () => {
    await fillSignUp(page, { ...fay, agreed: false })
    await page.getByLabel('Digits in the picture').fill(solve(await page.textContent('#captcha-text')))
    await press(page, 'Create the account')
    assert.equal(await heading(page), 'Confirm your e-mail address')
    await isUsable(page)
  })
  await check('an invite works once', async () => {
    const again = await visitor()
    await again.goto(link)
    assert.equal(await heading(again), 'This invite is not valid')
    await isUsable(again, [403])
  })
  await check('a mail server delivers the confirmation', async () => {
    await page.goto(await mailedLink(server, 'fay@example.org', 'Confirm your mail address', '/api/account/confirm_email/'))
    assert.equal(await heading(page), 'Address confirmed')
    assert.match(await page.textContent('main'), /moderators/)
    await isUsable(page)
  })
  await check('the account waits for approval', async () => {
    const waiting = await signInPage(server)
    await signIn(waiting, 'fay', PASSWORD)
    assert.match(await waiting.textContent('[role=alert]'), /approv/i)
    await mailed(server, 'admin@example.org', 'New account to approve')
    server.command('user', 'approve', 'fay')
    await mailed(server, 'fay@example.org', 'is approved')
    await signIn(waiting, 'fay', PASSWORD)
    await wantConsent(waiting)
  })
  await check('an invite by mail opens the sign-up page', async () => {
    server.command('user', 'invite', '--email', 'gil@example.org')
    await page.goto(await mailedLink(server, 'gil@example.org', 'Invitation', '/registration/'))
    assert.equal(await heading(page), 'Create an account')
  })
  await check('a revoked invite does not work', async () => {
    const [, id, another] = server.command('user', 'invite', '--max-use', '5', '--expires-at', '2099-12-31').match(/invite (\d+)[^]*?(http\S+)/)
    server.command('user', 'revoke-invite', id)
    await page.goto(another)
    assert.equal(await heading(page), 'This invite is not valid')
  })
  await check('apps get the captcha by the API', async () => {
    const captcha = await request(server, 'GET', '/api/v1/svc/captcha')
    assert.equal(captcha.type, 'native')
    assert.match(captcha.url, /^data:image\/png;base64,/)
    assert.match(solve(captcha.text), /^\d+$/)
  })
}

await registerInTheBrowser(open)
await resetPassword(open)
await secondFactor(open)
await changeAndDelete(open)
await registerByInvite(invited)
await end()
