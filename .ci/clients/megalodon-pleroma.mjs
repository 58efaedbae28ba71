#!/usr/bin/env node
// megalodon in its mode for another server of the family, with api.name and api.compatible set to that server's: every call that the
// mode has.
import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { detector } from 'megalodon'
import { BASE_URL, check, command, ids, isA, listen, picture, waitFor } from './lib.mjs'
import { clients, inHours, refused, scopes } from './megalodon-lib.mjs'

const { client, signIn, checkRegistration } = clients('pleroma')
let app, alice, bob, carol, her, him, them, post

await check('detector and instance', async () => {
  assert.equal(await detector(BASE_URL), 'pleroma')
  const { data } = await client().getInstance()
  assert.equal(data.version, '2.7.2 (compatible; Pleroma 2.7.1)')
  assert.deepEqual((await client().getInstancePeers()).data, [])
  assert.equal((await client().getInstanceActivity()).data.length, 12)
  assert(Array.isArray((await client().getInstanceCustomEmojis()).data))
  assert.deepEqual((await client().getInstanceTrends()).data, [])
})

await check('registerApp, createApp, generateAuthUrl, tokens', async () => {
  assert((await client().registerApp('megalodon check', { scopes })).url.startsWith(`${BASE_URL}/oauth/authorize?`))
  app = await client().createApp('megalodon check', { scopes, redirect_uris: 'urn:ietf:wg:oauth:2.0:oob' })
  ;[alice, her] = await signIn(app, 'alice')
  ;[bob, him] = await signIn(app, 'bob')
  let token
  ;[carol, them, token] = await signIn(app, 'carol')
  carol = client((await carol.refreshToken(app.client_id, app.client_secret, token.refresh_token)).access_token)
  assert.equal((await carol.verifyAccountCredentials()).data.id, them.id)
  assert.equal((await alice.verifyAppCredentials()).data.name, 'megalodon check')
  const [extra, , revoked] = await signIn(app, 'carol')
  await client().revokeToken(app.client_id, app.client_secret, revoked.access_token)
  await refused(401, extra.verifyAccountCredentials())
})

await checkRegistration(app)

await check('accounts', async () => {
  assert.equal((await alice.updateCredentials({ display_name: 'Alice', source: { language: 'de' } })).data.display_name, 'Alice')
  assert.deepEqual(ids((await bob.searchAccount('alic', { limit: 5 })).data), [her.id])
  assert.equal((await bob.lookupAccount('alice')).data.id, her.id)
  assert.equal(isA('account', (await bob.getAccount(her.id)).data).display_name, 'Alice')
  assert.deepEqual((await bob.getIdentityProof(her.id)).data, [])
  assert.equal((await alice.getPreferences()).data['posting:default:language'], 'de')
})

await check('relationships', async () => {
  assert(isA('relationship', (await bob.followAccount(her.id)).data).following)
  assert.deepEqual(ids((await bob.getAccountFollowing(him.id)).data), [her.id])
  assert.deepEqual(ids((await alice.getAccountFollowers(her.id)).data), [him.id])
  assert((await alice.getRelationship(him.id)).data.followed_by)
  assert.equal((await alice.getRelationships([him.id, them.id])).data.length, 2)
  assert((await bob.subscribeAccount(her.id)).data.notifying)
  assert(!(await bob.unsubscribeAccount(her.id)).data.notifying)
  assert((await bob.pinAccount(her.id)).data.endorsed)
  assert(!(await bob.unpinAccount(her.id)).data.endorsed)
  assert((await bob.muteAccount(them.id, true)).data.muting)
  assert.deepEqual(ids((await bob.getMutes()).data), [them.id])
  assert(!(await bob.unmuteAccount(them.id)).data.muting)
  assert((await bob.blockAccount(them.id)).data.blocking)
  assert.deepEqual(ids((await bob.getBlocks()).data), [them.id])
  assert(!(await bob.unblockAccount(them.id)).data.blocking)
  await bob.blockDomain('example.net')
  assert.deepEqual((await bob.getDomainBlocks()).data, ['example.net'])
  await bob.unblockDomain('example.net')
  assert(!(await bob.unfollowAccount(her.id)).data.following)
})

await check('follow requests', async () => {
  await alice.updateCredentials({ locked: true })
  await bob.followAccount(her.id)
  await carol.followAccount(her.id)
  assert.deepEqual(ids((await alice.getFollowRequests()).data).sort(), [him.id, them.id].sort())
  assert((await alice.acceptFollowRequest(him.id)).data.followed_by)
  assert(!(await alice.rejectFollowRequest(them.id)).data.followed_by)
  await alice.updateCredentials({ locked: false })
})

await check('statuses and media', async () => {
  const { data: media } = await alice.uploadMedia(createReadStream(picture), { description: 'A rectangle' })
  assert.equal((await alice.getMedia(media.id)).data.id, media.id)
  assert.equal((await alice.updateMedia(media.id, { description: 'An orange rectangle' })).data.description, 'An orange rectangle')
  post = isA('status', (await alice.postStatus('Hello #rectangle', { media_ids: [media.id] })).data)
  const { data: reply } = await bob.postStatus('@alice Hello', { in_reply_to_id: post.id })
  assert.equal((await bob.getStatus(post.id)).data.id, post.id)
  assert.deepEqual(ids((await alice.getStatusContext(post.id)).data.descendants), [reply.id])
  assert((await alice.editStatus(post.id, { status: 'Hello again #rectangle', media_ids: [media.id] })).data.content.includes('again'))
  assert((await alice.getStatusSource(post.id)).data.text.includes('again'))
  assert((await bob.favouriteStatus(post.id)).data.favourited)
  assert.deepEqual(ids((await alice.getStatusFavouritedBy(post.id)).data), [him.id])
  assert.deepEqual(ids((await bob.getFavourites()).data), [post.id])
  assert(!(await bob.unfavouriteStatus(post.id)).data.favourited)
  assert((await bob.reblogStatus(post.id)).data.reblog)
  assert.deepEqual(ids((await alice.getStatusRebloggedBy(post.id)).data), [him.id])
  await bob.unreblogStatus(post.id)
  assert((await bob.bookmarkStatus(post.id)).data.bookmarked)
  assert.deepEqual(ids((await bob.getBookmarks()).data), [post.id])
  assert(!(await bob.unbookmarkStatus(post.id)).data.bookmarked)
  assert((await bob.muteStatus(post.id)).data.muted)
  assert(!(await bob.unmuteStatus(post.id)).data.muted)
  assert((await alice.pinStatus(post.id)).data.pinned)
  assert(!(await alice.unpinStatus(post.id)).data.pinned)
  assert((await bob.getAccountFavourites(him.id)).data.length >= 0)
  assert(ids((await bob.getAccountStatuses(her.id)).data).includes(post.id))
  await bob.deleteStatus(reply.id)
  await refused(404, bob.getStatus(reply.id))
})

await check('emoji reactions', async () => {
  await bob.createEmojiReaction(post.id, '🔥')
  const { data: [reaction] } = await alice.getEmojiReactions(post.id)
  assert.deepEqual([reaction.name, reaction.count, reaction.me], ['🔥', 1, false])
  assert((await bob.getEmojiReaction(post.id, '🔥')).data)
  const { data: [notification] } = await alice.getNotifications({ limit: 1 })
  assert.equal(notification.type, 'reaction')
  await bob.deleteEmojiReaction(post.id, '🔥')
  assert.deepEqual((await alice.getEmojiReactions(post.id)).data, [])
})

await check('polls and scheduled statuses', async () => {
  const { data: { poll } } = await alice.postStatus('Which?', { poll: { options: ['a', 'b'], expires_in: 3600 } })
  assert.equal((await bob.getPoll(poll.id)).data.options.length, 2)
  assert((await bob.votePoll(poll.id, [1])).data.voted)
  const { data: waiting } = await alice.postStatus('Later', { scheduled_at: inHours(2) })
  assert.deepEqual(ids((await alice.getScheduledStatuses()).data), [waiting.id])
  assert.equal((await alice.getScheduledStatus(waiting.id)).data.id, waiting.id)
  await alice.scheduleStatus(waiting.id, inHours(3))
  await alice.cancelScheduledStatus(waiting.id)
  assert.deepEqual((await alice.getScheduledStatuses()).data, [])
})

await check('timelines, lists, search', async () => {
  for (const page of [bob.getHomeTimeline(), bob.getPublicTimeline(), bob.getLocalTimeline(), bob.getTagTimeline('rectangle')]) {
    assert(ids((await page).data).includes(post.id))
  }
  const { data: list } = await bob.createList('One')
  assert.equal((await bob.updateList(list.id, 'Two')).data.title, 'Two')
  assert.equal((await bob.getList(list.id)).data.title, 'Two')
  assert.deepEqual(ids((await bob.getLists()).data), [list.id])
  await bob.addAccountsToList(list.id, [her.id])
  assert.deepEqual(ids((await bob.getAccountsInList(list.id)).data), [her.id])
  assert.deepEqual(ids((await bob.getAccountLists(her.id)).data), [list.id])
  assert(Array.isArray((await bob.getListTimeline(list.id)).data))
  await bob.deleteAccountsFromList(list.id, [her.id])
  await bob.deleteList(list.id)
  assert.deepEqual(ids((await bob.search('alice', { limit: 5 })).data.accounts), [her.id])
})

await check('conversations', async () => {
  const { data: { id } } = await alice.postStatus('@bob psst', { visibility: 'direct' })
  const { data: [talk] } = await bob.getConversationTimeline()
  assert.deepEqual([talk.unread, talk.last_status.id], [true, id])
  assert.equal((await bob.readConversation(talk.id)).data.unread, false)
  await bob.deleteConversation(talk.id)
})

await check('filters, report, announcements', async () => {
  const { data: filter } = await bob.createFilter('squares', ['home'])
  assert.equal((await bob.getFilter(filter.id)).data.phrase, 'squares')
  assert.equal((await bob.updateFilter(filter.id, 'cubes', ['home'])).data.phrase, 'cubes')
  assert.deepEqual(ids((await bob.getFilters()).data), [filter.id])
  await bob.deleteFilter(filter.id)
  assert((await bob.report(them.id, { comment: 'spam' })).data.id)
  command('announcement', 'add', 'We move on Sunday')
  const { data: [news] } = await bob.getInstanceAnnouncements()
  await bob.dismissInstanceAnnouncement(news.id)
})

await check('notifications, markers, push subscription', async () => {
  const { data: [first] } = await alice.getNotifications()
  assert.equal((await alice.getNotification(first.id)).data.id, first.id)
  await alice.readNotifications({ id: first.id })
  await alice.saveMarkers({ notifications: { last_read_id: first.id } })
  assert.equal((await alice.getMarkers(['notifications'])).data.notifications.last_read_id, first.id)
  await alice.dismissNotification(first.id)
  await alice.dismissNotifications()
  assert.deepEqual((await alice.getNotifications()).data, [])
  const ecdh = createECDH('prime256v1')
  const keys = { p256dh: ecdh.generateKeys().toString('base64url'), auth: randomBytes(16).toString('base64url') }
  assert((await bob.subscribePushNotification({ endpoint: 'https://push.example/1', keys }, { alerts: { mention: true } })).data.server_key)
  assert((await bob.updatePushSubscription({ alerts: { follow: true } })).data.alerts.follow)
  assert((await bob.getPushSubscription()).data.alerts.follow)
  await bob.deletePushSubscription()
})

await check('calls that answer with empty lists', async () => {
  assert.deepEqual((await alice.getSuggestions()).data, [])
  assert(Array.isArray((await alice.getEndorsements()).data))
})

await check('streams', async () => {
  const { data: list } = await bob.createList('Her')
  await bob.addAccountsToList(list.id, [her.id])
  const streams = {
    user: await listen(await bob.userStreaming()), public: await listen(await carol.publicStreaming()),
    local: await listen(await bob.localStreaming()), tag: await listen(await bob.tagStreaming('live')),
    list: await listen(await bob.listStreaming(list.id)), direct: await listen(await bob.directStreaming()),
  }
  const { data: status } = await alice.postStatus('@bob on air #live')
  await alice.postStatus('@bob off air', { visibility: 'direct' })
  const got = (name, event) => streams[name].filter(([e]) => e === event).map(([, payload]) => payload)
  for (const name of ['user', 'public', 'local', 'tag', 'list']) await waitFor(() => ids(got(name, 'update')).includes(status.id))
  await waitFor(() => got('user', 'notification').length === 2)
  await waitFor(() => got('direct', 'conversation').length > 0)
  for (const stream of Object.values(streams)) stream.stop()
})
