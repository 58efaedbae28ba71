// A person who uses the pages: with keys, clicks or taps that are counted, and eyes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isAccessible, leave, visitor } from '../browser.mjs'
import { BASE_URL, PASSWORD, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { options, scripts, touch } from './variant.mjs'

const exactly = (text) => (text instanceof RegExp ? text : new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(\\s+\\d+)?\\s*$`))

export class Person {
  // arrive opens a browser window. api calls the API as the account of the person, if there is one.
  static async arrive(api) {
    const page = await visitor({ base: BASE_URL, ...options })
    page.setDefaultTimeout(30_000)
    return new Person(page, api)
  }

  constructor(page, api) {
    Object.assign(this, { page, api, clicks: 0, nickname: api?.nickname, going: null })
    this.main = page.getByRole('main')
    const arrived = () => { this.going = null }
    page.on('request', (request) => { if (request.isNavigationRequest() && request.frame() === page.mainFrame()) this.going = request })
    page.on('requestfailed', (request) => { if (request === this.going) arrived() })
    page.on('framenavigated', (frame) => { if (frame === page.mainFrame()) arrived() })
    page.on('download', arrived)
  }

  // settle waits until a page that a press leads to is there, which a tap does not wait for.
  async settle() {
    await this.page.evaluate(() => 0).catch(() => {}) // what the press caused has begun after that
    await waitFor(() => this.going === null)
    await this.page.waitForLoadState('domcontentloaded')
  }

  leave() {
    return leave(this.page)
  }

  async open(path) {
    await this.page.goto(BASE_URL + path, { waitUntil: 'domcontentloaded' })
    if (scripts) await this.page.waitForFunction(() => document.readyState === 'complete')
  }

  // live opens a page that hears of what happens from then on. Without JavaScript, it is a page like others.
  async live(path) {
    const stream = scripts && this.page.waitForResponse((response) => response.url().includes('/web/stream/'))
    await this.open(path)
    await stream
  }

  get path() {
    return new URL(this.page.url()).pathname
  }

  // Pressing

  async click(locator) {
    this.clicks++
    await (touch ? locator.tap() : locator.click())
    await this.settle()
  }

  // press presses a button or link by its name; a count after the name does not matter. The page may have several: the first one that is seen.
  press(name, scope = this.main) {
    return this.click(this.control(name, scope))
  }

  control(name, scope = this.main) {
    return scope.getByRole('button', { name: exactly(name) }).or(scope.getByRole('link', { name: exactly(name) })).locator('visible=true').first()
  }

  // enter sends a form by the Enter key, which counts like a click.
  async enter(keys = 'Enter') {
    this.clicks++
    await this.key(keys)
    await this.settle()
  }

  key(name) {
    return this.page.keyboard.press(name)
  }

  // within fails if f takes more clicks, taps and Enter keys that send a form.
  async within(most, f) {
    const before = this.clicks
    await f()
    assert(this.clicks - before <= most, `${this.clicks - before} clicks, at most ${most} should be needed`)
  }

  // reach goes to a control by the Tab key, as a person without a mouse does.
  async reach(locator) {
    for (let n = 0; n < 200; n++) {
      if (await locator.evaluate((e) => e === document.activeElement)) return
      await this.key('Tab')
    }
    assert.fail(`not reached by the Tab key: ${locator}`)
  }

  // unfold opens a part of the page that can be opened, by its summary or by the button that stands for it.
  async unfold(name, scope = this.main) {
    const box = scope.locator('details', { has: this.page.locator('summary').filter({ hasText: exactly(name) }) }).first()
    if (await box.getAttribute('open') !== null) return
    const summary = box.locator('summary').first()
    await this.click(await summary.isVisible() ? summary : this.control(name, scope))
  }

  // Typing

  field(label, scope = this.main) {
    return scope.getByLabel(label, { exact: true }).first()
  }

  // type types into a field, which gets the focus by a click if it does not have it, in place of what is there.
  async type(field, text) {
    if (typeof field === 'string') field = this.field(field)
    if (!(await field.evaluate((e) => e === document.activeElement))) await this.click(field)
    if (await field.inputValue() !== '') {
      await this.key('Control+A')
      await this.key('Delete')
    }
    await this.page.keyboard.type(text)
    assert.equal(await field.inputValue(), text)
  }

  // write types at the caret, wherever it is.
  write(text) {
    return this.page.keyboard.type(text)
  }

  // choose picks an option of a list by the arrow keys.
  async choose(label, option, scope = this.main) {
    const list = this.field(label, scope)
    const [place, at] = await list.evaluate((e, option) => [[...e.options].findIndex((o) => o.label === option), e.selectedIndex], option)
    assert(place >= 0, `no option ${option}`)
    await list.focus()
    for (let n = at; n !== place; n += Math.sign(place - at)) await this.key(place > at ? 'ArrowDown' : 'ArrowUp')
    assert.equal(await list.evaluate((e) => e.selectedOptions[0].label), option)
  }

  // tick sets a check box or a radio button.
  async tick(label, on = true, scope = this.main) {
    const box = scope.getByLabel(label).first()
    if (await box.isChecked() !== on) await this.click(box)
    assert.equal(await box.isChecked(), on)
  }

  // pick chooses files in the browser's dialog.
  async pick(field, files) {
    const [chooser] = await Promise.all([this.page.waitForEvent('filechooser'), this.click(field)])
    await chooser.setFiles(files)
  }

  // Seeing

  async see(what, scope = this.main) {
    await (typeof what === 'string' || what instanceof RegExp ? scope.getByText(what) : what).locator('visible=true').first().waitFor()
  }

  async seeNot(what, scope = this.main) {
    const found = (typeof what === 'string' || what instanceof RegExp ? scope.getByText(what) : what).locator('visible=true')
    await waitFor(async () => (await found.count()) === 0)
  }

  // post returns the post with a text.
  post(text) {
    return this.main.getByRole('article').filter({ hasText: text }).first()
  }

  // caret tells which field has the caret and where in its text it is.
  caret() {
    return this.page.evaluate(() => {
      const { value, selectionStart, selectionEnd } = document.activeElement
      return { text: value, before: value?.slice(0, selectionStart), selected: value?.slice(selectionStart, selectionEnd) }
    })
  }

  scrolled() {
    return this.page.evaluate(() => Math.round(window.scrollY))
  }

  // inSight fails unless an element comes to be on the screen.
  async inSight(locator) {
    await locator.waitFor()
    await waitFor(async () => {
      const box = await locator.boundingBox()
      return box && box.y + box.height > 0 && box.y < this.page.viewportSize().height
    })
  }

  // centre scrolls to an element at once, while the page itself scrolls smoothly.
  centre(locator) {
    return locator.evaluate((e) => e.scrollIntoView({ block: 'center', behavior: 'instant' }))
  }

  // stays fails if f moves what is read: with JavaScript, locator stays at its place on the screen; without, it is on the screen again.
  async stays(locator, f) {
    await locator.scrollIntoViewIfNeeded()
    const top = async () => (await locator.boundingBox()).y
    const before = await top()
    await f()
    if (!scripts) return this.inSight(locator)
    assert(Math.abs(await top() - before) < 3, `moved from ${before} to ${await top()}`)
  }

  // usable fails if the page, as it is now, breaks a rule of accessibility, or has logged an error other than answers of these statuses.
  async usable(...expected) {
    this.quiet(...expected)
    await isAccessible(this.page)
  }

  // quiet fails if the browser has logged an error since the last time.
  quiet(...expected) {
    const errors = this.page.errors.filter((text) => !expected.some((e) => text.includes(e)))
    this.page.errors.length = 0
    assert.deepEqual(errors, [])
  }

  // instant returns what a time in a field of the page means: one in the zone of the browser, which only a script can tell.
  instant(time) {
    return this.page.evaluate(([time, zone]) => new Date(time + zone).toISOString(), [time, scripts ? '' : 'Z'])
  }

  // Tasks

  async signIn(password = PASSWORD) {
    await this.open('/web/sign_in')
    await this.type(t('sign_in.name'), this.nickname)
    await this.key('Tab')
    await this.write(password)
    await this.enter()
  }

  async home() {
    await this.page.waitForURL((url) => url.pathname === '/web')
    await this.composer()
  }

  // composer returns the field of a new post on the present page.
  async composer() {
    const field = this.main.getByRole('textbox', { name: new RegExp(`^(${t('compose.what')}|${t('compose.text')})`.replace('?', '\\?')) }).locator('visible=true').first()
    await field.waitFor()
    return field
  }

  // compose opens the whole form of a new post, in which the caret stands in the text.
  async compose() {
    await this.open('/web/compose')
    await this.opened()
  }

  // opened waits for a field that got the focus after a press, and returns it.
  async opened() {
    const field = this.page.locator('textarea:focus')
    await field.waitFor()
    return field
  }

  // send presses the button of the form that has the focus.
  async send(name = t('compose.post')) {
    const form = this.page.locator('form').filter({ has: this.page.locator(':focus') })
    await this.press(name, form)
  }

  // moreOptions goes from the short form of a new post to the whole one.
  async moreOptions() {
    const short = this.control(t('compose.more_options'))
    await this.click(short.or(this.control(t('compose.more'))).first()) // the form may have become the whole one when it got the focus
    await this.field(t('compose.language')).waitFor()
  }

  // attach picks files in one dialog. Without JavaScript, a button sends them to the server.
  async attach(files) {
    await this.pick(this.main.getByText(t('compose.file'), { exact: true }).locator('visible=true').first(), files)
    if (!scripts) await this.press(t('compose.add'))
    await this.description(files.length).waitFor()
  }

  // drop drops files from the desktop of the person at a place of the page.
  async drop(locator, files) {
    const { x, y, width, height } = await locator.boundingBox()
    const session = await this.page.context().newCDPSession(this.page)
    const data = { items: [], files, dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop']) {
      await session.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data })
    }
    await session.detach()
  }

  // paste pastes a picture.
  async paste(file) {
    await this.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await this.page.evaluate(async (base64) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': new Blob([bytes], { type: 'image/png' }) })])
    }, readFileSync(file, 'base64'))
    await this.key('Control+V')
  }

  // description returns the field that describes the nth file.
  description(n) {
    return this.field(t('compose.description', n))
  }

  // typeTime types a time, as in 2026-11-30T18:05, into a field of the browser for it. Its parts are in the order of the browser's own language,
  // which is English whatever that of the pages is.
  async typeTime(field, time) {
    const [year, month, day, hour, minute] = time.split(/\D/)
    await this.reach(field)
    await this.write(month + day + year)
    await this.key('ArrowRight') // a year may have six digits
    await this.write(String(hour % 12 || 12).padStart(2, '0') + minute + (hour < 12 ? 'A' : 'P'))
    assert.equal(await field.inputValue(), time)
  }

  // react adds an emoji to a post, which is found by a word.
  async react(post, emoji, word) {
    await this.press(t('post.react'), post)
    const place = scripts ? this.page.getByRole('dialog') : this.main
    if (scripts) {
      await this.page.locator(':focus').and(place.locator('input')).waitFor()
      await this.write(word)
    }
    const button = place.locator('button').filter({ hasText: emoji }).locator('visible=true').first()
    await this.see(button)
    await this.usable()
    await this.click(button)
  }

  // reply answers a post in words, and returns where the caret stood before.
  async reply(post, words) {
    await this.press(t('post.reply'), post)
    await this.opened()
    const caret = await this.caret()
    await this.write(words)
    await this.send()
    return caret
  }
}

// afterMentions fails unless the caret stands after the mentions and a space. Without JavaScript, a browser puts it at the beginning; then the
// server parts what is typed there from the mentions.
export function afterMentions({ text, before, selected }, ...names) {
  const mentions = names.map((name) => `@${name} `).join('')
  assert.deepEqual({ text, before, selected }, { text: mentions, before: scripts ? mentions : '', selected: '' })
}

// stored polls the API until the answer is as wanted, and returns it.
export async function stored(api, path, wanted) {
  let answer
  await waitFor(async () => wanted(answer = await api('GET', path)))
  return answer
}
