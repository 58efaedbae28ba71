#!/usr/bin/env node
// A server built with Fedify and ours exchange follows, posts, replies, likes, boosts, quotes, polls, votes, undos and deletions in both
// directions, and both replace their keys, once for each signature scheme that Fedify signs with.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { createFederation, generateCryptoKeyPair, InProcessMessageQueue, MemoryKvStore } from '@fedify/fedify'
import {
  Accept, Announce, Create, Delete, Endpoints, Follow, Like, Mention, Note, Person, PUBLIC_COLLECTION, Question, QuoteAuthorization,
  QuoteRequest, Reject, Tombstone, Undo, Update,
} from '@fedify/vocab'
import { Temporal } from '@js-temporal/polyfill'
import { BASE_URL, check, DOMAIN, PASSWORD, waitFor, WORK } from './lib.mjs'

// peer starts a server with one account, bea, which accepts every follow. It records incoming activities and the posts that it
// serves.
async function peer(firstKnock) {
  const came = [], posts = new Map(), authorizations = new Map(), followers = new Map(), gone = new Set()
  const keys = [await generateCryptoKeyPair('RSASSA-PKCS1-v1_5'), await generateCryptoKeyPair('Ed25519')]
  const federation = createFederation({
    kv: new MemoryKvStore(), queue: new InProcessMessageQueue({ pollInterval: { milliseconds: 20 } }), allowPrivateAddress: true, firstKnock,
  })
  federation.setActorDispatcher('/users/{identifier}', async (ctx, identifier) => {
    if (identifier !== 'bea') return null
    const pairs = await ctx.getActorKeyPairs(identifier)
    return new Person({
      id: ctx.getActorUri(identifier), preferredUsername: identifier, name: 'Bea', summary: '<p>over there</p>',
      inbox: ctx.getInboxUri(identifier), outbox: ctx.getOutboxUri(identifier), followers: ctx.getFollowersUri(identifier),
      endpoints: new Endpoints({ sharedInbox: ctx.getInboxUri() }), url: ctx.getActorUri(identifier),
      publicKey: pairs[0].cryptographicKey, assertionMethods: pairs.map((pair) => pair.multikey),
    })
  }).setKeyPairsDispatcher((_, identifier) => identifier === 'bea' ? keys : [])
  federation.setFollowersDispatcher('/users/{identifier}/followers', () => ({ items: [...followers.values()] }))
  federation.setOutboxDispatcher('/users/{identifier}/outbox', () => ({ items: [] }))
  federation.setObjectDispatcher(Note, '/notes/{id}', (_, { id }) => gone.has(id) ? null : posts.get(id) ?? null)
  federation.setObjectDispatcher(Question, '/polls/{id}', (_, { id }) => posts.get(id) ?? null)
  federation.setObjectDispatcher(QuoteAuthorization, '/quotes/{id}', (_, { id }) => authorizations.get(id) ?? null)
  const inbox = federation.setInboxListeners('/users/{identifier}/inbox', '/inbox')
  for (const type of [Accept, Announce, Create, Delete, Follow, Like, QuoteRequest, Reject, Undo, Update]) {
    inbox.on(type, async (ctx, activity) => {
      came.push(activity)
      if (activity instanceof Follow) {
        const follower = await activity.getActor(ctx)
        followers.set(follower.id.href, { id: follower.id, inboxId: follower.inboxId, endpoints: follower.endpoints })
        await ctx.sendActivity({ identifier: 'bea' }, follower, new Accept({
          id: new URL(`#accepts/${crypto.randomUUID()}`, ctx.getActorUri('bea')), actor: ctx.getActorUri('bea'), object: activity,
        }))
      }
    })
  }
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url, `http://${request.headers.host}`)
    const body = ['GET', 'HEAD'].includes(request.method) ? undefined : Buffer.concat(chunks)
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const answer = await federation.fetch(new Request(url, { method: request.method, headers, body }), { contextData: undefined })
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const origin = `http://localhost:${server.address().port}`
  const stopping = new AbortController()
  federation.startQueue(undefined, { signal: stopping.signal })
  const ctx = federation.createContext(new URL(origin), undefined)
  return {
    came, posts, gone, ctx, handle: `bea@localhost:${server.address().port}`, id: ctx.getActorUri('bea'),
    stop: () => { stopping.abort(); server.closeAllConnections(); server.close() },
    send: (to, activity) => ctx.sendActivity({ identifier: 'bea' }, to, activity),
    // got waits for an activity of a type about an object, and removes it from the recorded ones.
    got: async (type, fits = () => true) => {
      let found
      await waitFor(async () => {
        for (const [at, activity] of came.entries()) {
          if (activity instanceof type && await fits(activity)) {
            found = came.splice(at, 1)[0]
            return true
          }
        }
        return false
      })
      return found
    },
    // rotate replaces the keys.
    rotate: async () => {
      keys[0] = await generateCryptoKeyPair('RSASSA-PKCS1-v1_5')
      keys[1] = await generateCryptoKeyPair('Ed25519')
    },
    // authorize serves the consent to a quote and returns it.
    authorize: (request) => {
      const id = crypto.randomUUID()
      const authorization = new QuoteAuthorization({
        id: ctx.getObjectUri(QuoteAuthorization, { id }), attribution: ctx.getActorUri('bea'), interactingObject: request.instrumentId,
        interactionTarget: request.objectId,
      })
      authorizations.set(id, authorization)
      return authorization
    },
    note: (values, Type = Note) => {
      const id = crypto.randomUUID()
      const note = new Type({
        id: ctx.getObjectUri(Type, { id }), attribution: ctx.getActorUri('bea'), to: PUBLIC_COLLECTION,
        published: Temporal.Now.instant(), ...values,
      })
      posts.set(id, note)
      return note
    },
    create: (note, more) => new Create({
      id: new URL('#create', note.id), actor: ctx.getActorUri('bea'), object: note, tos: note.toIds, ccs: note.ccIds, ...more,
    }),
  }
}

// api makes a request to our server with a token, and returns its answer.
async function api(token, method, path, body) {
  const response = await fetch(BASE_URL + path, {
    method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body),
  })
  const text = await response.text()
  assert(response.ok, `${method} ${path}: ${response.status} ${text}`)
  return text ? JSON.parse(text) : undefined
}

async function signIn(nickname) {
  const app = await api('', 'POST', '/api/v1/apps', { client_name: 'peer', redirect_uris: 'urn:ietf:wg:oauth:2.0:oob', scopes: 'read write follow' })
  const token = await api('', 'POST', '/oauth/token', {
    grant_type: 'password', client_id: app.client_id, client_secret: app.client_secret, username: nickname, password: PASSWORD,
    scope: 'read write follow',
  })
  return (method, path, body) => api(token.access_token, method, path, body)
}

const home = (as) => as('GET', '/api/v1/timelines/home?limit=40')
const inHome = (as, uri) => async () => (await home(as)).find((status) => status.uri === uri || status.reblog?.uri === uri)

for (const firstKnock of ['draft-cavage-http-signatures-12', 'rfc9421']) {
  const them = await peer(firstKnock)
  const alice = await signIn('alice')
  const label = (name) => `${name} (${firstKnock})`
  const me = await alice('GET', '/api/v1/accounts/verify_credentials')
  let bea, alices, theirs

  await check(label('they find our account by its handle'), async () => {
    const response = await fetch(`${BASE_URL}/.well-known/webfinger?resource=acct:alice@${DOMAIN}`) // Fedify would speak https
    const { subject, links } = await response.json()
    assert.equal(subject, `acct:alice@${DOMAIN}`)
    alices = await them.ctx.lookupObject(links.find((link) => link.rel === 'self').href)
    assert(alices instanceof Person, `${alices}`)
    assert.equal(alices.preferredUsername, 'alice')
  })
  await check(label('we find their account by its handle'), async () => {
    const found = await alice('GET', `/api/v2/search?resolve=true&type=accounts&q=${encodeURIComponent(them.handle)}`)
    bea = found.accounts[0]
    assert.equal(bea?.acct, them.handle)
    assert.equal(bea.display_name, 'Bea')
  })
  await check(label('we follow, they accept'), async () => {
    await alice('POST', `/api/v1/accounts/${bea.id}/follow`)
    await them.got(Follow)
    await waitFor(async () => (await alice('GET', `/api/v1/accounts/relationships?id[]=${bea.id}`))[0].following)
  })
  await check(label('they follow, we accept'), async () => {
    const follow = new Follow({ id: new URL(`#follows/${crypto.randomUUID()}`, them.id), actor: them.id, object: alices.id })
    await them.send(alices, follow)
    await them.got(Accept, (accept) => accept.objectId?.href === follow.id.href || true)
    await waitFor(async () => (await alice('GET', `/api/v1/accounts/relationships?id[]=${bea.id}`))[0].followed_by)
    await waitFor(async () => (await alice('GET', '/api/v1/notifications')).some((n) => n.type === 'follow' && n.account.id === bea.id))
  })
  await check(label('they post, we see it'), async () => {
    theirs = them.note({ content: '<p>hello <b>from</b> there</p>', cc: them.ctx.getFollowersUri('bea') })
    await them.send(alices, them.create(theirs))
    await waitFor(inHome(alice, theirs.id.href))
    const status = await inHome(alice, theirs.id.href)()
    assert.equal(status.visibility, 'public')
    assert.match(status.content, /hello/)
  })
  let ours
  await check(label('we post, they get it'), async () => {
    ours = await alice('POST', '/api/v1/statuses', { status: `good morning ${firstKnock}` })
    const create = await them.got(Create)
    const note = await create.getObject(them.ctx)
    assert(note instanceof Note)
    assert.equal(note.id.href, ours.uri)
    assert.match(String(note.content), /good morning/)
  })
  await check(label('they read our post at its id'), async () => {
    const note = await them.ctx.lookupObject(ours.uri)
    assert(note instanceof Note, `${note}`)
    assert.equal(note.attributionId.href, alices.id.href)
  })
  await check(label('they answer, we are told'), async () => {
    const reply = them.note({
      content: `<p><a href="${alices.id.href}">@alice</a> good morning too</p>`, replyTarget: new URL(ours.uri), cc: alices.id,
      tags: [new Mention({ href: alices.id, name: `@alice@${DOMAIN}` })],
    })
    await them.send(alices, them.create(reply))
    await waitFor(async () => (await alice('GET', '/api/v1/notifications?types[]=mention')).some((n) => n.status?.uri === reply.id.href))
    const thread = await alice('GET', `/api/v1/statuses/${ours.id}/context`)
    assert(thread.descendants.some((status) => status.uri === reply.id.href))
  })
  await check(label('we answer, they get it'), async () => {
    const status = await inHome(alice, theirs.id.href)()
    const reply = await alice('POST', '/api/v1/statuses', { status: `@${them.handle} hello back`, in_reply_to_id: status.id })
    const create = await them.got(Create)
    const note = await create.getObject(them.ctx)
    assert.equal(note.id.href, reply.uri)
    assert.equal(note.replyTargetId.href, theirs.id.href)
    const tags = []
    for await (const tag of note.getTags()) tags.push(tag)
    assert(tags.some((tag) => tag instanceof Mention && tag.href.href === them.id.href))
  })
  await check(label('they like and take it back'), async () => {
    const like = new Like({ id: new URL(`#likes/${crypto.randomUUID()}`, them.id), actor: them.id, object: new URL(ours.uri) })
    await them.send(alices, like)
    await waitFor(async () => (await alice('GET', `/api/v1/statuses/${ours.id}`)).favourites_count === 1)
    await them.send(alices, new Undo({ id: new URL('#undo', `${like.id.href}-undo`), actor: them.id, object: like }))
    await waitFor(async () => (await alice('GET', `/api/v1/statuses/${ours.id}`)).favourites_count === 0)
  })
  await check(label('we like and take it back'), async () => {
    const status = await inHome(alice, theirs.id.href)()
    await alice('POST', `/api/v1/statuses/${status.id}/favourite`)
    const like = await them.got(Like)
    assert.equal(like.objectId.href, theirs.id.href)
    await alice('POST', `/api/v1/statuses/${status.id}/unfavourite`)
    const undo = await them.got(Undo)
    assert.equal((await undo.getObject(them.ctx)).id.href, like.id.href)
  })
  await check(label('they boost and take it back'), async () => {
    const boost = new Announce({
      id: new URL(`#boosts/${crypto.randomUUID()}`, them.id), actor: them.id, object: new URL(ours.uri), to: PUBLIC_COLLECTION,
      cc: them.ctx.getFollowersUri('bea'), published: Temporal.Now.instant(),
    })
    await them.send(alices, boost)
    await waitFor(async () => (await alice('GET', `/api/v1/statuses/${ours.id}`)).reblogs_count === 1)
    await them.send(alices, new Undo({ id: new URL('#undo', `${boost.id.href}-undo`), actor: them.id, object: boost }))
    await waitFor(async () => (await alice('GET', `/api/v1/statuses/${ours.id}`)).reblogs_count === 0)
  })
  await check(label('we boost and take it back'), async () => {
    const status = await inHome(alice, theirs.id.href)()
    await alice('POST', `/api/v1/statuses/${status.id}/reblog`)
    const boost = await them.got(Announce)
    assert.equal(boost.objectId.href, theirs.id.href)
    await alice('POST', `/api/v1/statuses/${status.id}/unreblog`)
    await them.got(Undo)
  })
  await check(label('they poll, we vote'), async () => {
    const poll = them.note({
      content: '<p>tea?</p>', cc: them.ctx.getFollowersUri('bea'), endTime: Temporal.Now.instant().add({ hours: 1 }),
      exclusiveOptions: ['yes', 'no'].map((name) => new Note({ name })),
    }, Question)
    await them.send(alices, them.create(poll))
    await waitFor(inHome(alice, poll.id.href))
    const status = await inHome(alice, poll.id.href)()
    assert.deepEqual(status.poll.options.map((option) => option.title), ['yes', 'no'])
    await alice('POST', `/api/v1/polls/${status.poll.id}/votes`, { choices: [1] })
    const vote = await (await them.got(Create)).getObject(them.ctx)
    assert.equal(String(vote.name), 'no')
    assert.equal(vote.replyTargetId.href, poll.id.href)
  })
  await check(label('we poll, they vote'), async () => {
    const status = await alice('POST', '/api/v1/statuses', { status: 'coffee?', poll: { options: ['yes', 'no'], expires_in: 3600 } })
    const poll = await (await them.got(Create)).getObject(them.ctx)
    assert(poll instanceof Question)
    const names = []
    for await (const option of poll.getExclusiveOptions()) names.push(String(option.name))
    assert.deepEqual(names, ['yes', 'no'])
    const vote = new Note({ id: new URL(`#votes/${crypto.randomUUID()}`, them.id), attribution: them.id, name: 'yes', replyTarget: poll.id, to: alices.id })
    await them.send(alices, them.create(vote, { id: new URL(`#creates/${crypto.randomUUID()}`, them.id) }))
    await waitFor(async () => (await alice('GET', `/api/v1/polls/${status.poll.id}`)).options[0].votes_count === 1)
  })
  await check(label('they quote, we consent'), async () => {
    let quote = them.note({ content: '<p>see</p>', quote: new URL(ours.uri), quoteUrl: new URL(ours.uri), cc: them.ctx.getFollowersUri('bea') })
    const request = new QuoteRequest({ id: new URL(`#quotes/${crypto.randomUUID()}`, them.id), actor: them.id, object: new URL(ours.uri), instrument: quote })
    await them.send(alices, request)
    const accept = await them.got(Accept)
    const authorization = await them.ctx.lookupObject(accept.resultId.href)
    assert(authorization instanceof QuoteAuthorization, `${authorization}`)
    assert.equal(authorization.interactionTargetId.href, ours.uri)
    assert.equal(authorization.interactingObjectId.href, quote.id.href)
    quote = quote.clone({ quoteAuthorization: authorization.id })
    await them.send(alices, them.create(quote))
    await waitFor(async () => (await alice('GET', '/api/v1/notifications?types[]=quote')).some((n) => n.status?.uri === quote.id.href))
    assert.equal((await inHome(alice, quote.id.href)()).quote.quoted_status.id, ours.id)
  })
  await check(label('we quote, they consent'), async () => {
    const status = await inHome(alice, theirs.id.href)()
    const quote = await alice('POST', '/api/v1/statuses', { status: 'look', quoted_status_id: status.id })
    const create = await them.got(Create)
    assert.equal((await create.getObject(them.ctx)).quoteUrl.href, theirs.id.href)
    const request = await them.got(QuoteRequest)
    assert.equal(request.objectId.href, theirs.id.href)
    assert.equal(request.instrumentId.href, quote.uri)
    const authorization = them.authorize(request)
    await them.send(alices, new Accept({ id: new URL(`#accepts/${crypto.randomUUID()}`, them.id), actor: them.id, object: request, result: authorization.id }))
    const update = await them.got(Update)
    assert.equal((await update.getObject(them.ctx)).quoteAuthorizationId.href, authorization.id.href)
  })
  await check(label('they edit, we see the new version'), async () => {
    const id = theirs.id.pathname.split('/').at(-1)
    theirs = theirs.clone({ content: '<p>hello again</p>', updated: Temporal.Now.instant().add({ seconds: 1 }) })
    them.posts.set(id, theirs)
    await them.send(alices, new Update({ id: new URL(`#update/${crypto.randomUUID()}`, theirs.id), actor: them.id, object: theirs, to: PUBLIC_COLLECTION }))
    await waitFor(async () => (await inHome(alice, theirs.id.href)())?.content.includes('hello again'))
  })
  await check(label('we edit, they get the new version'), async () => {
    await alice('PUT', `/api/v1/statuses/${ours.id}`, { status: 'good evening' })
    const update = await them.got(Update, async (u) => (await u.getObject(them.ctx)) instanceof Note)
    assert.match(String((await update.getObject(them.ctx)).content), /good evening/)
  })
  await check(label('they delete, it is gone'), async () => {
    them.gone.add(theirs.id.pathname.split('/').at(-1))
    await them.send(alices, new Delete({
      id: new URL('#delete', `${theirs.id.href}-delete`), actor: them.id, object: new Tombstone({ id: theirs.id }), to: PUBLIC_COLLECTION,
    }))
    await waitFor(async () => !(await inHome(alice, theirs.id.href)()))
  })
  await check(label('we delete, they hear of it'), async () => {
    await alice('DELETE', `/api/v1/statuses/${ours.id}`)
    const deletion = await them.got(Delete)
    assert.equal(deletion.objectId.href, ours.uri)
    const response = await fetch(ours.uri, { headers: { accept: 'application/activity+json' } })
    assert.equal(response.status, 410)
  })
  await check(label('they replace their keys, we take the new ones'), async () => {
    await them.rotate()
    const actor = await them.ctx.lookupObject(them.id)
    await them.send(alices, new Update({ id: new URL(`#update/${crypto.randomUUID()}`, them.id), actor: them.id, object: actor, to: PUBLIC_COLLECTION }))
    const after = them.note({ content: '<p>after the rotation</p>', cc: them.ctx.getFollowersUri('bea') })
    await them.send(alices, them.create(after))
    await waitFor(inHome(alice, after.id.href))
  })
  await check(label('we replace our keys, they take the new ones'), async () => {
    execFileSync(process.env.BINARY, ['user', 'rotate-keys', 'alice', '--config', `${WORK}/one/config.toml`])
    await them.got(Update, async (u) => { // one with the key before can still be on its way
      const person = await u.getObject(them.ctx)
      return person instanceof Person && person.publicKeyId.href !== alices.publicKeyId.href
    })
    const status = await alice('POST', '/api/v1/statuses', { status: 'after the rotation' })
    await them.got(Create, async (create) => create.objectId.href === status.uri)
  })
  await check(label('we unfollow, they hear of it'), async () => {
    await alice('POST', `/api/v1/accounts/${bea.id}/unfollow`)
    const undo = await them.got(Undo)
    assert((await undo.getObject(them.ctx)) instanceof Follow)
  })
  await check(label('a person of ours is readable by its id'), async () => {
    assert.equal(alices.url?.href ?? alices.url, me.url)
  })
  them.stop()
}
process.exit(0)
