#!/usr/bin/env node
// megalodon, the TypeScript library under several desktop and mobile apps, in the mode that its detector chooses.
import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import generator, { detector } from 'megalodon'
import { authorize, BASE_URL, check, DOMAIN, ids, isA, PASSWORD, picture, waitFor } from './lib.mjs'

const scopes = ['read', 'write', 'follow']
let mode, app, alice, bob, her, him, post, reply

// status checks that a status is complete and returns it.
function status(entity) {
  isA('status', entity)
  isA('account', entity.account)
  entity.media_attachments.forEach((attachment) => isA('attachment', attachment))
  return entity
}

const client = (token) => generator(mode, BASE_URL, token)

await check('detector', async () => {
  mode = await detector(BASE_URL)
  assert.equal(mode, 'mastodon')
})

await check('getInstance', async () => {
  const { data } = await client().getInstance()
  isA('instance', data)
  assert.equal(data.uri, DOMAIN)
  assert.equal(data.urls.streaming_api, `wss://${DOMAIN}`)
})

await check('registerApp', async () => {
  app = await client().registerApp('megalodon check', { scopes })
  assert(app.client_id && app.client_secret && app.url.startsWith(`${BASE_URL}/oauth/authorize?`))
})

await check('fetchAccessToken by the authorize page', async () => {
  const code = authorize(app.url, 'alice')
  const token = await client().fetchAccessToken(app.client_id, app.client_secret, code)
  isA('token', token)
  assert.equal(token.token_type, 'Bearer')
  await assert.rejects(client().fetchAccessToken(app.client_id, app.client_secret, code), (error) => {
    return error.response.status === 400 && error.response.data.error === 'invalid_grant'
  })
  // A code that is used twice may have been stolen: its token is revoked.
  await assert.rejects(client(token.access_token).verifyAccountCredentials(), /status code 401/)
  const again = await client().fetchAccessToken(app.client_id, app.client_secret, authorize(app.url, 'alice'))
  alice = client(again.access_token)
})

await check('token by password', async () => {
  const { client_id, client_secret } = app
  const grant = { grant_type: 'password', client_id, client_secret, username: 'bob', scope: scopes.join(' ') }
  const { data } = await client().client.post('/oauth/token', { ...grant, password: PASSWORD })
  isA('token', data)
  assert.equal(data.me, (await client(data.access_token).verifyAccountCredentials()).data.svc.ap_id)
  bob = client(data.access_token)
  await assert.rejects(client().client.post('/oauth/token', { ...grant, password: 'wrong' }), /status code 400/)
})

await check('verifyAppCredentials, verifyAccountCredentials', async () => {
  assert.equal((await alice.verifyAppCredentials()).data.name, 'megalodon check')
  her = isA('account', (await alice.verifyAccountCredentials()).data)
  him = isA('account', (await bob.verifyAccountCredentials()).data)
  assert.equal(her.acct, 'alice')
  assert.equal(her.source.privacy, 'public')
})

await check('updateCredentials', async () => {
  const fields_attributes = [{ name: 'Colour', value: 'orange' }]
  const { data } = await alice.updateCredentials({ display_name: 'Alice', note: 'Rectangles', fields_attributes })
  assert.equal(data.display_name, 'Alice')
  assert.deepEqual(data.source.fields.map(({ name, value }) => ({ name, value })), fields_attributes)
})

await check('searchAccount, lookupAccount, getAccount', async () => {
  assert.deepEqual(ids((await bob.searchAccount('alic', { limit: 5 })).data), [her.id])
  assert.equal((await bob.lookupAccount('alice')).data.id, her.id)
  assert.equal(isA('account', (await bob.getAccount(her.id)).data).display_name, 'Alice')
})

await check('followAccount, getRelationship', async () => {
  assert(isA('relationship', (await bob.followAccount(her.id)).data).following)
  assert(isA('relationship', (await alice.getRelationship(him.id)).data).followed_by)
  assert.deepEqual(ids((await bob.getAccountFollowing(him.id)).data), [her.id])
  assert.deepEqual(ids((await bob.getAccountFollowers(her.id, { get_all: true })).data), [him.id])
})

await check('uploadMedia, getMedia, postStatus', async () => {
  let { data: media } = await alice.uploadMedia(createReadStream(picture), { description: 'An orange rectangle' })
  await waitFor(async () => {
    media = (await alice.getMedia(media.id)).data
    return media.url
  })
  isA('attachment', media)
  post = status((await alice.postStatus('Hello #rectangle', { media_ids: [media.id], language: 'en' })).data)
  assert.equal(post.media_attachments[0].description, 'An orange rectangle')
  assert.equal(post.tags[0].name, 'rectangle')
})

await check('timelines', async () => {
  for (const page of [bob.getHomeTimeline({ limit: 5 }), bob.getPublicTimeline(), bob.getLocalTimeline(),
    bob.getTagTimeline('rectangle'), client().getPublicTimeline(), bob.getAccountStatuses(her.id, { only_media: true })]) {
    const { data } = await page
    assert.deepEqual(ids(data), [post.id])
    assert.equal(data[0].media_attachments.length, 1)
  }
  status((await bob.getHomeTimeline()).data[0])
})

await check('reply and getStatusContext', async () => {
  reply = status((await bob.postStatus('@alice Hello', { in_reply_to_id: post.id })).data)
  assert.equal(reply.in_reply_to_account_id, her.id)
  assert.equal(reply.mentions[0].id, her.id)
  const { data } = await alice.getStatusContext(post.id)
  assert.deepEqual([data.ancestors, ids(data.descendants)], [[], [reply.id]])
})

await check('favouriteStatus, reblogStatus, bookmarkStatus', async () => {
  assert(status((await bob.favouriteStatus(post.id)).data).favourited)
  const boost = status((await bob.reblogStatus(post.id)).data)
  assert.equal(status(boost.reblog).id, post.id)
  assert.notEqual(boost.id, post.id)
  assert((await bob.bookmarkStatus(post.id)).data.bookmarked)
  assert.deepEqual(ids((await bob.getBookmarks()).data), [post.id])
  assert.deepEqual(ids((await bob.getFavourites()).data), [post.id])
  assert.deepEqual(ids((await alice.getStatusRebloggedBy(post.id)).data), [him.id])
  assert.equal((await alice.getHomeTimeline()).data.find((s) => s.id === post.id).favourites_count, 1)
})

await check('getNotifications', async () => {
  const { data } = await alice.getNotifications()
  assert.deepEqual(data.map((n) => n.type).sort(), ['favourite', 'follow', 'mention', 'reblog'])
  for (const notification of data) {
    isA('notification', notification)
    assert.equal(notification.account.id, him.id)
    if (notification.type !== 'follow') status(notification.status)
  }
  const { data: some } = await alice.getNotifications({ exclude_types: ['follow', 'mention'] })
  assert.deepEqual(some.map((n) => n.type).sort(), ['favourite', 'reblog'])
})

await check('markers and dismissed notifications', async () => {
  const [newest] = (await alice.getNotifications({ limit: 1 })).data
  await alice.saveMarkers({ notifications: { last_read_id: newest.id } })
  assert.equal((await alice.getMarkers(['notifications'])).data.notifications.last_read_id, newest.id)
  await alice.dismissNotification(newest.id)
  assert.equal((await alice.getNotifications()).data.length, 3)
  await alice.dismissNotifications()
  assert.deepEqual((await alice.getNotifications()).data, [])
})

await check('lists', async () => {
  const { data: list } = await bob.createList('Colours')
  await bob.addAccountsToList(list.id, [her.id])
  assert.deepEqual(ids((await bob.getAccountsInList(list.id)).data), [her.id])
  const { data: shape } = await alice.postStatus('A shape', { visibility: 'unlisted' })
  assert.deepEqual(ids((await bob.getListTimeline(list.id)).data).slice(0, 1), [shape.id])
  await bob.deleteAccountsFromList(list.id, [her.id])
  assert.deepEqual((await bob.getAccountsInList(list.id)).data, [])
  await bob.deleteList(list.id)
})

await check('editStatus, getStatusSource', async () => {
  const edited = status((await bob.editStatus(reply.id, { status: '@alice Hello again' })).data)
  assert(edited.edited_at && edited.content.includes('Hello again'))
  assert.equal((await bob.getStatusSource(reply.id)).data.text, '@alice Hello again')
})

await check('what was done can be undone', async () => {
  assert(!(await bob.unfavouriteStatus(post.id)).data.favourited)
  assert(!(await bob.unreblogStatus(post.id)).data.reblogged)
  assert(!(await bob.unbookmarkStatus(post.id)).data.bookmarked)
  assert(!(await bob.unfollowAccount(her.id)).data.following)
})

await check('deleteStatus', async () => {
  await alice.deleteStatus(post.id)
  await assert.rejects(bob.getStatus(post.id), /status code 404/)
})

await check('revokeToken', async () => {
  await alice.revokeToken(app.client_id, app.client_secret, alice.client.accessToken)
  await assert.rejects(alice.verifyAccountCredentials(), /status code 401/)
})
