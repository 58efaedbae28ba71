// Buttons and small forms act without leaving the page. What they change is shown at once, and taken back with a message if the server refuses or
// is not reached.
import { Failure, morph, refresh, say, send } from './parts.js'

const form = () => document.getElementById('act')

// target returns the element that an action changes, and the name of its part.
function target(element) {
  const changed = element.closest('.follow[id], .post[id], .notice[id]')
  if (!changed) return { part: 'main' }
  const variant = changed.matches('.main') ? ' main' : changed.matches('.below') ? ' below' : ''
  return { changed, part: changed.id + variant }
}

// leaves returns true if a button's page has to be shown: a question, or another page.
const leaves = (url) => /[?&]ask=/.test(url) || /\/sign_out$/.test(url)

// foresee shows what an action will change, and returns how to take it back.
function foresee(button) {
  const before = button.innerHTML
  if (/\/dismiss$/.test(button.getAttribute('formaction'))) {
    const gone = button.closest('.notice')
    if (gone) gone.hidden = true
    return () => { if (gone) gone.hidden = false }
  }
  if (button.dataset.next) {
    button.textContent = button.dataset.next
    return () => { button.innerHTML = before }
  }
  if (!button.hasAttribute('aria-pressed')) return () => {}
  const pressed = button.getAttribute('aria-pressed') === 'true'
  button.setAttribute('aria-pressed', !pressed)
  const count = button.querySelector('.n')
  if (/^\d+$/.test(count?.textContent ?? '0')) {
    const n = Number(count?.textContent ?? 0) + (pressed ? -1 : 1)
    if (count) count.textContent = n || ''
    else if (button.matches('.boost, .star')) button.insertAdjacentHTML('beforeend', ` <span class="n">${n}</span>`)
  }
  return () => {
    button.setAttribute('aria-pressed', pressed)
    button.innerHTML = before
  }
}

// act sends a form and exchanges what it changed. back is called if it fails.
async function act(element, url, body, back) {
  const { changed, part } = target(element)
  element.setAttribute('aria-busy', 'true')
  try {
    const found = await send(url, { part, body })
    await show(found, changed)
  } catch (error) {
    back()
    if (!(error instanceof Failure)) throw error
    say(error.message)
  } finally {
    element.removeAttribute('aria-busy')
  }
}

// show exchanges what an action changed by what the server answered. Where the answer is the page of another address, that is shown.
async function show(found, changed) {
  if (!found) {
    const next = changed.nextElementSibling ?? changed.previousElementSibling
    changed.remove()
    next?.querySelector('a, button')?.focus({ preventScroll: true })
    return
  }
  const fresh = changed && found.getElementById(changed.id)
  if (fresh) return morph(changed, fresh)
  const address = new URL(found.address)
  if (address.pathname !== location.pathname && !address.pathname.startsWith('/web/do/')) {
    location.assign(address)
    return
  }
  await refresh(found)
  say(document.querySelector('main .done')?.textContent)
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('main button[form=act][formaction]')
  if (!button || leaves(button.getAttribute('formaction'))) return
  event.preventDefault()
  if (button.hasAttribute('aria-busy')) return
  act(button, button.getAttribute('formaction'), new URLSearchParams(new FormData(form())), foresee(button))
})

document.addEventListener('submit', (event) => {
  const sent = event.target
  if (!sent.matches('form.poll') || event.defaultPrevented) return
  event.preventDefault()
  if (sent.hasAttribute('aria-busy')) return
  act(sent, sent.getAttribute('action'), new URLSearchParams(new FormData(sent, event.submitter)), () => {})
})
