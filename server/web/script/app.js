// What the pages gain from JavaScript. Everything works without it.
import './actions.js'
import { enhance } from './enhance.js'
import { live } from './live.js'
import { lateMedia, showWhenNear } from './media.js'
import { more } from './more.js'
import { shortcuts } from './shortcuts.js'
import { showTimes } from './times.js'
import { writing } from './write.js'
import { rememberZone } from './zone.js'

// Cards beside links to accounts come with the first link that is pointed at, or has the focus.
function hovering() {
  const start = async (event) => {
    if (!event.target.closest?.('main :is(.author, .mention)') || event.pointerType === 'touch') return
    for (const kind of ['pointerover', 'focusin']) document.removeEventListener(kind, start)
    const { hover } = await import('./hover.js')
    hover(event.target)
  }
  for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, start)
}

// A page of a reply opens at the reply, not at the posts above it, also by a link from elsewhere.
function showPost() {
  const post = document.querySelector('.post.main')
  if (location.hash || !post?.previousElementSibling?.matches('.post')) return
  if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') post.scrollIntoView({ behavior: 'instant' })
}

const signedIn = document.getElementById('act') !== null

showTimes(document)
showPost()
enhance('textarea[autofocus]', (field) => field.setSelectionRange(field.value.length, field.value.length))
enhance('form[enctype]:not(.compose, .pieces)', async (form) => (await import('./upload.js')).showProgress(form))
if (signedIn) {
  rememberZone()
  if (document.documentElement.dataset.keys !== 'off') shortcuts()
  live()
  writing()
  hovering()
  enhance('form.pieces', async (form) => (await import('./pieces.js')).pieces(form))
  enhance('[data-push]', async (box) => (await import('./push.js')).push(box))
}
enhance(lateMedia, showWhenNear)
enhance('main .feed', more)
enhance('details.share', async (box) => (await import('./share.js')).share(box))

// A signed-in browser gets a page for when the server is not reached; another one shows no number on the icon of the app.
const idle = window.requestIdleCallback ?? ((f) => setTimeout(f, 1000))
if (signedIn) idle(() => navigator.serviceWorker?.register('/web/sw.js', { scope: '/web' }).catch(() => {}))
else navigator.clearAppBadge?.().catch(() => {})
