// Keys for readers who do not use a mouse; /web/shortcuts lists them. They do nothing while a field has the focus.
import { showAbove } from './place.js'

// pages are opened by g and a key.
const pages = {
  h: '/web', n: '/web/notifications', d: '/web/conversations', l: '/web/local', i: '/web/lists', b: '/web/bookmarks', s: '/web/settings',
}

const posts = () => [...document.querySelectorAll('main .post')].filter((post) => post.checkVisibility?.() ?? true)
const post = () => document.activeElement.closest('.post')
const press = (selector) => () => post()?.querySelector(selector)?.click()

// step moves the focus to another post, from the first one that can be seen if none has it.
const step = (by) => () => {
  const list = posts()
  const present = post()
  const first = list.findIndex((p) => p.getBoundingClientRect().bottom > 64)
  const next = list[present ? Math.max(0, Math.min(list.length - 1, list.indexOf(present) + by)) : Math.max(0, first)]
  if (!next) return
  next.tabIndex = -1
  next.focus({ preventScroll: true })
  showAbove(next)
}

// unfold opens or closes what hides a part of the post: its warning, or that it is long.
function unfold() {
  const folds = [...(post()?.querySelectorAll('.warning, .filtered, .unfold') ?? [])]
  const open = !folds.every((fold) => fold.open)
  for (const fold of folds) fold.open = open
}

// keys are those that act alone.
const keys = {
  j: step(1), k: step(-1), o: press('.when a'), p: press('.author'), r: press('.actions a'), f: press('.actions .star'), b: press('.actions .boost'),
  m: press('.actions .mark'), x: unfold, '.': () => document.getElementById('new-posts')?.click(), c: () => location.assign('/web/compose'),
  '/': () => document.getElementById('find')?.focus(), '?': () => location.assign('/web/shortcuts'),
}

export function shortcuts() {
  let going = false
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (event.target.closest('input, textarea, select, [contenteditable], dialog, [role=dialog], [role=listbox]')) return
    const page = going && pages[event.key]
    going = event.key === 'g' && !page
    if (page) location.assign(page)
    else if (Object.hasOwn(keys, event.key)) keys[event.key]()
    else return
    event.preventDefault()
  })
}
