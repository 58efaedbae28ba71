// Helpers of the JavaScript suites: one line per check, a user at the authorize page, and the types of the entities' fields.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const { BASE_URL, DOMAIN, PASSWORD, WORK } = process.env
export const picture = `${WORK}/picture.png`
export const outOfBand = 'urn:ietf:wg:oauth:2.0:oob'

// check runs one check and prints its line; the first failure ends the script.
export async function check(name, run) {
  try {
    await run()
    console.log(`ok   ${name}`)
  } catch (error) {
    const { config, response } = error // of axios, under megalodon
    const answer = response ? `\n${config.method} ${config.url}: ${JSON.stringify(response.data)}` : ''
    console.log(`FAIL ${name}: ${error.stack}${answer}`)
    process.exit(1)
  }
}

// authorize completes the authorize page as a user and returns the code, or the client's address with all its parameters.
export function authorize(url, nickname) {
  const lib = fileURLToPath(new URL('lib.py', import.meta.url))
  return execFileSync(lib, ['authorize', url, nickname], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

// waitFor polls until the answer is true, for at most 30 seconds.
export async function waitFor(ask) {
  for (const deadline = Date.now() + 30_000; !(await ask()); await sleep(100)) {
    assert(Date.now() < deadline, `still not true: ${ask}`)
  }
}

// command runs a command of the binary while the server runs; commandOf does so for the server of a folder.
export const command = (...args) => commandOf(`${WORK}/server`, ...args)

export function commandOf(home, ...args) {
  return execFileSync(process.env.BINARY, [...args, '--config', `${home}/config.toml`], { encoding: 'utf8' })
}

// account makes an account and returns a function that calls the API as it. role is --admin or --moderator.
export async function account(base, nickname, ...role) {
  command('user', 'create', nickname, '--email', `${nickname}@example.org`, '--password', PASSWORD, ...role)
  return signedIn(base, nickname, role.length > 0 ? 'read write follow admin:read admin:write' : 'read write follow')
}

// signedIn returns a function that calls the API as an account. Its member asApp does so as the app alone; upload sends a file.
export async function signedIn(base, nickname, scope) {
  const call = async (method, path, body, token) => {
    const form = body instanceof FormData
    const headers = { ...(!form && { 'Content-Type': 'application/json' }), ...(token && { Authorization: `Bearer ${token}` }) }
    const response = await fetch(base + path, { method, headers, body: form ? body : body && JSON.stringify(body) })
    const text = await response.text()
    assert(response.ok, `${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  const app = await call('POST', '/api/v1/apps', { client_name: 'Form check', redirect_uris: outOfBand, scopes: scope })
  const client = { client_id: app.client_id, client_secret: app.client_secret, scope }
  const { access_token } = await call('POST', '/oauth/token', { grant_type: 'password', username: nickname, password: PASSWORD, ...client })
  const asApp = async (method, path, body) => call(method, path, body, (await call('POST', '/oauth/token', { grant_type: 'client_credentials', ...client })).access_token)
  const api = (method, path, body) => call(method, path, body, access_token)
  const upload = (bytes, type, description) => {
    const form = new FormData()
    form.append('file', new Blob([bytes], { type }), `file.${type.split('/')[1]}`)
    form.append('description', description)
    return api('POST', '/api/v2/media', form)
  }
  return Object.assign(api, { nickname, asApp, upload, id: (await api('GET', '/api/v1/accounts/verify_credentials')).id })
}

// totp returns the code of a secret for the present time (RFC 6238).
export function totp(secret) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((c) => alphabet.indexOf(c).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)))
  const sum = createHmac('sha1', key).update(counter).digest()
  return String((sum.readUInt32BE(sum[19] & 15) & 0x7fffffff) % 1e6).padStart(6, '0')
}

// listen opens a megalodon socket and returns the list of received pairs of event and payload.
export async function listen(socket) {
  const events = Object.assign([], { stop: () => socket.stop() })
  for (const name of ['update', 'status_update', 'delete', 'notification', 'conversation']) {
    socket.on(name, (payload) => events.push([name, payload]))
  }
  await new Promise((connected, failed) => {
    socket.once('connect', connected)
    socket.once('error', failed)
  })
  return events
}

const date = (v) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(v)
const id = (v) => typeof v === 'string' && /^[0-9A-Za-z]+$/.test(v)
const digits = (v) => typeof v === 'string' && /^\d+$/.test(v)
const string = (v) => typeof v === 'string'
const number = (v) => Number.isInteger(v)
const boolean = (v) => typeof v === 'boolean'
const object = (v) => typeof v === 'object' && v !== null && !Array.isArray(v)
const array = Array.isArray
const url = (v) => URL.canParse(v) && v.startsWith('https://')
const orNull = (type) => Object.assign((v) => v === null || type(v), { label: `${type.name} or null` })

export const entities = {
  account: {
    id, username: string, acct: string, display_name: string, locked: boolean, bot: boolean, created_at: date, note: string,
    url, avatar: url, avatar_static: url, header: url, header_static: url, followers_count: number,
    following_count: number, statuses_count: number, emojis: array, fields: array,
  },
  status: {
    id, uri: url, url: orNull(url), created_at: date, account: object, content: string, visibility: string,
    sensitive: boolean, spoiler_text: string, media_attachments: array, mentions: array, tags: array, emojis: array,
    reblogs_count: number, favourites_count: number, replies_count: number, in_reply_to_id: orNull(id),
    in_reply_to_account_id: orNull(id), reblog: orNull(object), poll: orNull(object), card: orNull(object),
    language: orNull(string), edited_at: orNull(date), favourited: boolean, reblogged: boolean, muted: boolean,
    bookmarked: boolean,
  },
  attachment: { id, type: string, url, preview_url: orNull(url), remote_url: orNull(url), description: orNull(string) },
  notification: { id: digits, type: string, created_at: date, account: object },
  relationship: {
    id, following: boolean, followed_by: boolean, requested: boolean, blocking: boolean, blocked_by: boolean,
    muting: boolean, muting_notifications: boolean, domain_blocking: boolean, endorsed: boolean,
    showing_reblogs: boolean, notifying: boolean, note: string,
  },
  token: { access_token: string, token_type: string, scope: string, created_at: number },
  instance: {
    uri: string, title: string, description: string, version: string, urls: object, stats: object, languages: array,
    registrations: boolean, max_toot_chars: number, configuration: object,
  },
}

const asIs = (key) => key
export const camelCase = (key) => key.replace(/_(.)/g, (_, letter) => letter.toUpperCase())

// isA fails unless every field of an entity exists and has its type. keys converts names to the client's spelling.
export function isA(name, entity, keys = asIs) {
  for (const [field, type] of Object.entries(entities[name])) {
    const value = entity[keys(field)]
    assert(type(value), `${name}.${keys(field)} is not ${type.label ?? type.name}: ${JSON.stringify(value)}`)
  }
  return entity
}

export const ids = (list) => list.map((entity) => entity.id)
