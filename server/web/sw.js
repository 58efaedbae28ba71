// Shows the push messages of the server, also while no page of it is open, and a page of its own where the server is not reached. It keeps files that
// every visitor may have and nothing else, so that nothing private is left behind.
'use strict'

const name = 'svc web VERSION'
const folder = '/web/assets/VERSION/'
const offline = '/web/offline'

const keep = async () => {
  const cache = await caches.open(name)
  await cache.addAll([new Request(offline, { cache: 'reload' }), `${folder}style.css`, `${folder}offline.js`])
  await skipWaiting()
}
const begin = async () => {
  const old = (await caches.keys()).filter((key) => key.startsWith('svc web ') && key !== name)
  await Promise.all(old.map((key) => caches.delete(key)))
  await registration.navigationPreload?.enable()
}
addEventListener('install', (event) => event.waitUntil(keep()))
addEventListener('activate', (event) => event.waitUntil(begin()))

addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET' || !request.url.startsWith(`${location.origin}/`)) return
  if (request.mode === 'navigate') event.respondWith(page(event))
  else if (request.url.startsWith(location.origin + folder)) event.respondWith(file(request))
})

// page answers a navigation: by the server, or by the page that is kept.
async function page(event) {
  try {
    return await event.preloadResponse ?? await fetch(event.request)
  } catch {
    return await caches.match(offline, { cacheName: name }) ?? Response.error()
  }
}

// file answers a request for a file of this version, which never changes.
async function file(request) {
  const cache = await caches.open(name)
  const kept = await cache.match(request)
  if (kept) return kept
  const response = await fetch(request)
  if (response.ok) cache.put(request, response.clone()).catch(() => {})
  return response
}

addEventListener('push', (event) => {
  const message = event.data?.json() ?? {}
  const show = registration.showNotification(message.title ?? '', { body: message.body, icon: message.icon, tag: String(message.notification_id ?? '') })
  event.waitUntil(Promise.all([show, navigator.setAppBadge?.().catch(() => {})]))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(clients.openWindow('/web/notifications'))
})
