// Helpers of the suites that use the server's pages in Chromium.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { PASSWORD } from './lib.mjs'

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--ignore-certificate-errors'] // a worker's script is not covered by ignoreHTTPSErrors
export const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

// sizes are those of a phone and of a desktop window.
const sizes = [{ width: 375, height: 667 }, { width: 1280, height: 800 }]

// narrow is the smallest width without scrolling sideways: WCAG 2.2, 1.4.10, also in a language from right to left and with text of
// twice the size at four times that width (1.4.4).
const narrow = { width: 320, height: 640 }
const fits = [[narrow, { dir: 'ltr' }], [narrow, { dir: 'rtl' }], [sizes[1], { dir: 'rtl' }], [sizes[1], { size: '200%' }]]

export const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags })

// soon waits for what the browser is asked to close. Chromium may never answer if a worker of the page is just starting.
const soon = (closing) => Promise.race([closing, new Promise((done) => setTimeout(done, 10_000).unref())])

// leave closes the window of a page. One that stays open goes with the browser.
export const leave = (page) => soon(page.context().close())

// end closes the browser, and ends this process, with which it goes in any case.
export async function end() {
  await soon(browser.close())
  process.exit()
}

// visitor is a browser window without history that records console errors and requests to other origins than base, if that is given.
export async function visitor({ base, ...options } = {}) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options })
  const page = await context.newPage()
  page.scripts = options.javaScriptEnabled !== false
  page.setDefaultTimeout(30_000)
  page.errors = []
  page.on('request', (request) => {
    if (base && !/^(data|blob|about):/.test(request.url()) && new URL(request.url()).origin !== base) page.errors.push(`request to ${request.url()}`)
  })
  page.on('console', (message) => {
    if (message.type() === 'error') page.errors.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => page.errors.push(String(error)))
  return page
}

// isUsable fails unless the page has a language, a title, a heading, a label for every control, no console errors, and, on a phone and
// on a desktop, no violation of axe's rules and nothing beyond the edge of the window. expected are statuses of 4xx answers that the page may
// have caused, which the console counts as errors.
export async function isUsable(page, expected = []) {
  page.errors = page.errors.filter((text) => !expected.some((status) => text.includes(`status of ${status}`)))
  const faults = await page.evaluate(() => {
    const named = (e) => {
      return e.labels?.length || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() ||
        (e.type === 'submit' && e.value) || e.querySelector('img[alt]:not([alt=""])') || e.closest('[aria-hidden=true]')
    }
    const operable = [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a[href]')]
    return [
      !document.documentElement.lang && 'no language',
      !document.title.trim() && 'no title',
      document.querySelectorAll('h1').length !== 1 && 'not one h1',
      !document.querySelector('main') && 'no main',
      !document.querySelector('meta[name=viewport]') && 'no viewport for small screens',
      ...operable.filter((e) => !named(e)).map((e) => `no name: ${e.outerHTML}`),
      ...[...document.images].filter((e) => !e.hasAttribute('alt')).map((e) => `no alt: ${e.outerHTML}`),
    ].filter(Boolean)
  })
  assert.deepEqual([...faults, ...page.errors], [], page.url())
  for (const [size, { dir = 'ltr', size: text = '' }] of fits) {
    await page.setViewportSize(size)
    const wide = await page.evaluate(([dir, text]) => {
      const root = document.documentElement
      root.dir = dir
      root.style.fontSize = text
      return root.scrollWidth > window.innerWidth || [...document.querySelectorAll('main, header')].some((e) => e.getBoundingClientRect().left < -1)
    }, [dir, text])
    assert(!wide, `${page.url()} is wider than the window: ${size.width} px, ${dir} ${text}`)
  }
  await page.evaluate(() => { document.documentElement.removeAttribute('dir'); document.documentElement.style.fontSize = '' })
  for (const size of sizes) {
    await page.setViewportSize(size)
    await isAccessible(page)
  }
}

// isAccessible fails if the page, as it is now, breaks a rule of axe or is wider than the window. If the page is about to give way to another one, it is that one.
export async function isAccessible(page) {
  for (let tries = 3; ; tries--) {
    try {
      return await checkAccessible(page)
    } catch (error) {
      if (tries === 0 || !error.message.includes('Execution context was destroyed')) throw error
      await page.waitForLoadState()
    }
  }
}

async function checkAccessible(page) {
  const at = `${page.url()}, ${page.viewportSize().width} px wide`
  assert(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `wider than the window: ${at}`)
  if (!page.scripts) return // axe needs timers
  if (await page.evaluate(() => !window.axe)) await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run({ preload: false })
    return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.failureSummary} ${n.html}`))
  })
  assert.deepEqual(found, [], at)
}

// fill types into every visible field that is empty.
export async function fill(page, { nickname, email, password }) {
  for (const input of await page.locator('input:visible:not([readonly])').all()) {
    const type = (await input.getAttribute('type')) ?? 'text'
    const wantsMail = type === 'email' || /mail/i.test(await input.getAttribute('name'))
    if (type === 'password') await input.fill(password)
    else if (/^(text|email)$/.test(type) && !(await input.inputValue())) await input.fill((wantsMail && email) || nickname)
  }
}

// submit presses Enter in the last field, or the first button where there is none.
export async function submit(page) {
  const fields = page.locator('input:visible:not([readonly])')
  const loaded = page.waitForEvent('load')
  if (await fields.count()) await fields.last().press('Enter')
  else await page.locator('form button, form input[type=submit]').first().click()
  await loaded
}

export async function press(page, text) {
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name: text }).first().click()
  await loaded
}

// signIn signs a person in to the web interface.
export async function signIn(page, base, nickname) {
  await page.goto(`${base}/web/sign_in`)
  await page.fill('#name', nickname)
  await page.fill('#password', PASSWORD)
  await page.locator('main button').click()
  await page.waitForURL(`${base}/web`)
}
