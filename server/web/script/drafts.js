// What is written and not sent stays in this browser, for the account that wrote it, until it is sent, discarded, a month old, or the account signs out.
const most = 30 // drafts of an account
const maxAge = 30 * 86400_000 // milliseconds
const maxLength = 200_000 // characters of a draft

let forgotten = false // nothing is kept once the account has signed out

const prefix = () => `draft:${document.body.dataset.acct}:`

// placeOf returns what a form is for: each place has one draft.
export function placeOf(form) {
  const value = (name) => form.elements[name]?.value
  if (value('edit')) return `edit ${value('edit')}`
  if (value('in_reply_to_id')) return `reply ${value('in_reply_to_id')}`
  if (value('quote_id')) return `quote ${value('quote_id')}`
  return value('mentions') ? `to ${value('mentions').trim()}` : 'new'
}

function list() {
  const found = []
  for (let i = 0; i < localStorage.length; i++) {
    const key = localStorage.key(i)
    if (key.startsWith(prefix())) found.push({ key, at: read(key)?.at ?? 0 })
  }
  return found.sort((a, b) => b.at - a.at)
}

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key))
  } catch {
    return null
  }
}

// keep stores the draft of a place. It returns false if the browser keeps nothing.
export function keep(place, draft) {
  if (forgotten) return false
  try {
    const text = JSON.stringify({ ...draft, at: Date.now() })
    if (text.length > maxLength) return false
    localStorage.setItem(prefix() + place, text)
    list().forEach(({ key, at }, i) => { if (i >= most || Date.now() - at > maxAge) localStorage.removeItem(key) })
    return true
  } catch {
    return false
  }
}

// kept returns the draft of a place, null if there is none.
export function kept(place) {
  try {
    const draft = read(prefix() + place)
    return draft && Date.now() - draft.at <= maxAge ? draft : null
  } catch {
    return null
  }
}

export function discard(place) {
  try {
    localStorage.removeItem(prefix() + place)
  } catch { /* the browser keeps nothing */ }
}

// forget removes what the account leaves in this browser: its drafts, and which emoji it uses.
export function forget() {
  forgotten = true
  try {
    list().forEach(({ key }) => localStorage.removeItem(key))
    for (const language of ['en', 'de']) indexedDB.deleteDatabase(`emoji-picker-element-${language}`)
  } catch { /* the browser keeps nothing */ }
}
