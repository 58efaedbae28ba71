// Looking at posts: the viewer of pictures, video and sound, quotes, and text from right to left.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { leave, visitor } from '../browser.mjs'
import { BASE_URL, picture, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'
import { scripts, touch } from './variant.mjs'

export const people = ['ann']

// sound returns a WAV file of five seconds.
function sound() {
  const samples = 40_000
  const file = Buffer.alloc(44 + samples, 0x80)
  file.write('RIFF')
  file.writeUInt32LE(36 + samples, 4)
  file.write('WAVEfmt ', 8)
  for (const [at, value] of [[16, 16], [24, 8000], [28, 8000], [40, samples]]) file.writeUInt32LE(value, at)
  for (const [at, value] of [[20, 1], [22, 1], [32, 1], [34, 8]]) file.writeUInt16LE(value, at)
  file.write('data', 36)
  for (let n = 0; n < samples; n++) file[44 + n] += 40 * Math.sin(n / 4)
  return file
}

// animation returns a GIF file of two small frames with one colour each. Its codes have eight bits, because the table of codes is cleared before it grows.
function animation(size = 8) {
  const word = (n) => [n & 255, n >> 8]
  const frame = (colour) => {
    const rows = Array.from({ length: size }, () => [size + 1, 128, ...Array(size).fill(colour)]).flat() // each is a block that begins with Clear
    return [0x21, 0xf9, 4, 0, ...word(50), 0, 0, 0x2c, ...word(0), ...word(0), ...word(size), ...word(size), 0, 7, ...rows, 1, 129, 0]
  }
  const colours = Array.from({ length: 128 }, (_, n) => [n * 2, 90, 255 - n * 2]).flat()
  const again = [0x21, 0xff, 11, ...Buffer.from('NETSCAPE2.0'), 3, 1, ...word(0), 0]
  return Buffer.from([...Buffer.from('GIF89a'), ...word(size), ...word(size), 0xf6, 0, 0, ...colours, ...again, ...frame(10), ...frame(100), 0x3b])
}

// film returns a WebM file of half a second, which the browser records.
async function film() {
  const page = await visitor()
  try {
    const base64 = await page.evaluate(async () => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 160, height: 90 })
      const context = canvas.getContext('2d')
      const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm;codecs=vp8' })
      const parts = []
      recorder.ondataavailable = ({ data }) => parts.push(data)
      recorder.start()
      for (let n = 0; n < 10; n++) {
        context.fillStyle = `hsl(${n * 30} 80% 50%)`
        context.fillRect(0, 0, 160, 90)
        await new Promise((done) => setTimeout(done, 50))
      }
      await new Promise((done) => { recorder.onstop = done; recorder.stop() })
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
      return btoa(String.fromCharCode(...bytes))
    })
    return Buffer.from(base64, 'base64')
  } finally {
    await leave(page)
  }
}

// publish makes a post with files, each of them bytes, a type and a description, and opens its page.
async function publish(ann, status, files) {
  const media = []
  for (const file of files) media.push(await ann.api.upload(...file))
  const post = await ann.api('POST', '/api/v1/statuses', { status, media_ids: media.map((m) => m.id) })
  await ann.open(new URL(post.url).pathname)
  return post
}

// swipe moves a finger over the screen, from right to left if by is negative.
async function swipe(page, by) {
  const { width, height } = page.viewportSize()
  const session = await page.context().newCDPSession(page)
  const send = (type, ...points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points })
  const at = (part) => ({ x: width / 2 - by / 2 + by * part, y: height / 2 })
  await send('touchStart', at(0))
  for (let part = 0.1; part < 1.05; part += 0.1) await send('touchMove', at(part))
  await send('touchEnd')
  await session.detach()
}

const names = ['The first square', 'The second square', 'The third square']

export const journeys = {
  async 'pictures in the viewer: keys, a finger, and Back'({ ann }) {
    const post = await publish(ann, 'Three squares', names.map((name) => [readFileSync(picture), 'image/png', name]))
    const { pathname } = new URL(post.url)
    const link = (n) => ann.main.getByRole('link', { name: names[n] }).first()
    if (!scripts) { // the picture itself is opened, and Back leads to the post
      await ann.click(link(0))
      assert.equal(ann.page.url(), post.media_attachments[0].url)
      await ann.page.goBack()
      ann.quiet('Applying inline style') // the browser's own, around a picture
      return ann.inSight(ann.post('Three squares'))
    }
    const viewer = ann.page.getByRole('dialog').locator('visible=true')
    const shows = (n) => ann.see(names[n], viewer)
    await ann.click(link(1))
    await shows(1)
    await waitFor(() => ann.page.evaluate((src) => [...document.querySelectorAll('[role=dialog] img')].some((e) => e.src === src && e.complete && e.naturalWidth > 0), post.media_attachments[1].url))
    await ann.usable()
    if (touch) {
      await swipe(ann.page, -250)
      await shows(2)
      await swipe(ann.page, 250)
      await shows(1)
    } else {
      for (const [key, n] of [['ArrowRight', 2], ['ArrowLeft', 1], ['ArrowLeft', 0]]) {
        await ann.key(key)
        await shows(n)
      }
    }
    await ann.key('Escape')
    await ann.seeNot(viewer)
    assert.equal(ann.path, pathname)
    assert(await link(1).evaluate((e) => e === document.activeElement), 'the focus is where it was')
    await ann.stays(link(2), async () => {
      await ann.click(link(2))
      await shows(2)
      await ann.page.goBack()
      await ann.seeNot(viewer)
    })
    assert.equal(ann.path, pathname, 'Back closes the viewer and leaves nothing else')
    await ann.reach(link(0))
    await ann.key('Enter')
    await shows(0)
    await ann.press(t('viewer.close'), viewer)
    await ann.seeNot(viewer)
    await ann.usable()
  },

  async 'a video and a sound'({ ann }) {
    const { media_attachments: [video] } = await publish(ann, 'It moves', [[await film(), 'video/webm', 'Colours that change']])
    assert.equal(video.type, 'video')
    const player = ann.main.locator('video')
    assert.equal(await player.getAttribute('aria-label'), 'Colours that change')
    await ann.unfold(`ALT: ${t('post.description')}`, ann.post('It moves'))
    await ann.see('Colours that change')
    await ann.usable()
    await played(ann, player)
    const notes = ['A low note', 'Another low note']
    const { media_attachments } = await publish(ann, 'It hums', notes.map((name) => [sound(), 'audio/wav', name]))
    assert.deepEqual(media_attachments.map((m) => [m.type, m.description]), notes.map((name) => ['audio', name]))
    await ann.usable()
    const players = notes.map((name) => ann.main.getByLabel(name, { exact: true }))
    for (const one of players) await played(ann, one)
    const playing = await Promise.all(players.map((one) => one.evaluate((e) => !e.paused)))
    if (scripts) assert.deepEqual(playing, [false, true], 'one sound at a time')
  },

  async 'an animation stands still until it is wanted'({ ann }) {
    const { media_attachments: [media] } = await publish(ann, 'Round and round', [[animation(), 'image/gif', 'A wheel']])
    const link = ann.main.getByRole('link', { name: 'A wheel' }).first()
    await ann.see('GIF', link)
    await ann.usable()
    const sources = () => ann.page.evaluate(() => [...document.images].filter((e) => e.complete && e.naturalWidth > 0).map((e) => e.src))
    assert(!(await sources()).includes(media.url))
    if (!scripts) return
    await ann.click(link)
    const viewer = ann.page.getByRole('dialog').locator('visible=true')
    await ann.see('A wheel', viewer)
    await waitFor(async () => (await sources()).includes(media.url))
    await ann.usable()
    await ann.key('Escape')
    await ann.seeNot(viewer)
  },

  async 'a quote shows what it quotes'({ ann, other }) {
    const ben = await other('ben')
    const said = await ben('POST', '/api/v1/statuses', { status: 'Herons nest in March', quote_approval_policy: 'public' })
    await ann.open(new URL(said.url).pathname)
    await ann.press(t('post.more'), ann.post('Herons nest'))
    await ann.press(t('actions.quote'))
    await ann.opened()
    await ann.see('Herons nest in March')
    await ann.usable()
    await ann.write('Here they come in April')
    await ann.send()
    await ann.see(t('done.posted'), ann.page)
    const [post] = await stored(ann.api, `/api/v1/accounts/${ann.api.id}/statuses`, (list) => list.some((s) => s.content.includes('in April')))
    assert.equal(post.quote.quoted_status.id, said.id)
    await ann.open(new URL(post.url).pathname)
    const own = ann.post('Here they come in April')
    await ann.see('Herons nest in March', own.locator('blockquote'))
    await ann.seeNot(/RE:/, own)
    await ann.usable()
    await ann.click(own.locator('blockquote').getByRole('link').filter({ has: ann.page.locator('time') }))
    await ann.page.waitForURL(`**/${said.id}*`)
    await ann.inSight(ann.post('Herons nest in March'))
  },

  async 'text from right to left'({ ann }) {
    const text = 'صباح الخير يا جيران'
    await ann.open('/web')
    const field = await ann.composer()
    await ann.type(field, text)
    const direction = (locator) => locator.evaluate((e) => getComputedStyle(e).direction)
    assert.equal(await direction(await ann.composer()), 'rtl', 'the field has the direction of the text')
    await ann.send()
    const post = ann.post(text)
    await ann.inSight(post)
    const content = post.locator('.content')
    assert.equal(await direction(content), 'rtl')
    assert.equal(await direction(post), 'ltr', 'the rest is in the language of the page')
    const [box, whole] = [await content.getByText(text).evaluate((e) => {
      const range = document.createRange()
      range.selectNodeContents(e)
      const { left, right } = range.getBoundingClientRect()
      return { left, right }
    }), await content.boundingBox()]
    assert(whole.x + whole.width - box.right < 3 && box.left - whole.x > 3, `the text stands on the right: ${JSON.stringify([box, whole])}`)
    await stored(ann.api, `/api/v1/accounts/${ann.api.id}/statuses`, (list) => list.some((s) => s.content.includes(text)))
    await ann.usable()
  },
}

// played begins to play a player by the keyboard.
async function played(ann, player) {
  await player.scrollIntoViewIfNeeded()
  await player.focus()
  await ann.key('Space')
  await waitFor(() => player.evaluate((e) => e.currentTime > 0 && e.error === null))
}
