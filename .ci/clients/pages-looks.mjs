// Checks how pages look in other conditions than the usual ones: colours, print, less motion, a language from right to left.
import assert from 'node:assert/strict'
import { axe, leave, visitor } from './browser.mjs'
import { check, waitFor } from './lib.mjs'

// conditions are the ways in which colours change, as Chromium emulates them.
const conditions = {
  dark: { colorScheme: 'dark' },
  'more contrast': { colorScheme: 'light', contrast: 'more' },
  'more contrast, dark': { colorScheme: 'dark', contrast: 'more' },
  'forced colours': { forcedColors: 'active' },
}

// walkThroughLooks checks the pages at paths.
export async function walkThroughLooks(base, paths, signIn) {
  const page = await visitor({ base })
  await signIn(page, base, 'alice')
  await check('contrast of colours', async () => {
    const faults = []
    for (const path of paths) {
      await page.goto(base + path, { waitUntil: 'domcontentloaded' })
      await page.evaluate(axe)
      for (const [name, condition] of Object.entries(conditions)) {
        await page.emulateMedia(condition)
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run({ preload: false, runOnly: ['color-contrast'] })
          return violations.flatMap((v) => v.nodes.map((n) => `${n.failureSummary} ${n.html}`))
        })
        faults.push(...found.map((fault) => `${path}, ${name}: ${fault}`))
      }
      await page.emulateMedia({ colorScheme: null, contrast: null, forcedColors: null })
    }
    assert.deepEqual(faults, [])
  })
  await check('print', async () => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const path of paths) {
      await page.goto(base + path, { waitUntil: 'domcontentloaded' })
      const shown = await page.evaluate(() => [
        ...[...document.querySelectorAll('.bar, nav, .actions, .quick, button, input:not([type=hidden]), textarea, select')].filter((e) => e.getClientRects().length).map((e) => e.outerHTML.slice(0, 120)),
        ...['backgroundColor', 'color'].map((name, i) => [name, getComputedStyle(document.body)[name], ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'][i]]).filter(([, is, want]) => is !== want).map(String),
      ])
      assert.deepEqual(shown, [], path)
    }
    await page.emulateMedia({ media: null, colorScheme: null })
  })
  await check('less motion', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await page.goto(base + paths[0], { waitUntil: 'domcontentloaded' })
    const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((e) => {
      const style = getComputedStyle(e)
      return style.scrollBehavior === 'smooth' || parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none'
    }).map((e) => e.tagName))
    assert.deepEqual(moving, [])
    await page.emulateMedia({ reducedMotion: null })
  })
  await check('keyboard: skip link, visible focus, targets of 24 px', async () => {
    for (const path of paths) {
      await page.goto(base + path, { waitUntil: 'domcontentloaded' })
      const small = await page.evaluate(() => [...document.querySelectorAll('button, select, input:not([type=hidden]), nav a, .actions a')].filter((e) => {
        const box = e.getBoundingClientRect()
        return box.width > 1 && (box.width < 24 || box.height < 24) && !e.matches('.link')
      }).map((e) => e.outerHTML.slice(0, 120)))
      assert.deepEqual(small, [], path)
    }
    await page.evaluate(() => document.activeElement.blur())
    await page.goto(`${base}/web/settings`)
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip')
    assert(await page.evaluate(() => document.activeElement.getBoundingClientRect().left >= 0), 'the skip link is not seen')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => [document.activeElement.closest('main') !== null, getComputedStyle(document.activeElement).outlineStyle])
    assert.deepEqual(focused, [true, 'solid'])
  })
  await leave(page)
}

// A point on the curve and a secret, as a browser makes them for a push subscription.
const pushKeys = { p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4', auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
const pushEndpoint = 'https://push.example.org/subscription'

// walkThroughPush turns push messages on and lets the worker show one. Only the push service is replaced.
export async function walkThroughPush(base, signIn) {
  await check('push messages', async () => {
    const page = await visitor({ base })
    await page.context().grantPermissions(['notifications'], { origin: base })
    await page.addInitScript(({ endpoint, keys }) => {
      let made = null
      PushManager.prototype.subscribe = async function (options) {
        made = { options, toJSON: () => ({ endpoint, expirationTime: null, keys }), unsubscribe: async () => { made = null; return true } }
        window.subscribed = options
        return made
      }
      PushManager.prototype.getSubscription = async () => made
    }, { endpoint: pushEndpoint, keys: pushKeys })
    await signIn(page, base, 'alice')
    await page.goto(`${base}/web/settings/push`)
    await page.getByRole('button', { name: 'Turn on in this browser' }).click()
    await page.getByRole('button', { name: 'Turn off in this browser' }).waitFor()
    const stored = await page.evaluate(async () => (await fetch('/api/v1/push/subscription')).json())
    const instance = await page.evaluate(async () => (await fetch('/api/v2/instance')).json())
    assert.equal(stored.endpoint, pushEndpoint)
    assert.equal(stored.alerts.mention, true)
    assert.deepEqual(await page.evaluate(() => window.subscribed), { userVisibleOnly: true, applicationServerKey: instance.configuration.vapid.public_key })

    const devtools = await page.context().newCDPSession(page)
    const registered = new Promise((found) => devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && found(registrations[0].registrationId)))
    await devtools.send('ServiceWorker.enable')
    await page.evaluate(() => navigator.serviceWorker.getRegistration('/web/').then((r) => r.active ?? new Promise((active) => { (r.installing ?? r.waiting).onstatechange = (e) => e.target.state === 'activated' && active() })).then(() => true))
    const message = { title: 'Bob mentioned you', body: 'Tea at five?', notification_id: 7 }
    await devtools.send('ServiceWorker.deliverPushMessage', { origin: base, registrationId: await registered, data: JSON.stringify(message) })
    let shown
    await waitFor(async () => { // what is shown is read in one step, because the system may close it at any time
      shown = await page.evaluate(async () => {
        const list = await (await navigator.serviceWorker.getRegistration('/web/')).getNotifications()
        const pushed = list.filter((n) => n.tag !== 'works') // that one says that push messages are on
        return pushed.map(({ title, body, tag }) => ({ title, body, tag }))
      })
      return shown.length > 0
    })
    assert.deepEqual(shown, [{ title: message.title, body: message.body, tag: '7' }])

    await page.getByRole('button', { name: 'Turn off in this browser' }).click()
    await page.getByRole('button', { name: 'Turn on in this browser' }).waitFor()
    assert.equal(await page.evaluate(async () => (await fetch('/api/v1/push/subscription')).status), 404)
    page.errors = page.errors.filter((text) => !text.includes('status of 404')) // of the last request
    assert.deepEqual(page.errors, [])
    await leave(page)
  })
}
