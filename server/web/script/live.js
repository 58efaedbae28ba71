// What happens while a page is open is shown on it, and never moves what is read: new posts and notifications wait behind a button.
import { added, morph, refresh, say, send } from './parts.js'

const feed = () => document.querySelector('main .feed[data-fresh]')
const title = document.title

let sources = []
const waiting = new Set() // ids of the new posts or notifications that the button stands for
let notified = '' // the newest notification that the marks count

// offer shows the button for what is new.
function offer() {
  const list = feed()
  if (!list) return
  let button = document.getElementById('new-posts')
  if (!button) {
    button = Object.assign(document.createElement('button'), { id: 'new-posts', type: 'button' })
    button.addEventListener('click', showNew)
    list.before(button)
  }
  const { fresh, freshOne } = list.dataset
  button.textContent = (waiting.size === 1 ? freshOne : fresh).replace('%d', waiting.size)
  showTitle()
}

function showTitle() {
  const unread = Number(document.querySelector('.unread')?.textContent) || 0
  const n = unread + (location.pathname === '/web/notifications' ? 0 : waiting.size) // the new ones there are unread
  document.title = n > 0 ? `(${n}) ${title}` : title
  if (navigator.setAppBadge) (unread > 0 ? navigator.setAppBadge(unread) : navigator.clearAppBadge()).catch(() => {})
}

// showNew puts what is new above the list. If that is not known to join what is there, the page is shown anew.
async function showNew() {
  const button = document.getElementById('new-posts')
  button.disabled = true
  try {
    const found = await send(location.pathname + pageQuery())
    const list = feed()
    const fresh = [...(found.querySelector('main .feed')?.children ?? [])]
    const present = new Set([...list.children].map((e) => e.id))
    const known = fresh.findIndex((e) => present.has(e.id))
    if (known < 0) list.replaceChildren()
    list.querySelectorAll(':scope > .empty').forEach((e) => e.remove())
    const above = known < 0 ? fresh : fresh.slice(0, known)
    for (const old of above) document.getElementById(old.id)?.remove()
    list.prepend(...above)
    if (known < 0) document.querySelector('main .pager')?.replaceWith(found.querySelector('main .pager') ?? '')
    above.forEach(added)
    waiting.clear()
    button.remove()
    showTitle()
    list.scrollIntoView({ block: 'nearest' })
    focusOn(above[0])
  } catch (error) {
    button.disabled = false
    say(error.message)
  }
}

function focusOn(element) {
  if (!element) return
  element.tabIndex = -1
  element.focus()
}

// pageQuery returns the query of the first page of a list, such as the view of the notifications.
function pageQuery() {
  const query = new URLSearchParams(location.search)
  for (const name of ['max_id', 'min_id', 'since_id', 'offset', 'done']) query.delete(name)
  return query.size ? `?${query}` : ''
}

const unread = '.unread:not(.notice):not(.conversation)'

// mark shows a count in the navigation.
function mark(selector, count) {
  for (const element of document.querySelectorAll(selector)) {
    element.textContent = count || ''
    element.hidden = !count
  }
}

function onUpdate(event) {
  const post = JSON.parse(event.data)
  if (document.getElementById(`p${post.id}`)) return
  if (feed()) {
    if (post.account.acct === document.body.dataset.acct && location.pathname === '/web') return // the composer shows it
    waiting.add(post.id)
    offer()
  } else if (post.in_reply_to_id && document.getElementById(`p${post.in_reply_to_id}`)) offerReplies()
}

// offerReplies shows a link to replies that came while the thread was read.
function offerReplies() {
  const main = document.querySelector('main')
  if (!document.querySelector('.post.main') || document.getElementById('new-replies')) return
  const button = Object.assign(document.createElement('button'), { id: 'new-replies', type: 'button', textContent: document.getElementById('act').dataset.replies })
  button.addEventListener('click', async () => {
    await refresh().catch((error) => say(error.message))
    button.remove()
  })
  main.append(button)
}

async function onEdit(event) {
  const post = document.getElementById(`p${JSON.parse(event.data).id}`)
  if (!post || post.contains(document.activeElement)) return
  const variant = post.matches('.main') ? ' main' : post.matches('.below') ? ' below' : ''
  const found = await send(`/web/statuses/${post.id.slice(1)}`, { part: post.id + variant }).catch(() => null)
  const fresh = found?.getElementById(post.id)
  if (fresh) morph(post, fresh)
}

// onDelete takes a post away if that moves nothing that is read, and only says so if it is on the screen or above.
function onDelete(event) {
  const post = document.getElementById(`p${event.data}`)
  if (!post || post.matches('.main')) return
  if (post.getBoundingClientRect().top > innerHeight) post.remove()
  else post.classList.add('gone')
}

function onNotification(event) {
  const { id } = JSON.parse(event.data)
  if (BigInt(id) <= BigInt(notified)) return
  notified = id
  const marks = document.querySelectorAll(unread)
  mark(unread, Number(marks[0]?.textContent || 0) + 1)
  if (location.pathname === '/web/notifications') {
    waiting.add(id)
    offer()
  }
  if (document.querySelector('.post.main')) offerReplies()
  showTitle()
}

function onChat(event) {
  const { id } = JSON.parse(event.data)
  if (location.pathname === `/web/chats/${id}` && !location.search) return showMessages()
  if (location.pathname === '/web/chats') showChats()
  if (document.querySelector('.unread-chats')?.hidden) mark('.unread-chats', 1)
  for (const dot of document.querySelectorAll('.bottom .dot')) dot.hidden = false
}

const showChats = () => refresh().catch(() => {})

async function showMessages() {
  const list = document.querySelector('.messages')
  const found = await send(location.href).catch(() => null)
  const fresh = found?.querySelector('.messages')
  if (!fresh) return
  await morph(list, fresh)
  list.lastElementChild?.scrollIntoView({ block: 'nearest' })
}

// onState shows what came between the making of the page, or the loss of its stream, and the stream.
function onState(event, ofUser) {
  const state = JSON.parse(event.data)
  for (const id of state.newer) if (!document.getElementById(`p${id}`)) waiting.add(id)
  for (const id of state.noticed) if (!document.getElementById(`n${id}`)) waiting.add(id)
  if (waiting.size) offer()
  if (!ofUser) return
  notified = state.notified
  mark(unread, state.notifications)
  mark('.unread-chats', state.chats)
  for (const dot of document.querySelectorAll('.bottom .dot')) dot.hidden = !state.waiting
  showTitle()
  if (state.chats > 0 && location.pathname === '/web/chats') showChats()
  if (state.chats > 0 && document.querySelector('.messages') && !location.search) showMessages()
}

// open connects after a moment, so that pages that are passed quickly hold no stream.
let opening
function open() {
  clearTimeout(opening)
  opening = setTimeout(connect, 2000)
}

function connect() {
  if (sources.length || document.hidden) return
  const names = new Set(['user'])
  const list = document.querySelector('main [data-stream]')?.dataset.stream
  const first = !/[?&](max_id|min_id|since_id)=/.test(location.search)
  if (list && first) names.add(list)
  const newest = feed()?.querySelector(':scope > [id]')?.id.slice(1) ?? '' // p and n stand before the ids
  for (const name of names) {
    const url = new URL(`/web/stream/${name}`, location)
    if (first && name === list) url.searchParams.set('after', newest)
    if (first && location.pathname === '/web/notifications') url.searchParams.set('noticed', newest)
    const source = new EventSource(url)
    sources.push(source)
    source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) again() })
    source.addEventListener('signed_out', close)
    source.addEventListener('state', (event) => onState(event, name === 'user'))
    if (name === list || !list) source.addEventListener('update', onUpdate)
    source.addEventListener('status.update', onEdit)
    source.addEventListener('delete', onDelete)
    if (name !== 'user') continue
    source.addEventListener('notification', onNotification)
    source.addEventListener(`${document.getElementById('act').dataset.api}:chat_update`, onChat)
  }
}

// again connects later where the server refused, because too many pages of the user hold a stream.
function again() {
  close()
  opening = setTimeout(connect, 30_000)
}

function close() {
  clearTimeout(opening)
  sources.forEach((source) => source.close())
  sources = []
}

export function live() {
  showTitle()
  if (!document.hidden) open()
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close()
    else connect()
  })
  addEventListener('pagehide', close)
  addEventListener('pageshow', (event) => { if (event.persisted) open() })
}
