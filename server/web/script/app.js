// What the pages gain from JavaScript. Everything works without it.
import { lateMedia, showWhenNear } from './media.js'

// The language and the form of a signed-in viewer are those of the present page, which an upload replaces.
const language = () => document.documentElement.lang
const viewer = () => document.getElementById('act')

// Times are shown as the time that has passed, and exactly in the reader's own zone on request.
function showTimes(within) {
  const relative = new Intl.RelativeTimeFormat(language(), { numeric: 'auto', style: 'short' })
  const units = [['minute', 60], ['hour', 3600], ['day', 86400]]
  for (const time of within.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    const seconds = (at - Date.now()) / 1000
    if (Number.isNaN(seconds)) continue
    time.title = at.toLocaleString(language())
    if (!time.dateTime.includes('T') || !/:/.test(time.textContent)) continue // it shows a day
    const [unit, length] = units.findLast(([, length]) => Math.abs(seconds) >= length) ?? units[0]
    time.textContent = Math.abs(seconds) < 7 * 86400
      ? relative.format(Math.trunc(seconds / length), unit)
      : at.toLocaleDateString(language(), { year: 'numeric', month: 'short', day: 'numeric' })
  }
}

// A page of a reply opens at the reply, not at the posts above it, also by a link from elsewhere.
function showPost() {
  const post = document.querySelector('.post.main')
  if (location.hash || !post?.previousElementSibling?.matches('.post')) return
  if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') post.scrollIntoView()
}

// Buttons of posts act without leaving the page: the answer is the page again, from which the post is taken.
async function act(button) {
  const post = button.closest('.post')
  const body = new URLSearchParams(new FormData(viewer()))
  button.disabled = true
  try {
    const response = await fetch(button.getAttribute('formaction'), { method: 'POST', body })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const fresh = page.getElementById(post.id)
    if (!response.ok || !fresh) throw new Error(response.statusText)
    const place = [...post.querySelectorAll('button')].indexOf(button)
    const opened = [...post.querySelectorAll('details')].map((d) => d.open)
    post.replaceWith(fresh)
    fresh.querySelectorAll('details').forEach((d, i) => { d.open = opened[i] })
    showTimes(fresh)
    fresh.querySelectorAll(lateMedia).forEach(showWhenNear)
    fresh.querySelectorAll('button')[place]?.focus()
  } catch {
    button.disabled = false
    viewer().action = button.getAttribute('formaction')
    viewer().submit() // the page says what is wrong
  }
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('.post .actions button[form=act], .post .reactions button[form=act]')
  if (!button) return
  event.preventDefault()
  act(button)
})

// New posts are counted above the list and shown when the reader wants them, so that nothing jumps.
function listen(feed) {
  if (!feed.dataset.stream || new URLSearchParams(location.search).has('max_id')) return
  const source = new EventSource(`/web/stream/${feed.dataset.stream}`)
  let count = 0
  source.addEventListener('update', (event) => {
    if (JSON.parse(event.data).account?.acct === document.body.dataset.acct) return
    count++
    let link = document.getElementById('new-posts')
    if (!link) {
      link = Object.assign(document.createElement('a'), { id: 'new-posts', className: 'button wide', href: location.pathname })
      feed.before(link)
    }
    link.textContent = feed.dataset.fresh.replace('%d', count)
  })
  source.addEventListener('notification', () => {
    for (const mark of document.querySelectorAll('.unread')) {
      mark.textContent = Number(mark.textContent || 0) + 1
      mark.hidden = false
    }
  })
  addEventListener('pagehide', () => source.close())
}

// Names and emojis are completed while the reader types.
function complete(field) {
  const list = Object.assign(document.createElement('ul'), { className: 'suggestions', hidden: true })
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', field.labels[0]?.textContent ?? '')
  field.after(list)
  let word = null, timer = 0, emojis = null

  const find = async ({ kind, text }) => {
    if (kind === '@') {
      const accounts = await (await fetch(`/api/v1/accounts/search?limit=5&q=${encodeURIComponent(text)}`)).json()
      return accounts.map((a) => ({ insert: `@${a.acct} `, label: `${a.display_name} @${a.acct}`, picture: a.avatar_static }))
    }
    emojis ??= await (await fetch('/api/v1/custom_emojis')).json()
    return emojis.filter((e) => e.shortcode.includes(text)).slice(0, 5)
      .map((e) => ({ insert: `:${e.shortcode}: `, label: e.shortcode, picture: e.static_url }))
  }
  const choose = (option) => {
    field.setRangeText(option.dataset.insert, word.start, field.selectionStart, 'end')
    list.hidden = true
    field.focus()
  }
  const show = (found) => {
    list.replaceChildren(...found.map((f, i) => {
      const option = Object.assign(document.createElement('li'), { id: `${field.id}-option${i}` })
      option.dataset.insert = f.insert
      option.setAttribute('role', 'option')
      option.setAttribute('aria-selected', i === 0)
      option.append(Object.assign(new Image(20, 20), { src: f.picture, alt: '' }), ` ${f.label}`)
      option.addEventListener('mousedown', (event) => { event.preventDefault(); choose(option) })
      return option
    }))
    list.hidden = found.length === 0
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    const match = /(?:^|\s)([@:])([\p{L}\p{N}_.@-]{2,})$/u.exec(field.value.slice(0, field.selectionStart))
    if (!match) { list.hidden = true; return }
    word = { kind: match[1], text: match[2], start: field.selectionStart - match[2].length - 1 }
    const asked = word
    timer = setTimeout(async () => {
      const found = await find(asked).catch(() => [])
      if (asked === word) show(found)
    }, 200)
  })
  field.addEventListener('keydown', (event) => {
    if (list.hidden) return
    const options = [...list.children]
    const at = options.findIndex((o) => o.getAttribute('aria-selected') === 'true')
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) {
      options[at].setAttribute('aria-selected', false)
      options[(at + move + options.length) % options.length].setAttribute('aria-selected', true)
    } else if (event.key === 'Enter' || event.key === 'Tab') choose(options[at])
    else if (event.key === 'Escape') list.hidden = true
    else return
    event.preventDefault()
  })
  field.addEventListener('blur', () => { list.hidden = true })
}

// A long upload shows how far it is.
function showProgress(form) {
  form.addEventListener('submit', (event) => {
    const files = [...form.querySelectorAll('input[type=file]')].some((f) => f.files.length > 0)
    if (!files || event.defaultPrevented) return
    event.preventDefault()
    const bar = Object.assign(document.createElement('progress'), { max: 1, value: 0 })
    event.submitter?.after(bar)
    const request = new XMLHttpRequest()
    request.upload.addEventListener('progress', (e) => { if (e.lengthComputable) bar.value = e.loaded / e.total })
    request.addEventListener('error', () => bar.remove())
    request.addEventListener('load', () => {
      const page = new DOMParser().parseFromString(request.responseText, 'text/html')
      history.pushState(null, '', request.responseURL)
      document.documentElement.replaceWith(document.adoptNode(page.documentElement))
      start()
    })
    request.open('POST', event.submitter?.getAttribute('formaction') ?? form.getAttribute('action'))
    request.send(new FormData(form, event.submitter))
  })
}

// Keys for readers who do not use a mouse. They do nothing while a field has the focus.
function shortcuts() {
  const press = (post, selector) => post?.querySelector(selector)?.click()
  const pages = { h: '/web', n: '/web/notifications', l: '/web/local', s: '/web/search' }
  let going = false
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, [contenteditable]')) return
    const posts = [...document.querySelectorAll('.post')]
    const post = document.activeElement.closest('.post')
    if (going && pages[event.key]) location.href = pages[event.key]
    going = event.key === 'g'
    const step = { j: 1, k: -1 }[event.key]
    if (step && posts.length) {
      const next = posts[Math.max(0, Math.min(posts.length - 1, posts.indexOf(post) + step))]
      next.tabIndex = -1
      next.focus()
    } else if (event.key === 'r') press(post, '.actions a')
    else if (event.key === 'f') press(post, '.actions .star')
    else if (event.key === 'b') press(post, '.actions .boost')
    else if (event.key === 'o') press(post, '.when a')
    else if (event.key === 'c') location.href = '/web/compose'
    else if (event.key === '/') document.getElementById('find')?.focus()
    else return
    event.preventDefault()
  })
}

// Push messages of this browser are turned on and off on a page of the settings, which says whether they work.
function push(box) {
  const path = '/api/v1/push/subscription'
  const kinds = ['mention', 'status', 'reblog', 'follow', 'follow_request', 'favourite', 'poll', 'update', 'quote']
  const button = box.querySelector('button')
  const say = (outcome) => { box.querySelector('[role=status]').textContent = box.dataset[outcome] ?? '' }
  const present = async () => (await navigator.serviceWorker.getRegistration('/web/'))?.pushManager.getSubscription()
  const show = async () => { button.textContent = await present() ? box.dataset.off : box.dataset.on }

  const turnOn = async () => {
    if (await Notification.requestPermission() !== 'granted') return 'denied'
    await navigator.serviceWorker.register('/web/sw.js', { scope: '/web/' })
    const worker = await navigator.serviceWorker.ready // one that is being installed cannot subscribe
    const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: box.dataset.push })
    const data = { alerts: Object.fromEntries(kinds.map((kind) => [kind, true])), policy: 'all' }
    const body = JSON.stringify({ subscription: { ...made.toJSON(), standard: true }, data })
    const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
    if (!response.ok) {
      await made.unsubscribe()
      return 'failed'
    }
    await worker.showNotification(box.dataset.works, { icon: '/favicon.png', tag: 'works' })
    return 'works'
  }
  const turnOff = async (old) => {
    await old.unsubscribe()
    return (await fetch(path, { method: 'DELETE' })).ok ? 'ended' : 'failed'
  }

  box.hidden = false
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    button.hidden = true
    say('unsupported')
    return
  }
  button.addEventListener('click', async () => {
    button.disabled = true
    say('')
    try {
      const old = await present()
      say(old ? await turnOff(old) : await turnOn())
    } catch { // the browser has no push service, or the server is not reached
      say('failed')
    }
    button.disabled = false
    show()
  })
  show()
}

function start() {
  showTimes(document)
  showPost()
  document.querySelectorAll(lateMedia).forEach(showWhenNear)
  document.querySelectorAll('textarea[autofocus]').forEach((field) => field.setSelectionRange(field.value.length, field.value.length))
  document.querySelectorAll('form[enctype]').forEach(showProgress)
  if (!viewer()) return
  document.querySelectorAll('[data-stream]').forEach(listen)
  document.querySelectorAll('textarea[name=status]').forEach(complete)
  document.querySelectorAll('[data-push]').forEach(push)
}

start()
if (viewer()) shortcuts()
