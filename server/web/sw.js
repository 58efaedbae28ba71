// Shows the push messages of the server, also while no page of it is open.
'use strict'

addEventListener('push', (event) => {
  const message = event.data?.json() ?? {}
  event.waitUntil(registration.showNotification(message.title ?? '', { body: message.body, icon: message.icon, tag: String(message.notification_id ?? '') }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(clients.openWindow('/web/notifications'))
})
