#!/usr/bin/env node
// The remaining calls of megalodon, in its reference mode, that this server implements, including streaming. The main flow is in
// megalodon.mjs.
import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { check, command, ids, listen, waitFor } from './lib.mjs'
import { clients, inHours, refused, scopes } from './megalodon-lib.mjs'

const { client, signIn, checkRegistration } = clients('mastodon')
let app, alice, bob, carol, her, him, them

await check('createApp, tokens, refreshToken', async () => {
  app = await client().createApp('megalodon check', { scopes, redirect_uris: 'urn:ietf:wg:oauth:2.0:oob' })
  ;[alice, her] = await signIn(app, 'alice')
  ;[bob, him] = await signIn(app, 'bob')
  let token
  ;[carol, them, token] = await signIn(app, 'carol')
  const renewed = await carol.refreshToken(app.client_id, app.client_secret, token.refresh_token)
  await refused(401, carol.verifyAccountCredentials())
  carol = client(renewed.access_token)
  assert.equal((await carol.verifyAccountCredentials()).data.id, them.id)
})

await checkRegistration(app)

await check('instance: peers, activity, emojis, trends, directory', async () => {
  assert.deepEqual((await client().getInstancePeers()).data, [])
  const { data: weeks } = await client().getInstanceActivity()
  assert.equal(weeks.length, 12)
  for (const week of weeks) for (const value of Object.values(week)) assert.match(value, /^\d+$/)
  assert(Array.isArray((await client().getInstanceCustomEmojis()).data))
  assert.deepEqual((await client().getInstanceTrends()).data, [])
  assert(Array.isArray((await client().getInstanceDirectory()).data))
})

await check('what is empty', async () => {
  for (const call of [alice.getSuggestions(), alice.getEndorsements(), alice.getIdentityProof(him.id)]) {
    assert.deepEqual((await call).data, [])
  }
  assert.deepEqual((await alice.getFeaturedTags()).data, [])
})

await check('getPreferences', async () => {
  const { data } = await alice.getPreferences()
  assert.equal(data['posting:default:visibility'], 'public')
  assert.equal(data['reading:expand:spoilers'], false)
})

await check('follow, subscribe, note, pin of an account', async () => {
  assert((await bob.followAccount(her.id, { reblog: true })).data.following)
  assert((await bob.pinAccount(her.id)).data.endorsed)
  assert(!(await bob.unpinAccount(her.id)).data.endorsed)
  await refused(422, alice.pinAccount(him.id))
  assert.equal((await bob.setAccountNote(her.id, 'likes colours')).data.note, 'likes colours')
  assert.deepEqual((await bob.getRelationships([her.id, them.id])).data.map((r) => r.following), [true, false])
  assert.deepEqual((await bob.getAccountLists(her.id)).data, [])
})

await check('follow requests', async () => {
  await carol.updateCredentials({ locked: true })
  assert((await bob.followAccount(them.id)).data.requested)
  assert((await alice.followAccount(them.id)).data.requested)
  assert.deepEqual(ids((await carol.getFollowRequests()).data).sort(), [her.id, him.id].sort())
  assert((await carol.acceptFollowRequest(him.id)).data.followed_by)
  assert(!(await carol.rejectFollowRequest(her.id)).data.followed_by)
  await carol.updateCredentials({ locked: false })
  await bob.unfollowAccount(them.id)
})

await check('mute, block, domain block', async () => {
  assert((await alice.muteAccount(them.id, true)).data.muting_notifications)
  assert.deepEqual(ids((await alice.getMutes()).data), [them.id])
  assert(!(await alice.unmuteAccount(them.id)).data.muting)
  assert((await alice.blockAccount(them.id)).data.blocking)
  assert.deepEqual(ids((await alice.getBlocks()).data), [them.id])
  assert(!(await alice.unblockAccount(them.id)).data.blocking)
  await alice.blockDomain('spam.example')
  assert.deepEqual((await alice.getDomainBlocks()).data, ['spam.example'])
  await alice.unblockDomain('spam.example')
  assert.deepEqual((await alice.getDomainBlocks()).data, [])
})

await check('polls', async () => {
  const { data: status } = await alice.postStatus('Which?', { poll: { options: ['this', 'that'], expires_in: 3600, multiple: true } })
  assert.deepEqual(status.poll.options.map((o) => o.title), ['this', 'that'])
  assert((await alice.getPoll(status.poll.id)).data.voted, 'its author counts as having voted')
  const { data: poll } = await bob.votePoll(status.poll.id, [0, 1])
  assert.deepEqual([poll.voted, poll.votes_count, poll.options[1].votes_count], [true, 2, 1])
  await refused(422, bob.votePoll(status.poll.id, [0]))
  await refused(422, alice.votePoll(status.poll.id, [0]))
})

await check('scheduled statuses', async () => {
  const { data: made } = await alice.postStatus('Later', { scheduled_at: inHours(2), spoiler_text: 'soon' })
  assert.equal(made.params.text, 'Later')
  assert.deepEqual(ids((await alice.getScheduledStatuses()).data), [made.id])
  const at = inHours(3)
  assert.equal((await alice.scheduleStatus(made.id, at)).data.scheduled_at, at)
  assert.equal((await alice.getScheduledStatus(made.id)).data.scheduled_at, at)
  await refused(404, bob.getScheduledStatus(made.id))
  await alice.cancelScheduledStatus(made.id)
  assert.deepEqual((await alice.getScheduledStatuses()).data, [])
})

await check('filters', async () => {
  const { data: made } = await bob.createFilter('rectangle', ['home', 'public'], { whole_word: true })
  assert.deepEqual([made.phrase, made.context, made.whole_word, made.irreversible], ['rectangle', ['home', 'public'], true, false])
  assert.deepEqual(ids((await bob.getFilters()).data), [made.id])
  const { data: changed } = await bob.updateFilter(made.id, 'triangle', ['home'], { irreversible: true })
  assert.deepEqual([changed.phrase, changed.context, changed.irreversible], ['triangle', ['home'], true])
  assert.equal((await bob.getFilter(made.id)).data.phrase, 'triangle')
  await refused(404, alice.getFilter(made.id))
  await bob.deleteFilter(made.id)
  assert.deepEqual((await bob.getFilters()).data, [])
})

await check('hashtags', async () => {
  await alice.postStatus('A #triangle')
  assert.equal((await bob.getTag('triangle')).data.following, false)
  assert((await bob.followTag('triangle')).data.following)
  assert.deepEqual((await bob.getFollowedTags()).data.map((t) => t.name), ['triangle'])
  const { data: fresh } = await carol.postStatus('By a stranger #triangle')
  assert(ids((await bob.getHomeTimeline()).data).includes(fresh.id))
  assert(!(await bob.unfollowTag('triangle')).data.following)
  assert.deepEqual((await bob.getFollowedTags()).data, [])
})

await check('conversations', async () => {
  const { data: status } = await alice.postStatus('@bob psst', { visibility: 'direct' })
  const { data: [talk] } = await bob.getConversationTimeline()
  assert.deepEqual([talk.unread, ids(talk.accounts), talk.last_status.id], [true, [her.id], status.id])
  assert.equal((await bob.readConversation(talk.id)).data.unread, false)
  await bob.deleteConversation(talk.id)
  assert.deepEqual((await bob.getConversationTimeline()).data, [])
})

await check('search', async () => {
  const { data: { id } } = await alice.postStatus('Hexagons are the bestagons #hexagon')
  assert.deepEqual(ids((await bob.search('bestagons', { type: 'statuses' })).data.statuses), [id])
  assert.deepEqual(ids((await bob.search('from:alice hexagons', { type: 'statuses' })).data.statuses), [id])
  assert((await bob.search('hexag', { type: 'hashtags' })).data.hashtags.some((t) => t.name === 'hexagon'))
  const { data: all } = await bob.search('alice', { limit: 5 })
  assert.deepEqual([ids(all.accounts), Array.isArray(all.statuses), Array.isArray(all.hashtags)], [[her.id], true, true])
})

await check('report', async () => {
  const { data: { id } } = await carol.postStatus('Buy my stuff')
  const { data } = await bob.report(them.id, { status_ids: [id], comment: 'spam', category: 'spam' })
  assert.deepEqual([data.action_taken, data.status_ids, data.category, data.target_account.id], [false, [id], 'spam', them.id])
})

await check('announcements', async () => {
  command('announcement', 'add', 'We move on Sunday')
  const { data: [news] } = await bob.getInstanceAnnouncements()
  assert(news.content.includes('We move on Sunday') && !news.read)
  await bob.dismissInstanceAnnouncement(news.id)
  assert((await bob.getInstanceAnnouncements()).data[0].read)
})

await check('push subscription', async () => {
  const ecdh = createECDH('prime256v1')
  const keys = { p256dh: ecdh.generateKeys().toString('base64url'), auth: randomBytes(16).toString('base64url') }
  await refused(404, bob.getPushSubscription())
  const { data } = await bob.subscribePushNotification({ endpoint: 'https://push.example/1', keys }, { alerts: { mention: true } })
  assert.deepEqual([data.endpoint, data.alerts.mention, data.alerts.follow], ['https://push.example/1', true, false])
  assert(data.server_key)
  assert.equal((await bob.updatePushSubscription({ alerts: { follow: true } })).data.alerts.follow, true)
  assert.equal((await bob.getPushSubscription()).data.alerts.mention, false)
  await bob.deletePushSubscription()
  await refused(404, bob.getPushSubscription())
})

await check('statuses: pin, mute of the thread, media, lists', async () => {
  const { data: status } = await alice.postStatus('Pinned')
  assert((await alice.pinStatus(status.id)).data.pinned)
  assert.deepEqual(ids((await bob.getAccountStatuses(her.id, { pinned: true })).data), [status.id])
  assert(!(await alice.unpinStatus(status.id)).data.pinned)
  assert((await bob.muteStatus(status.id)).data.muted)
  assert(!(await bob.unmuteStatus(status.id)).data.muted)
  await bob.favouriteStatus(status.id)
  assert.deepEqual(ids((await alice.getStatusFavouritedBy(status.id)).data), [him.id])
  const { data: list } = await bob.createList('One')
  assert.equal((await bob.updateList(list.id, 'Two')).data.title, 'Two')
  assert.equal((await bob.getList(list.id)).data.title, 'Two')
  assert.deepEqual(ids((await bob.getLists()).data), [list.id])
  const [notification] = (await alice.getNotifications({ limit: 1 })).data
  assert.equal((await alice.getNotification(notification.id)).data.type, 'favourite')
})

await check('streams: update, status_update, delete, notification, conversation', async () => {
  const { data: list } = await bob.createList('Her')
  await bob.addAccountsToList(list.id, [her.id])
  const streams = {
    user: await listen(await bob.userStreaming()), public: await listen(await carol.publicStreaming()),
    local: await listen(await bob.localStreaming()), tag: await listen(await bob.tagStreaming('Live')),
    list: await listen(await bob.listStreaming(list.id)), direct: await listen(await bob.directStreaming()),
  }
  const { data: status } = await alice.postStatus('@bob on air #live')
  const { data: secret } = await alice.postStatus('@bob off air', { visibility: 'direct' })
  await alice.editStatus(status.id, { status: '@bob still on air #live' })
  await alice.deleteStatus(status.id)
  const got = (name, event) => streams[name].filter(([e]) => e === event).map(([, payload]) => payload)
  for (const name of ['user', 'public', 'local', 'tag', 'list']) {
    await waitFor(() => got(name, 'delete').includes(status.id))
    assert(ids(got(name, 'update')).includes(status.id), `${name}: update`)
    assert(got(name, 'status_update').some((s) => s.id === status.id && s.content.includes('still')), `${name}: status_update`)
  }
  assert.deepEqual(got('user', 'notification').map((n) => n.type), ['mention', 'mention'])
  assert(got('direct', 'conversation').some((c) => c.last_status.id === secret.id))
  for (const name of ['public', 'local', 'tag']) assert(!ids(got(name, 'update')).includes(secret.id), `${name} shows a direct post`)
  for (const stream of Object.values(streams)) stream.stop()
})
