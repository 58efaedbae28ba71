// Push messages of this browser are turned on and off on a page of the settings, which says whether they work.
export function push(box) {
  const path = '/api/v1/push/subscription'
  const kinds = ['mention', 'status', 'reblog', 'follow', 'follow_request', 'favourite', 'poll', 'update', 'quote']
  const button = box.querySelector('button')
  const say = (outcome) => { box.querySelector('[role=status]').textContent = box.dataset[outcome] ?? '' }
  const present = async () => (await navigator.serviceWorker.getRegistration('/web/'))?.pushManager.getSubscription()
  const show = async () => { button.textContent = await present() ? box.dataset.off : box.dataset.on }

  const turnOn = async () => {
    if (await Notification.requestPermission() !== 'granted') return 'denied'
    await navigator.serviceWorker.register('/web/sw.js', { scope: '/web' })
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
