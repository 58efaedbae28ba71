// Parts of pages are requested and exchanged without loading the page: what a form changed, or what a list has more of.
import { applyTo } from './enhance.js'
import { showTimes } from './times.js'

const texts = () => document.getElementById('act')?.dataset ?? {}

// Failure is an error whose message is meant for the reader.
export class Failure extends Error {}

// send requests a part of a page and returns the document with it, or null if nothing remains of the part. With a body it sends a form. It throws
// a Failure if the server is not reached or refuses, and goes to another page if the answer is one.
export async function send(url, { part = 'main', body } = {}) {
  let response
  try {
    response = await fetch(url, { method: body ? 'POST' : 'GET', body, headers: { 'Svc-Part': part }, keepalive: body instanceof URLSearchParams }) // an action is sent although the reader leaves
  } catch {
    throw new Failure(navigator.onLine ? texts().unreached : texts().offline)
  }
  const found = new DOMParser().parseFromString(await response.text(), 'text/html')
  if (response.redirected && new URL(response.url).pathname === '/web/sign_in') throw new Failure(texts().signedOut)
  if (!response.ok) throw new Failure(reason(found) || texts().unreached)
  found.address = response.url
  return response.status === 204 ? null : found
}

// reason returns what the page of an error, or the error of the API, says.
function reason(found) {
  const text = found.querySelector('main .fault, main p')?.textContent ?? found.body.textContent
  try {
    return JSON.parse(text).error
  } catch {
    return text.trim()
  }
}

// morph makes an element equal to a fresh one, and keeps what the reader opened, typed and has the focus on.
export async function morph(element, fresh) {
  const { Idiomorph } = await import('./library/idiomorph.js')
  Idiomorph.morph(element, fresh.outerHTML, {
    ignoreActiveValue: Boolean(document.activeElement?.matches('input, textarea, select')), // of a button that would keep its old text
    callbacks: { beforeAttributeUpdated: (name, node) => !(name === 'open' && node.tagName === 'DETAILS') },
  })
  added(element)
}

// added treats an element that came into the page.
export function added(element) {
  showTimes(element)
  applyTo(element)
}

// refresh exchanges the content of the page by its present one.
export async function refresh(found) {
  const fresh = found ?? await send(location.href)
  const main = fresh?.querySelector('main')
  if (!main) return
  if (fresh.title) document.title = fresh.title
  await morph(document.querySelector('main'), main)
}

// say shows a sentence for a while, which screen readers read out.
let timer
export function say(text, { link } = {}) {
  const box = document.getElementById('said')
  if (!box || !text) return
  box.replaceChildren(text)
  if (link) box.append(' ', Object.assign(document.createElement('a'), link))
  clearTimeout(timer)
  timer = setTimeout(() => box.replaceChildren(), 8000)
}

// idiomorph is small, but not needed to read: it comes when there is time, so that the first action is one request.
const idle = window.requestIdleCallback ?? ((f) => setTimeout(f, 1000))
idle(() => import('./library/idiomorph.js').catch(() => {}))
