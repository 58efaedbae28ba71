#!/usr/bin/env node
// masto, the JavaScript library under web clients such as Phanpy and Elk.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { createOAuthAPIClient, createRestAPIClient } from 'masto'
import { authorize, BASE_URL, camelCase, check, DOMAIN, ids, isA, PASSWORD, picture } from './lib.mjs'

const redirectUri = 'https://app.example.org/https%3A%2F%2Fexample.org/callback?kept=1'
const scopes = 'read write follow push'
const anonymous = createRestAPIClient({ url: BASE_URL })
const oauth = createOAuthAPIClient({ url: BASE_URL })
let app, alice, bob, her, him, post, reply

const entity = (name, value) => isA(name, value, camelCase)
const refused = (statusCode, call) => assert.rejects(async () => call, (error) => error.statusCode === statusCode)

// status checks that a status is complete and returns it.
function status(value) {
  entity('status', value)
  entity('account', value.account)
  assert.equal(typeof value.svc.local, 'boolean')
  value.mediaAttachments.forEach((attachment) => entity('attachment', attachment))
  return value
}

await check('instance, first and second version', async () => {
  const v1 = entity('instance', await anonymous.v1.instance.fetch())
  const v2 = await anonymous.v2.instance.fetch()
  assert.equal(v1.uri, DOMAIN)
  assert.equal(v2.domain, DOMAIN)
  assert.match(v2.version, /^2\.7\.2 \(compatible; svc \d+\.\d+\.\d+\)$/)
  assert.equal(v2.configuration.urls.streaming, `wss://${DOMAIN}`)
  assert(v2.configuration.mediaAttachments.supportedMimeTypes.includes('image/png'))
  assert.equal(v1.maxTootChars, v2.configuration.statuses.maxCharacters)
})

await check('apps.create', async () => {
  app = await anonymous.v1.apps.create({ clientName: 'masto check', redirectUris: redirectUri, scopes })
  assert(app.clientId && app.clientSecret)
})

await check('token by the authorize page, with PKCE and state', async () => {
  const codeVerifier = randomBytes(48).toString('base64url')
  const { clientId, clientSecret } = app
  const page = new URL('/oauth/authorize', BASE_URL)
  page.search = new URLSearchParams({
    response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: scopes, state: 'a b&c',
    force_login: 'true', code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
  })
  const address = new URL(authorize(page.href, 'alice'))
  assert(address.href.startsWith(`${redirectUri}&`), address.href)
  assert.equal(address.searchParams.get('state'), 'a b&c')
  const code = address.searchParams.get('code')
  const grant = { grantType: 'authorization_code', clientId, clientSecret, redirectUri, code, scope: scopes }
  await refused(400, oauth.token.create({ ...grant, codeVerifier: 'a'.repeat(43) }))
  const token = entity('token', await oauth.token.create({ ...grant, codeVerifier }))
  alice = createRestAPIClient({ url: BASE_URL, accessToken: token.accessToken })
})

await check('token by password, and of the app alone', async () => {
  const { clientId, clientSecret } = app
  const grant = { clientId, clientSecret, redirectUri, scope: scopes }
  const login = { ...grant, grantType: 'password', username: 'bob' }
  const token = entity('token', await oauth.token.create({ ...login, password: PASSWORD }))
  bob = createRestAPIClient({ url: BASE_URL, accessToken: token.accessToken })
  await refused(400, oauth.token.create({ ...login, password: 'wrong' }))
  await refused(401, oauth.token.create({ ...grant, clientSecret: 'wrong', grantType: 'client_credentials' }))
  const own = await oauth.token.create({ ...grant, grantType: 'client_credentials' })
  const it = createRestAPIClient({ url: BASE_URL, accessToken: own.accessToken })
  assert.equal((await it.v1.apps.verifyCredentials()).name, 'masto check')
  assert.deepEqual(await it.v1.timelines.public.list(), [])
  await refused(422, it.v1.accounts.verifyCredentials())
})

await check('accounts.verifyCredentials, updateCredentials', async () => {
  her = entity('account', await alice.v1.accounts.verifyCredentials())
  him = entity('account', await bob.v1.accounts.verifyCredentials())
  assert.equal(her.acct, 'alice')
  const updated = await alice.v1.accounts.updateCredentials({
    displayName: 'Alice', avatar: await openAsBlob(picture, { type: 'image/png' }),
    fieldsAttributes: [{ name: 'Colour', value: 'orange' }], source: { privacy: 'unlisted' },
  })
  assert.equal(updated.displayName, 'Alice')
  assert.notEqual(updated.avatar, her.avatar)
  assert.equal(updated.source.fields[0].value, 'orange')
  assert.equal(updated.source.privacy, 'unlisted')
})

await check('accounts.lookup, search, relationships', async () => {
  assert.equal((await anonymous.v1.accounts.lookup({ acct: 'alice' })).id, her.id)
  assert.deepEqual(ids(await bob.v1.accounts.search.list({ q: 'alice', limit: 5 })), [her.id])
  assert.deepEqual(ids((await bob.v2.search.list({ q: '@alice', type: 'accounts' })).accounts), [her.id])
  const [relationship] = await bob.v1.accounts.relationships.fetch({ id: [her.id] })
  assert.equal(entity('relationship', relationship).following, false)
})

await check('follow', async () => {
  assert(entity('relationship', await bob.v1.accounts.$select(her.id).follow()).following)
  assert.deepEqual(ids(await bob.v1.accounts.$select(her.id).followers.list()), [him.id])
})

await check('v2.media.create and statuses.create', async () => {
  const file = await openAsBlob(picture, { type: 'image/png' })
  const media = entity('attachment', await alice.v2.media.create({ file, description: 'An orange rectangle' }))
  post = status(await alice.v1.statuses.create({ status: 'Hello #rectangle', mediaIds: [media.id], visibility: 'public' }))
  assert.equal(post.mediaAttachments[0].description, 'An orange rectangle')
  assert.equal(status(await alice.v1.statuses.create({ status: 'By default' })).visibility, 'unlisted')
  const response = await fetch(post.mediaAttachments[0].url)
  assert.equal(response.headers.get('content-type'), 'image/png')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
})

await check('Idempotency-Key', async () => {
  const requestInit = { headers: { 'Idempotency-Key': 'once' } }
  const once = () => alice.v1.statuses.create({ status: 'Once' }, { requestInit })
  const [one, two] = await Promise.all([once(), once()])
  assert.equal(one.id, two.id)
})

await check('timelines, page by page', async () => {
  const pages = []
  for await (const page of bob.v1.timelines.home.list({ limit: 2 })) pages.push(page.map(status))
  assert.deepEqual(pages.map((page) => page.length).filter(Boolean), [2, 1])
  assert.equal(pages.flat().at(-1).id, post.id)
  assert.deepEqual(ids(await bob.v1.timelines.home.list({ sinceId: pages[0][0].id })), [])
  for (const client of [bob, anonymous]) {
    assert.deepEqual(ids(await client.v1.timelines.public.list({ local: true, onlyMedia: true })), [post.id])
    assert.deepEqual(ids(await client.v1.timelines.tag.$select('rectangle').list()), [post.id])
  }
})

await check('reply and context', async () => {
  reply = status(await bob.v1.statuses.create({ status: '@alice Hello', inReplyToId: post.id }))
  assert.equal(reply.mentions[0].acct, 'alice')
  const { ancestors, descendants } = await anonymous.v1.statuses.$select(reply.id).context.fetch()
  assert.deepEqual([ids(ancestors), descendants], [[post.id], []])
})

await check('favourite, reblog, bookmark', async () => {
  const it = bob.v1.statuses.$select(post.id)
  assert.equal(status(await it.favourite()).favouritesCount, 1)
  assert.equal(status(status(await it.reblog()).reblog).id, post.id)
  assert(status(await it.bookmark()).bookmarked)
  assert.deepEqual(ids(await bob.v1.bookmarks.list()), [post.id])
  assert.deepEqual(ids(await bob.v1.favourites.list()), [post.id])
  assert.deepEqual(ids(await it.favouritedBy.list()), [him.id])
})

await check('notifications', async () => {
  const received = await alice.v1.notifications.list()
  received.forEach((notification) => entity('notification', notification))
  assert.deepEqual(received.map((n) => n.type).sort(), ['favourite', 'follow', 'mention', 'reblog'])
  received.filter((n) => n.type !== 'follow').forEach((n) => status(n.status))
  const [mention] = await alice.v1.notifications.list({ types: ['mention'] })
  assert.equal(mention.status.id, reply.id)
  assert.equal(mention.svc.isSeen, false)
  await alice.v1.markers.create({ notifications: { lastReadId: received[0].id } })
  const markers = await alice.v1.markers.fetch({ timeline: ['notifications'] })
  assert.equal(markers.notifications.lastReadId, received[0].id)
  await alice.v1.notifications.$select(mention.id).dismiss()
  assert.equal((await alice.v1.notifications.list()).length, 3)
  await alice.v1.notifications.clear()
  assert.deepEqual(await alice.v1.notifications.list(), [])
})

await check('edit, history, source', async () => {
  const it = bob.v1.statuses.$select(reply.id)
  assert(status(await it.update({ status: '@alice Hello again' })).editedAt)
  assert.equal((await it.history.list()).length, 2)
  assert.equal((await it.source.fetch()).text, '@alice Hello again')
})

await check('lists', async () => {
  const list = await bob.v1.lists.create({ title: 'Colours' })
  const accounts = bob.v1.lists.$select(list.id).accounts
  await accounts.create({ accountIds: [her.id] })
  assert.deepEqual(ids(await accounts.list()), [her.id])
  await accounts.remove({ accountIds: [her.id] })
  assert.deepEqual(await accounts.list(), [])
  await bob.v1.lists.$select(list.id).remove()
})

await check('delete', async () => {
  await refused(404, bob.v1.statuses.$select(post.id).remove())
  assert.equal((await alice.v1.statuses.$select(post.id).remove()).text, 'Hello #rectangle')
  await refused(404, anonymous.v1.statuses.$select(post.id).fetch())
})

await check('errors are JSON', async () => {
  await refused(404, anonymous.v1.noSuchThing.fetch())
  await refused(401, anonymous.v1.timelines.home.list())
  await refused(422, alice.v1.statuses.create({ status: '' }))
})
