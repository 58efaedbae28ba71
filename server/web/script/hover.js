// Cards of accounts beside the links to them: when the mouse rests on a link, or it has the focus for a while. Escape closes them.
import { added, send } from './parts.js'

const links = 'main :is(a.author, a.mention)'
const rest = { mouse: 400, focus: 900, leave: 250 } // milliseconds
const maxCards = 50 // that are kept until the page is left

const cards = new Map() // HTML by path
let card, anchor, timer

// acct returns the account that a link leads to, if it is the page of one on this server.
function acct(link) {
  const { origin, pathname } = new URL(link.href, location)
  return origin === location.origin ? /^(?:\/web)?\/@([^/]+)$/.exec(pathname)?.[1] : undefined
}

async function load(name) {
  if (!cards.has(name)) {
    const found = await send(`/web/hover_card?acct=${name}`, { part: 'card' })
    if (cards.size >= maxCards) cards.clear()
    cards.set(name, found.querySelector('.hovercard')?.outerHTML)
  }
  return cards.get(name)
}

async function open(link) {
  const name = acct(link)
  if (!name || link === anchor) return
  anchor = link
  const html = await load(name).catch(() => undefined) // without it the link is as good
  if (!html || anchor !== link) return
  close()
  anchor = link
  card = document.createElement('div')
  card.className = 'hovering'
  card.innerHTML = html // of this server, from its template
  link.after(card) // the next stop of the keyboard
  place(link)
  added(card)
}

// place puts the card below the link, or above it where there is no room, within the window.
function place(link) {
  const at = link.getClientRects()[0] ?? link.getBoundingClientRect()
  const below = at.bottom + card.offsetHeight + 8 < innerHeight || at.top < card.offsetHeight
  card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - card.offsetWidth - 8))}px`
  card.style.top = `${below ? at.bottom + 4 : at.top - card.offsetHeight - 4}px`
}

function close() {
  clearTimeout(timer)
  card?.remove()
  card = anchor = undefined
}

function after(time, f) {
  clearTimeout(timer)
  timer = setTimeout(f, time)
}

// pointed reacts to what the pointer, or the focus, has come to.
function pointed(target, delay) {
  if (card?.contains(target)) return clearTimeout(timer)
  const link = target.closest?.(links)
  if (link && link !== anchor) after(delay, () => open(link))
  else if (link) clearTimeout(timer)
  else if (anchor) after(rest.leave, close)
  else clearTimeout(timer)
}

export function hover(first) {
  document.addEventListener('pointerover', (event) => { if (event.pointerType !== 'touch') pointed(event.target, rest.mouse) })
  document.addEventListener('focusin', (event) => { if (event.target.matches(':focus-visible')) pointed(event.target, rest.focus) })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !card) return
    const link = anchor
    const inside = card.contains(document.activeElement)
    close()
    if (inside) link.focus()
    event.preventDefault()
  })
  addEventListener('scroll', close, { passive: true })
  pointed(first, rest.mouse)
}
