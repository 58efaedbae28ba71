#!/usr/bin/env node
// Two of our servers exchange every kind of activity, in both directions.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { end } from './browser.mjs'
import { check, PASSWORD, picture } from './lib.mjs'
import { walkThroughPeers } from './pages-peers.mjs'

const { BINARY, ONE_HOME, OTHER_HOME } = process.env

// server is one of the two, with its users by name.
const servers = [ONE_HOME, OTHER_HOME].map((home) => {
  const url = readFileSync(`${home}/url`, 'utf8').trim()
  return { url, host: new URL(url).host, config: `${home}/config.toml` }
})

const command = (server, ...args) => execFileSync(BINARY, [...args, '--config', server.config], { encoding: 'utf8' })

// until polls until the answer is truthy, and returns it.
async function until(ask) {
  for (const deadline = Date.now() + 20_000; ; await sleep(50)) {
    const answer = await ask()
    if (answer) return answer
    assert(Date.now() < deadline, `still nothing: ${ask}`)
  }
}

// person creates an account and returns its operations.
async function person(server, nickname, more = []) {
  command(server, 'user', 'create', nickname, '--email', `${nickname}@example.org`, '--password', PASSWORD, ...more)
  const request = async (token, method, path, body) => {
    const form = body instanceof FormData
    const response = await fetch(server.url + path, {
      method, headers: { ...token && { authorization: `Bearer ${token}` }, ...!form && { 'content-type': 'application/json' } },
      body: form ? body : body && JSON.stringify(body),
    })
    const text = await response.text()
    assert(response.ok, `${method} ${server.url}${path}: ${response.status} ${text}`)
    return text ? JSON.parse(text) : undefined
  }
  const scope = 'read write follow'
  const app = await request('', 'POST', '/api/v1/apps', { client_name: 'peers', redirect_uris: 'urn:ietf:wg:oauth:2.0:oob', scopes: scope })
  const { access_token } = await request('', 'POST', '/oauth/token', {
    grant_type: 'password', client_id: app.client_id, client_secret: app.client_secret, username: nickname, password: PASSWORD, scope,
  })
  const api = (method, path, body) => request(access_token, method, path, body)
  const self = await api('GET', '/api/v1/accounts/verify_credentials')
  const p = {
    server, nickname, api, self, handle: `${nickname}@${server.host}`,
    get: (path) => api('GET', path), post: (path, body) => api('POST', path, body),
    publish: (status, more) => api('POST', '/api/v1/statuses', { status, ...more }),
    // knows returns this server's copy of an account of the other.
    knows: async (other) => {
      const found = await p.get(`/api/v2/search?resolve=true&type=accounts&q=${encodeURIComponent('@' + other.handle)}`)
      assert.equal(found.accounts.length, 1, `${nickname} finds ${other.handle}`)
      return found.accounts[0]
    },
    // copy waits until a post of the other server is in this user's home timeline, and returns it.
    copy: (status) => until(async () => (await p.get('/api/v1/timelines/home?limit=40')).find((s) => s.uri === status.uri)),
    found: async (status) => (await p.get(`/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(status.uri)}`)).statuses[0],
    told: (type, fits = () => true) => until(async () =>
      (await p.get(`/api/v1/notifications?types[]=${type}&limit=40`)).find((n) => n.type === type && fits(n))),
    relation: async (id) => (await p.get(`/api/v1/accounts/relationships?id[]=${id}`))[0],
  }
  return p
}

async function gone(ask) {
  await until(async () => {
    try {
      return !(await ask())
    } catch (error) {
      return /: (404|410) /.test(error.message)
    }
  })
}

let round = 0
for (const [here, there] of [servers, servers.toReversed()]) {
  round++
  const label = (name) => `${name} (${round === 1 ? 'from the first to the second' : 'from the second to the first'})`
  const ann = await person(here, `ann${round}`), ben = await person(there, `ben${round}`), cat = await person(there, `cat${round}`)
  let annThere, benHere, catHere

  await check(label('people find each other'), async () => {
    ;[annThere, benHere, catHere] = [await ben.knows(ann), await ann.knows(ben), await ann.knows(cat)]
    assert.equal(annThere.acct, ann.handle)
    assert.equal(annThere.url, ann.self.url)
  })
  await check(label('following somebody open'), async () => {
    await ben.post(`/api/v1/accounts/${annThere.id}/follow`)
    await until(async () => (await ben.relation(annThere.id)).following)
    await ann.told('follow', (n) => n.account.id === benHere.id)
    await ann.post(`/api/v1/accounts/${benHere.id}/follow`)
    await until(async () => (await ann.relation(benHere.id)).following)
  })
  await check(label('following somebody locked: refused, then accepted'), async () => {
    await ann.api('PATCH', '/api/v1/accounts/update_credentials', { locked: true })
    await until(async () => (await cat.knows(ann)).locked)
    await cat.post(`/api/v1/accounts/${annThere.id}/follow`)
    await until(async () => (await cat.relation(annThere.id)).requested)
    await until(async () => (await ann.get('/api/v1/follow_requests')).some((a) => a.id === catHere.id))
    await ann.post(`/api/v1/follow_requests/${catHere.id}/reject`)
    await until(async () => !(await cat.relation(annThere.id)).requested)
    await cat.post(`/api/v1/accounts/${annThere.id}/follow`)
    await until(async () => (await ann.get('/api/v1/follow_requests')).some((a) => a.id === catHere.id))
    await ann.post(`/api/v1/follow_requests/${catHere.id}/authorize`)
    await until(async () => (await cat.relation(annThere.id)).following)
    await ann.api('PATCH', '/api/v1/accounts/update_credentials', { locked: false })
  })
  for (const visibility of ['public', 'unlisted', 'private']) {
    await check(label(`a post: ${visibility}`), async () => {
      const status = await ann.publish(`for ${visibility} #tag${round}`, { visibility, spoiler_text: 'careful', language: 'en', sensitive: true })
      const copy = await ben.copy(status)
      assert.equal(copy.visibility, visibility)
      assert.equal(copy.spoiler_text, 'careful')
      assert.equal(copy.language, 'en')
      assert(copy.sensitive && copy.tags.some((t) => t.name === `tag${round}`))
      assert.match(copy.content, new RegExp(`for ${visibility}`))
    })
  }
  await check(label('a direct post reaches who is named, nobody else'), async () => {
    const status = await ann.publish(`@${ben.handle} between us`, { visibility: 'direct' })
    const n = await ben.told('mention', (n) => n.status.uri === status.uri)
    assert.equal(n.status.visibility, 'direct')
    assert((await ben.get('/api/v1/conversations')).some((c) => c.last_status?.uri === status.uri))
    assert(!(await cat.get('/api/v1/timelines/home?limit=40')).some((s) => s.uri === status.uri))
    assert.equal(await cat.found(status), undefined)
    const answer = await ben.publish(`@${ann.handle} yes`, { visibility: 'direct', in_reply_to_id: n.status.id })
    const back = await ann.told('mention', (n) => n.status.uri === answer.uri)
    assert.equal(back.status.in_reply_to_id, status.id)
  })
  await check(label('a local post and a post to a list stay where they belong'), async () => {
    const list = await ann.post('/api/v1/lists', { title: 'friends' })
    await ann.post(`/api/v1/lists/${list.id}/accounts`, { account_ids: [benHere.id] })
    const local = await ann.publish('for us here', { visibility: 'local' })
    const toList = await ann.publish('for friends', { visibility: `list:${list.id}` })
    await ben.copy(toList)
    assert(!(await cat.get('/api/v1/timelines/home?limit=40')).some((s) => s.uri === toList.uri))
    assert(!(await ben.get('/api/v1/timelines/home?limit=40')).some((s) => s.uri === local.uri))
    assert.equal(await ben.found(local), undefined)
  })
  await check(label('media'), async () => {
    const form = new FormData()
    form.set('file', new Blob([readFileSync(picture)], { type: 'image/png' }), 'picture.png')
    form.set('description', 'a picture')
    const media = await ann.post('/api/v1/media', form)
    const copy = await ben.copy(await ann.publish('look', { media_ids: [media.id] }))
    assert.equal(copy.media_attachments[0].type, 'image')
    assert.equal(copy.media_attachments[0].description, 'a picture')
    const shown = await fetch(copy.media_attachments[0].url)
    assert.equal(shown.status, 200)
    assert.match(shown.headers.get('content-type'), /^image\/png/)
  })
  await check(label('a poll: votes go home, counts come back'), async () => {
    const status = await ann.publish('tea?', { poll: { options: ['yes', 'no'], expires_in: 3600 } })
    const copy = await ben.copy(status)
    assert.deepEqual(copy.poll.options.map((o) => o.title), ['yes', 'no'])
    await ben.post(`/api/v1/polls/${copy.poll.id}/votes`, { choices: [0] })
    await until(async () => (await ann.get(`/api/v1/polls/${status.poll.id}`)).options[0].votes_count === 1)
    assert.equal((await ben.get(`/api/v1/polls/${copy.poll.id}`)).voted, true)
    assert(!(await ann.get('/api/v1/notifications')).some((n) => n.type === 'mention' && n.status.content === ''))
  })
  let status, copy
  await check(label('favourites, boosts, reactions and answers'), async () => {
    status = await ann.publish('a post to like')
    copy = await ben.copy(status)
    await ben.post(`/api/v1/statuses/${copy.id}/favourite`)
    await ann.told('favourite', (n) => n.status.id === status.id)
    await ben.post(`/api/v1/statuses/${copy.id}/reblog`)
    await ann.told('reblog', (n) => n.status.id === status.id)
    await ben.api('PUT', `/api/v1/svc/statuses/${copy.id}/reactions/${encodeURIComponent('🔥')}`)
    await ann.told('svc:emoji_reaction', (n) => n.status.id === status.id && n.emoji === '🔥')
    const answer = await ben.publish(`@${ann.handle} nice`, { in_reply_to_id: copy.id })
    await ann.told('mention', (n) => n.status.uri === answer.uri)
    let now = await ann.get(`/api/v1/statuses/${status.id}`)
    assert.deepEqual([now.favourites_count, now.reblogs_count, now.replies_count], [1, 1, 1])
    assert.deepEqual(now.svc.emoji_reactions.map((r) => [r.name, r.count]), [['🔥', 1]])
    await ben.post(`/api/v1/statuses/${copy.id}/unfavourite`)
    await ben.post(`/api/v1/statuses/${copy.id}/unreblog`)
    await ben.api('DELETE', `/api/v1/svc/statuses/${copy.id}/reactions/${encodeURIComponent('🔥')}`)
    await until(async () => {
      now = await ann.get(`/api/v1/statuses/${status.id}`)
      return now.favourites_count === 0 && now.reblogs_count === 0 && now.svc.emoji_reactions.length === 0
    })
  })
  await check(label('an edit'), async () => {
    await ann.api('PUT', `/api/v1/statuses/${status.id}`, { status: 'a better post' })
    await until(async () => (await ben.get(`/api/v1/statuses/${copy.id}`)).content.includes('a better post'))
    assert((await ben.get(`/api/v1/statuses/${copy.id}`)).edited_at)
    assert.equal((await ben.get(`/api/v1/statuses/${copy.id}/history`)).length, 2)
  })
  await check(label('quotes: the authors are told of them, of edits and of the end'), async () => {
    const status = await ann.publish('quote me')
    const copy = await ben.copy(status)
    const [friend, stranger] = [await ben.publish('look', { quoted_status_id: copy.id }), await cat.publish('look there', { quoted_status_id: copy.id })]
    await ann.told('quote', (n) => n.account.id === catHere.id && n.status.uri === stranger.uri)
    const told = await ann.told('quote', (n) => n.account.id === benHere.id && n.status.uri === friend.uri)
    assert.deepEqual([told.status.quote.state, told.status.quote.quoted_status.id], ['accepted', status.id])
    await ann.api('PUT', `/api/v1/statuses/${status.id}`, { status: 'quote me, edited' })
    const edited = await ben.told('quoted_update', (n) => n.status.id === friend.id)
    assert.deepEqual([edited.account.id, edited.status.quote.quoted_status.id], [annThere.id, copy.id])
    await ann.post(`/api/v1/statuses/${status.id}/quotes/${told.status.id}/revoke`)
    await until(async () => (await ben.get(`/api/v1/statuses/${friend.id}`)).quote.state === 'revoked')
    await gone(async () => (await ann.get('/api/v1/notifications?types[]=quote')).some((n) => n.status.uri === friend.uri))
    await gone(async () => (await ben.get('/api/v1/notifications?types[]=quoted_update')).some((n) => n.status.id === friend.id))
    await cat.api('DELETE', `/api/v1/statuses/${stranger.id}`)
    await gone(async () => (await ann.get('/api/v1/notifications?types[]=quote')).some((n) => n.status.uri === stranger.uri))
  })
  await check(label('pins'), async () => {
    await ann.post(`/api/v1/statuses/${status.id}/pin`)
    await until(async () => (await ben.get(`/api/v1/accounts/${annThere.id}/statuses?pinned=true`)).some((s) => s.uri === status.uri))
    await ann.post(`/api/v1/statuses/${status.id}/unpin`)
    await until(async () => (await ben.get(`/api/v1/accounts/${annThere.id}/statuses?pinned=true`)).length === 0)
  })
  await check(label('a profile that changes'), async () => {
    const form = new FormData()
    form.set('avatar', new Blob([readFileSync(picture)], { type: 'image/png' }), 'picture.png')
    form.set('display_name', 'Ann the Second')
    form.set('fields_attributes[0][name]', 'web')
    form.set('fields_attributes[0][value]', 'https://ann.example')
    await ann.api('PATCH', '/api/v1/accounts/update_credentials', form)
    const known = await until(async () => {
      const a = await ben.get(`/api/v1/accounts/${annThere.id}`)
      return a.display_name === 'Ann the Second' && a
    })
    assert.equal(known.fields[0].name, 'web')
    assert.equal((await fetch(known.avatar)).status, 200)
  })
  await check(label('a chat'), async () => {
    const chat = await ann.post(`/api/v1/svc/chats/by-account-id/${benHere.id}`)
    const sent = await ann.post(`/api/v1/svc/chats/${chat.id}/messages`, { content: 'psst' })
    const n = await ben.told('svc:chat_mention', (n) => n.chat_message?.content.includes('psst'))
    const answer = await ben.post(`/api/v1/svc/chats/${n.chat_message.chat_id}/messages`, { content: 'what?' })
    assert(answer.id)
    await until(async () => (await ann.get(`/api/v1/svc/chats/${chat.id}/messages`)).some((m) => m.content.includes('what?')))
    await ann.api('DELETE', `/api/v1/svc/chats/${chat.id}/messages/${sent.id}`)
    await until(async () => !(await ben.get(`/api/v1/svc/chats/${n.chat_message.chat_id}/messages`)).some((m) => m.content.includes('psst')))
  })
  await check(label('a report goes to the staff there'), async () => {
    const bad = await ben.publish('bad words')
    const copy = await ann.copy(bad)
    await ann.post('/api/v1/reports', { account_id: benHere.id, status_ids: [copy.id], comment: 'rude', forward: true })
    const staff = await person(there, `staff${round}`, ['--moderator'])
    const again = await ann.post('/api/v1/reports', { account_id: benHere.id, status_ids: [], comment: 'very rude', forward: true })
    assert(again.id)
    const n = await staff.told('svc:report', (n) => n.report.statuses.length === 0)
    assert.match(n.report.content, /rude/)
  })
  await check(label('a deletion'), async () => {
    await ann.api('DELETE', `/api/v1/statuses/${status.id}`)
    await gone(() => ben.get(`/api/v1/statuses/${copy.id}`))
  })
  await check(label('unfollowing, and a follower who is removed'), async () => {
    await ben.post(`/api/v1/accounts/${annThere.id}/unfollow`)
    await until(async () => !(await ann.relation(benHere.id)).followed_by)
    await ann.post(`/api/v1/accounts/${catHere.id}/remove_from_followers`)
    await until(async () => !(await cat.relation(annThere.id)).following)
  })
  await check(label('a block ends what there was'), async () => {
    await cat.post(`/api/v1/accounts/${annThere.id}/follow`)
    await until(async () => (await cat.relation(annThere.id)).following)
    await ann.post(`/api/v1/accounts/${catHere.id}/block`)
    await until(async () => !(await cat.relation(annThere.id)).following)
    await cat.post(`/api/v1/accounts/${annThere.id}/follow`)
    await until(async () => !(await cat.relation(annThere.id)).requested)
    assert(!(await ann.relation(catHere.id)).followed_by)
  })
  await check(label('a move: followers go along'), async () => {
    const old = await person(here, `old${round}`), young = await person(there, `young${round}`)
    const dan = await person(there, `dan${round}`), eva = await person(here, `eva${round}`)
    for (const follower of [dan, eva]) {
      const known = follower.server === here ? old.self : await follower.knows(old)
      await follower.post(`/api/v1/accounts/${known.id}/follow`)
      await until(async () => (await follower.relation(known.id)).following)
    }
    await young.api('PUT', '/api/v1/svc/aliases', { alias: old.handle })
    await old.post('/api/v1/svc/move_account', { password: PASSWORD, target_account: young.handle })
    for (const follower of [dan, eva]) {
      const known = follower.server === there ? young.self : await follower.knows(young)
      await until(async () => (await follower.relation(known.id)).following)
      await follower.told('move')
    }
  })
  await check(label('an account that is deleted takes everything along'), async () => {
    const leaver = await person(here, `leaver${round}`)
    const known = await ben.knows(leaver)
    await ben.post(`/api/v1/accounts/${known.id}/follow`)
    await until(async () => (await ben.relation(known.id)).following)
    const last = await ben.copy(await leaver.publish('goodbye'))
    command(here, 'user', 'delete', leaver.nickname, '--yes')
    await gone(() => ben.get(`/api/v1/statuses/${last.id}`))
    await gone(() => ben.get(`/api/v1/accounts/${known.id}`))
  })
}

const [here, there] = servers
const packs = ['cups', 'pots']
for (const pack of packs) {
  const folder = `${OTHER_HOME}/${pack}`
  mkdirSync(folder)
  copyFileSync(picture, `${folder}/${pack}.png`)
  writeFileSync(`${folder}/pack.json`, JSON.stringify({ pack: { 'share-files': true }, files: { [pack]: `${pack}.png` } }))
  command(there, 'emoji', 'import', folder)
}
const reader = await person(here, 'reader'), writer = await person(there, 'writer')
await walkThroughPeers(here.url, { person: reader.nickname, admin: 'admin', known: (await reader.knows(writer)).id, other: there, packs })
await end()
