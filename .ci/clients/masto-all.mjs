#!/usr/bin/env node
// The remaining calls of masto that this server implements, including streaming. The main flow is in masto.mjs.
import assert from 'node:assert/strict'
import { createECDH, randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { createOAuthAPIClient, createRestAPIClient, createStreamingAPIClient } from 'masto'
import WebSocket from 'ws'
import { BASE_URL, check, command, DOMAIN, ids, outOfBand, PASSWORD, picture, waitFor } from './lib.mjs'

// masto needs this for streams; Node.js has it from version 22 on.
globalThis.WebSocket ??= WebSocket
Promise.withResolvers ??= () => {
  const it = {}
  it.promise = new Promise((resolve, reject) => Object.assign(it, { resolve, reject }))
  return it
}

const scope = 'read write follow push'
const anonymous = createRestAPIClient({ url: BASE_URL })
const refused = (statusCode, call) => assert.rejects(async () => call, (error) => error.statusCode === statusCode)
const inHours = (n) => new Date(Date.now() + n * 3_600_000).toISOString()
let app, alice, bob, carol, her, him, them

async function signIn(username) {
  const oauth = createOAuthAPIClient({ url: BASE_URL })
  const { clientId, clientSecret } = app
  const { accessToken } = await oauth.token.create({ grantType: 'password', clientId, clientSecret, redirectUri: outOfBand, username, password: PASSWORD, scope })
  const it = createRestAPIClient({ url: BASE_URL, accessToken })
  const { v1, v2 } = it // the client itself takes everything for a path, also that it is awaited
  return { v1, v2, accessToken, account: await v1.accounts.verifyCredentials() }
}

await check('sign in', async () => {
  app = await anonymous.v1.apps.create({ clientName: 'masto check', redirectUris: outOfBand, scopes: scope })
  const people = await Promise.all(['alice', 'bob', 'carol'].map(signIn))
  ;[alice, bob, carol] = people
  ;[her, him, them] = people.map((p) => p.account)
})

await check('instance: peers, activity, and the parts that are left out', async () => {
  assert.deepEqual(await anonymous.v1.instance.peers.list(), [])
  assert.equal((await anonymous.v1.instance.activity.list()).length, 12)
  assert.equal(typeof (await anonymous.v1.instance.extendedDescription.fetch()).content, 'string')
  assert(Array.isArray(await anonymous.v1.customEmojis.list()))
  for (const list of [anonymous.v1.trends.tags.list(), anonymous.v1.trends.statuses.list(), anonymous.v1.trends.links.list(),
    alice.v1.suggestions.list(), alice.v2.suggestions.list(), alice.v1.endorsements.list(),
    alice.v1.accounts.$select(him.id).featuredTags.list(), alice.v1.accounts.$select(him.id).identityProofs.list()]) {
    assert.deepEqual(await list, [])
  }
  assert(Array.isArray(await anonymous.v1.directory.list()))
  assert.deepEqual(await alice.v1.featuredTags.list(), [])
  await alice.v1.suggestions.$select(him.id).remove()
})

await check('preferences', async () => {
  assert.equal((await alice.v1.preferences.fetch())['posting:default:visibility'], 'public')
})

await check('accounts: follow with options, pin, note, familiar followers, lists, remove from followers', async () => {
  const select = bob.v1.accounts.$select(her.id)
  const relationship = await select.follow({ notify: true, reblogs: false, languages: ['en'] })
  assert.deepEqual([relationship.notifying, relationship.showingReblogs, relationship.languages], [true, false, ['en']])
  await select.follow({ notify: false, reblogs: true, languages: [] })
  assert((await select.pin()).endorsed && !(await select.unpin()).endorsed)
  assert.equal((await select.note.create({ comment: 'orange' })).note, 'orange')
  await carol.v1.accounts.$select(him.id).follow()
  const [familiar] = await carol.v1.accounts.familiarFollowers.fetch({ id: [her.id] })
  assert.deepEqual([familiar.id, ids(familiar.accounts)], [her.id, [him.id]])
  assert.deepEqual(await select.lists.list(), [])
  assert.deepEqual(ids(await bob.v1.accounts.$select(him.id).following.list()), [her.id])
  await bob.v1.accounts.$select(them.id).removeFromFollowers()
  assert.deepEqual(ids(await bob.v1.accounts.$select(him.id).followers.list()), [])
})

await check('mute, block, domain block, follow requests', async () => {
  const select = alice.v1.accounts.$select(them.id)
  assert((await select.mute({ duration: 3600, notifications: false })).muting)
  assert.match((await alice.v1.mutes.list())[0].muteExpiresAt, /^20/)
  await select.unmute()
  assert((await select.block()).blocking)
  assert.deepEqual(ids(await alice.v1.blocks.list()), [them.id])
  await select.unblock()
  await alice.v1.domainBlocks.create({ domain: 'spam.example' })
  assert.deepEqual(await alice.v1.domainBlocks.list(), ['spam.example'])
  await alice.v1.domainBlocks.remove({ domain: 'spam.example' })
  await carol.v1.accounts.updateCredentials({ locked: true })
  for (const it of [alice, bob]) assert((await it.v1.accounts.$select(them.id).follow()).requested)
  assert.equal((await carol.v1.followRequests.list()).length, 2)
  assert((await carol.v1.followRequests.$select(her.id).authorize()).followedBy)
  assert(!(await carol.v1.followRequests.$select(him.id).reject()).followedBy)
  await carol.v1.accounts.updateCredentials({ locked: false })
})

await check('polls', async () => {
  const status = await alice.v1.statuses.create({ status: 'Which?', poll: { options: ['this', 'that'], expiresIn: 3600, hideTotals: true } })
  assert.deepEqual(status.poll.options.map((o) => [o.title, o.votesCount]), [['this', null], ['that', null]])
  const poll = await bob.v1.polls.$select(status.poll.id).votes.create({ choices: [1] })
  assert.deepEqual([poll.voted, poll.ownVotes], [true, [1]])
  assert.equal((await bob.v1.polls.$select(status.poll.id).fetch()).votesCount, 1)
  await refused(422, bob.v1.polls.$select(status.poll.id).votes.create({ choices: [0] }))
})

await check('scheduled statuses', async () => {
  const media = await alice.v2.media.create({ file: await openAsBlob(picture, { type: 'image/png' }) })
  const made = await alice.v1.statuses.create({ status: 'Later', mediaIds: [media.id], scheduledAt: inHours(2) })
  assert.deepEqual([made.params.text, ids(made.mediaAttachments)], ['Later', [media.id]])
  const select = alice.v1.scheduledStatuses.$select(made.id)
  assert.equal((await select.fetch()).id, made.id)
  const scheduledAt = inHours(3)
  assert.equal((await select.update({ scheduledAt })).scheduledAt, scheduledAt)
  await refused(422, select.update({ scheduledAt: new Date().toISOString() }))
  assert.deepEqual(ids(await alice.v1.scheduledStatuses.list()), [made.id])
  await select.remove()
  await refused(404, select.fetch())
})

await check('filters of the first version', async () => {
  const made = await bob.v1.filters.create({ phrase: 'word', context: ['home'], expiresIn: 3600, wholeWord: true })
  assert.deepEqual([made.phrase, made.wholeWord, typeof made.expiresAt], ['word', true, 'string'])
  assert.equal((await bob.v1.filters.$select(made.id).update({ phrase: 'other', context: ['home', 'thread'] })).phrase, 'other')
  assert.deepEqual(ids(await bob.v1.filters.list()), [made.id])
  assert.equal((await bob.v1.filters.$select(made.id).fetch()).phrase, 'other')
  await bob.v1.filters.$select(made.id).remove()
})

await check('filters of the second version', async () => {
  const made = await bob.v2.filters.create({ title: 'Colours', context: ['home'], filterAction: 'warn', keywordsAttributes: [{ keyword: 'orange' }] })
  const select = bob.v2.filters.$select(made.id)
  const [keyword] = await select.keywords.list()
  assert.equal(keyword.keyword, 'orange')
  const second = await select.keywords.create({ keyword: 'purple', wholeWord: true })
  await bob.v2.filters.keywords.$select(second.id).update({ keyword: 'violet', wholeWord: false })
  assert.equal((await bob.v2.filters.keywords.$select(second.id).fetch()).keyword, 'violet')
  const status = await alice.v1.statuses.create({ status: 'All is violet' })
  const other = await alice.v1.statuses.create({ status: 'All is well' })
  const [entry] = [await select.statuses.create({ statusId: other.id })]
  assert.deepEqual([entry.statusId, ids(await select.statuses.list())], [other.id, [entry.id]])
  assert.equal((await bob.v2.filters.statuses.$select(entry.id).fetch()).statusId, other.id)
  const filtered = async ({ id }) => (await bob.v1.statuses.$select(id).fetch()).filtered
  assert.deepEqual((await filtered(status)).map((f) => [f.filter.id, f.filter.context, f.keywordMatches]), [[made.id, ['home'], ['violet']]])
  assert.deepEqual((await filtered(other)).map((f) => f.statusMatches), [[other.id]])
  await bob.v2.filters.statuses.$select(entry.id).remove()
  const updated = await select.update({ title: 'Hues', filterAction: 'hide', keywordsAttributes: [{ id: second.id, _destroy: true }] })
  assert.deepEqual([updated.title, updated.filterAction, updated.keywords.map((k) => k.keyword)], ['Hues', 'hide', ['orange']])
  assert.deepEqual(await filtered(status), [])
  await bob.v2.filters.keywords.$select(keyword.id).remove()
  assert.equal((await select.fetch()).keywords.length, 0)
  assert.deepEqual(ids(await bob.v2.filters.list()), [made.id])
  await select.remove()
  assert.deepEqual(await bob.v2.filters.list(), [])
})

await check('hashtags', async () => {
  const tag = bob.v1.tags.$select('violet')
  assert.equal((await tag.fetch()).following, false)
  assert((await tag.follow()).following)
  assert.deepEqual((await bob.v1.followedTags.list()).map((t) => t.name), ['violet'])
  assert(!(await tag.unfollow()).following)
})

await check('conversations and the direct timeline', async () => {
  const status = await alice.v1.statuses.create({ status: '@bob psst', visibility: 'direct' })
  const [talk] = await bob.v1.conversations.list()
  assert.deepEqual([talk.unread, talk.lastStatus.id, ids(talk.svc.recipients).sort()], [true, status.id, [her.id, him.id].sort()])
  assert.deepEqual(ids(await bob.v1.timelines.direct.list()), [status.id])
  assert(!(await bob.v1.conversations.$select(talk.id).read()).unread)
  await bob.v1.conversations.$select(talk.id).remove()
  assert.deepEqual(await bob.v1.conversations.list(), [])
})

await check('search', async () => {
  const status = await alice.v1.statuses.create({ status: 'Hexagons are the bestagons #hexagon', visibility: 'unlisted' })
  assert.deepEqual(ids((await bob.v2.search.list({ q: 'bestagons' })).statuses), [status.id])
  assert.deepEqual(ids((await bob.v2.search.list({ q: '"the bestagons" from:alice', type: 'statuses' })).statuses), [status.id])
  assert.deepEqual(ids((await alice.v2.search.list({ q: 'from:me', type: 'statuses', limit: 1 })).statuses), [status.id])
  assert.deepEqual(ids((await bob.v2.search.list({ q: status.url, resolve: true })).statuses), [status.id])
  assert.deepEqual((await bob.v1.search.list({ q: '#hexagon' })).hashtags, ['hexagon'])
})

await check('reports', async () => {
  const report = await bob.v1.reports.create({ accountId: them.id, comment: 'spam', category: 'spam', ruleIds: null, forward: false })
  assert.deepEqual([report.actionTaken, report.targetAccount.id], [false, them.id])
})

await check('announcements', async () => {
  command('announcement', 'add', 'We move on Sunday')
  const [news] = await bob.v1.announcements.list()
  assert(!news.read && news.content.includes('Sunday'))
  await bob.v1.announcements.$select(news.id).dismiss()
  assert((await bob.v1.announcements.list())[0].read)
})

await check('push subscription', async () => {
  const keys = { p256dh: createECDH('prime256v1').generateKeys().toString('base64url'), auth: randomBytes(16).toString('base64url') }
  const push = bob.v1.push.subscription
  await refused(404, push.fetch())
  const made = await push.create({ subscription: { endpoint: 'https://push.example/1', keys }, data: { alerts: { mention: true } }, policy: 'followed' })
  assert.deepEqual([made.endpoint, made.alerts.mention, made.policy], ['https://push.example/1', true, 'followed'])
  assert.equal(made.serverKey, (await anonymous.v2.instance.fetch()).configuration.vapid.publicKey)
  assert.deepEqual((await push.update({ data: { alerts: { follow: true } } })).alerts.mention, false)
  assert.equal((await push.fetch()).alerts.follow, true)
  await push.remove()
  await refused(404, push.fetch())
})

await check('statuses: pin, mute of the thread, card, quotes, several at once', async () => {
  const status = await alice.v1.statuses.create({ status: 'Of note', language: 'en' })
  const select = alice.v1.statuses.$select(status.id)
  assert((await select.pin()).pinned && !(await select.unpin()).pinned)
  assert((await bob.v1.statuses.$select(status.id).mute()).muted)
  assert(!(await bob.v1.statuses.$select(status.id).unmute()).muted)
  assert.deepEqual(await select.card.fetch(), {})
  const quote = await bob.v1.statuses.create({ status: 'Look', quotedStatusId: status.id })
  assert.equal(quote.svc.quoteId, status.id)
  assert.deepEqual(ids(await anonymous.v1.statuses.fetch({ id: [status.id, quote.id] })), [quote.id, status.id])
  assert.deepEqual(ids(await select.rebloggedBy.list()), [])
  const media = await alice.v1.media.create({ file: await openAsBlob(picture, { type: 'image/png' }), description: 'one' })
  assert.equal((await alice.v1.media.$select(media.id).update({ description: 'two' })).description, 'two')
  assert.equal((await alice.v1.media.$select(media.id).fetch()).description, 'two')
  const list = await bob.v1.lists.create({ title: 'One' })
  assert.equal((await bob.v1.lists.$select(list.id).update({ title: 'Two', exclusive: true })).exclusive, true)
  assert.equal((await bob.v1.lists.$select(list.id).fetch()).title, 'Two')
  await bob.v1.lists.$select(list.id).remove()
})

await check('quotes: state, history, policy, notifications, revocation', async () => {
  const status = await alice.v1.statuses.create({ status: 'Quote me' })
  const select = alice.v1.statuses.$select(status.id)
  const quote = await bob.v1.statuses.create({ status: 'As she says', quotedStatusId: status.id })
  assert.deepEqual([quote.quote.state, quote.quote.quotedStatus.id], ['accepted', status.id])
  assert.deepEqual(ids(await select.quotes.list()), [quote.id])
  await bob.v1.statuses.$select(quote.id).update({ status: 'As she says so well' })
  assert.deepEqual((await anonymous.v1.statuses.$select(quote.id).history.list()).map((v) => v.quote.quotedStatus.id), [status.id, status.id])
  await select.update({ status: 'Quote me, please' })
  const [told] = await alice.v1.notifications.list({ types: ['quote'] })
  assert.deepEqual([told.account.id, told.status.id], [him.id, quote.id])
  const [edited] = await bob.v1.notifications.list({ types: ['quoted_update'] })
  assert.deepEqual([edited.account.id, edited.status.id], [her.id, quote.id])
  assert.equal((await select.quotes.$select(quote.id).revoke()).quote.state, 'revoked')
  assert(!ids(await alice.v1.notifications.list({ types: ['quote'] })).includes(told.id))
  assert.deepEqual((await select.interactionPolicy.update({ quoteApprovalPolicy: 'nobody' })).quoteApproval.automatic, [])
  await refused(422, bob.v1.statuses.create({ status: 'Again', quotedStatusId: status.id }))
})

await check('grouped notifications', async () => {
  await alice.v1.notifications.clear()
  const status = await alice.v1.statuses.create({ status: 'Well liked' })
  for (const person of [bob, carol]) await person.v1.statuses.$select(status.id).favourite()
  assert.equal((await alice.v1.notifications.unreadCount.fetch()).count, 2)
  assert.equal((await alice.v2.notifications.unreadCount.fetch()).count, 1)
  const { notificationGroups: [group], accounts } = await alice.v2.notifications.list()
  assert.deepEqual([group.type, group.notificationsCount, group.statusId, group.sampleAccountIds], ['favourite', 2, status.id, [them.id, him.id]])
  assert.deepEqual(ids(accounts).sort(), [him.id, them.id].sort())
  const one = alice.v2.notifications.$select(group.groupKey)
  assert.equal((await one.fetch()).notificationGroups[0].groupKey, group.groupKey)
  assert.deepEqual(ids(await one.accounts.fetch()), [them.id, him.id])
  await one.dismiss()
  assert.deepEqual((await alice.v2.notifications.list()).notificationGroups, [])
})

await check('notification policy and requests', async () => {
  await alice.v1.accounts.$select(them.id).unfollow()
  const { policy } = alice.v2.notifications
  assert.equal((await policy.fetch()).forNotFollowing, 'accept')
  assert.equal((await policy.update({ forNotFollowing: 'filter' })).forNotFollowing, 'filter')
  const { requests } = alice.v1.notifications
  for (const answer of ['dismiss', 'accept']) {
    await carol.v1.statuses.create({ status: '@alice may I?' })
    const [request] = await requests.list()
    assert.equal(request.account.id, them.id)
    assert.equal((await policy.fetch()).summary.pendingRequestsCount, 1)
    assert.equal((await requests.$select(request.id).fetch()).notificationsCount, '1')
    await requests.$select(request.id)[answer]()
    assert.deepEqual(await requests.list(), [])
    assert.equal((await alice.v1.notifications.list({ types: ['mention'], accountId: them.id })).length, answer === 'accept' ? 1 : 0)
  }
  assert.equal((await requests.merged.fetch()).merged, true)
  await policy.update({ forNotFollowing: 'accept' })
})

await check('profile: featured hashtags, endorsements, pictures', async () => {
  await alice.v1.statuses.create({ status: 'About #trains' })
  assert((await alice.v1.featuredTags.suggestions.list()).some((tag) => tag.name === 'trains'))
  const featured = await alice.v1.featuredTags.create({ name: 'trains' })
  assert.deepEqual((await anonymous.v1.accounts.$select(her.id).featuredTags.list()).map((tag) => tag.statusesCount), ['1'])
  await alice.v1.featuredTags.$select(featured.id).remove()
  const tag = alice.v1.tags.$select('trains')
  assert((await tag.feature()).featuring && !(await tag.unfeature()).featuring)
  await alice.v1.accounts.$select(him.id).follow()
  assert((await alice.v1.accounts.$select(him.id).endorse()).endorsed)
  assert.deepEqual(ids(await anonymous.v1.accounts.$select(her.id).endorsements.list()), [him.id])
  assert(!(await alice.v1.accounts.$select(him.id).unendorse()).endorsed)
  const changed = await alice.v1.accounts.updateCredentials({ avatar: await openAsBlob(picture, { type: 'image/png' }) })
  assert.notEqual((await alice.v1.profile.avatar.remove()).avatar, changed.avatar)
  await alice.v1.profile.header.remove()
  assert.deepEqual(ids(await anonymous.v1.accounts.fetch({ id: [her.id, him.id] })), [her.id, him.id])
})

// collect records the events of a subscription.
function collect(subscription) {
  const events = []
  const done = (async () => {
    for await (const event of subscription) events.push(event)
  })()
  return Object.assign(events, { subscription, done })
}

await check('streaming, many subscriptions on one socket', async () => {
  const list = await bob.v1.lists.create({ title: 'Her' })
  await bob.v1.lists.$select(list.id).accounts.create({ accountIds: [her.id] })
  const live = createStreamingAPIClient({ streamingApiUrl: `wss://${DOMAIN}`, accessToken: bob.accessToken })
  const streams = {
    user: collect(live.user.subscribe()), notification: collect(live.user.notification.subscribe()),
    public: collect(live.public.subscribe()), local: collect(live.public.local.subscribe()), media: collect(live.public.media.subscribe()),
    remote: collect(live.public.remote.subscribe()), tag: collect(live.hashtag.subscribe({ tag: 'live' })),
    localTag: collect(live.hashtag.local.subscribe({ tag: 'live' })), list: collect(live.list.subscribe({ list: list.id })),
    direct: collect(live.direct.subscribe()),
  }
  // A subscription is active once its first event has arrived: earlier posts are missed.
  const heard = () => Object.entries(streams).every(([name, events]) => ['media', 'remote', 'direct', 'notification'].includes(name) || events.length > 0)
  await waitFor(async () => {
    await alice.v1.statuses.create({ status: 'One, two #live' })
    await new Promise((done) => setTimeout(done, 200))
    return heard()
  })
  const media = await alice.v2.media.create({ file: await openAsBlob(picture, { type: 'image/png' }) })
  const status = await alice.v1.statuses.create({ status: '@bob on air #live', mediaIds: [media.id] })
  const secret = await alice.v1.statuses.create({ status: '@bob off air', visibility: 'direct' })
  await alice.v1.statuses.$select(status.id).update({ status: '@bob still on air #live', mediaIds: [media.id] })
  await alice.v1.statuses.$select(status.id).remove()
  await bob.v2.filters.create({ title: 'x', context: ['home'], keywordsAttributes: [{ keyword: 'x' }] })
  command('announcement', 'add', 'On air')
  const got = (name, event) => streams[name].filter((e) => e.event === event).map((e) => e.payload)
  for (const name of ['user', 'public', 'local', 'media', 'tag', 'localTag', 'list']) {
    await waitFor(() => got(name, 'delete').includes(status.id))
    assert(ids(got(name, 'update')).includes(status.id), `${name}: update`)
    assert(got(name, 'status.update').some((s) => s.id === status.id && s.content.includes('still')), `${name}: status.update`)
  }
  for (const name of ['user', 'notification']) assert.deepEqual(got(name, 'notification').map((n) => n.type), ['mention', 'mention'])
  assert(got('direct', 'conversation').some((c) => c.lastStatus.id === secret.id))
  assert(ids(got('user', 'update')).includes(secret.id))
  for (const name of ['public', 'local', 'media', 'tag', 'localTag', 'remote']) assert(!ids(got(name, 'update')).includes(secret.id))
  await waitFor(() => got('user', 'filters_changed').length > 0 && got('user', 'announcement').length > 0)
  assert.deepEqual(streams.remote, Object.assign([], streams.remote))
  streams.tag.subscription.unsubscribe()
  live.close()
})

process.exit(0) // the library keeps a timer
