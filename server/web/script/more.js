// Older posts are appended where the list ends. After some pages the link waits to be pressed, so that the footer can be reached. The place
// survives going back and reloading.
import { added, say, send } from './parts.js'

const automatic = 3 // pages that are appended without being asked for
const most = 25 // pages that are appended to find the place again

const key = `place:${location.pathname}${location.search}`
let appended = 0

// append adds the next page to the list, and returns true if there was one.
async function append(list) {
  const link = document.querySelector('main .pager [rel=next]')
  if (!link || link.getAttribute('aria-busy')) return false
  link.setAttribute('aria-busy', 'true')
  try {
    const found = await send(link.href)
    const fresh = [...(found.querySelector('main .feed')?.children ?? [])].filter((e) => e.id && !document.getElementById(e.id))
    list.append(...fresh)
    fresh.forEach(added)
    const pager = document.querySelector('main .pager')
    const next = found.querySelector('main .pager [rel=next]')
    if (next) link.replaceWith(next)
    else link.remove()
    if (!pager.children.length) pager.remove()
    appended++
    return true
  } catch (error) {
    link.removeAttribute('aria-busy')
    say(error.message)
    return false
  }
}

// remember keeps which post is at the top of the screen.
function remember(list) {
  const top = [...list.children].find((e) => e.id && e.getBoundingClientRect().bottom > 80)
  if (!top) return
  try {
    sessionStorage.setItem(key, JSON.stringify({ id: top.id, offset: top.getBoundingClientRect().top, pages: appended }))
  } catch { /* the browser keeps nothing */ }
}

// restore appends pages until the post that was at the top is there, and scrolls to it.
async function restore(list) {
  const kind = performance.getEntriesByType('navigation')[0]?.type
  const place = JSON.parse(sessionStorage.getItem(key) ?? 'null')
  if (!place || (kind !== 'reload' && kind !== 'back_forward') || location.hash) return
  while (!document.getElementById(place.id) && appended < Math.min(place.pages + 1, most) && await append(list));
  const top = document.getElementById(place.id)
  if (top) scrollBy({ top: top.getBoundingClientRect().top - place.offset, behavior: 'instant' })
}

export async function more(list) {
  history.scrollRestoration = 'manual'
  await restore(list).catch(() => {})
  const before = appended
  const observer = new IntersectionObserver(async ([entry]) => {
    if (!entry.isIntersecting || appended - before >= automatic) return
    if (await append(list)) watch()
  }, { rootMargin: '600px' })
  const watch = () => {
    observer.disconnect()
    const link = document.querySelector('main .pager [rel=next]')
    if (link) observer.observe(link)
  }
  watch()
  document.addEventListener('click', async (event) => {
    if (!event.target.closest('main .pager [rel=next]') || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const count = list.children.length
    await append(list)
    const first = list.children[count]
    if (first) {
      first.tabIndex = -1
      first.focus({ preventScroll: true })
    }
  })
  addEventListener('pagehide', () => remember(list))
  document.addEventListener('visibilitychange', () => { if (document.hidden) remember(list) })
}
