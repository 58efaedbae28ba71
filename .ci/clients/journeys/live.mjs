// What comes while a page is open: new posts, older posts, and chat messages. None of it moves what is read.
import assert from 'node:assert/strict'
import { waitFor } from '../lib.mjs'
import { t, tn } from './catalogue.mjs'
import { stored } from './person.mjs'
import { scripts, touch } from './variant.mjs'

export const people = ['ann', 'ben']

// writer makes an account with posts, which ann follows.
async function writer(ann, other, what, count) {
  const ben = await other('ben')
  await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
  await write(ben, what, 1, count)
  return ben
}

// write posts texts that begin with Train number 01, for example.
async function write(ben, what, from, to) {
  for (let n = from; n <= to; n++) await ben('POST', '/api/v1/statuses', { status: `${what} number ${String(n).padStart(2, '0')}. ${'It stopped here. '.repeat(6)}` })
}

// read waits until the newest post of home is the one up to which ann has read.
async function read(ann) {
  const [newest] = await ann.api('GET', '/api/v1/timelines/home?limit=1')
  await stored(ann.api, '/api/v1/markers?timeline[]=home', (markers) => markers.home?.last_read_id === newest.id)
}

// opened follows the link of a post to its page.
async function opened(ann, post) {
  await ann.click(post.getByRole('link').filter({ has: ann.page.locator('time') }).first())
  await ann.page.waitForURL(/\/@/)
}

// unreadChats is what says that messages wait: a number beside the link to the chats, and on a phone a dot beside the menu.
const unreadChats = (person) => person.page.locator(touch ? '.bottom .dot' : '.side .unread-chats')

export const journeys = {
  async 'new posts wait behind a button'({ ann, other }) {
    const ben = await writer(ann, other, 'Tram', 12)
    await ann.live('/web')
    const present = ann.post('Tram number 05')
    await ann.centre(present)
    const news = ['First news', 'Second news']
    if (!scripts) {
      for (const status of news) await ben('POST', '/api/v1/statuses', { status })
      await ann.page.reload()
      for (const text of news) await ann.see(ann.post(text))
      return
    }
    for (const [i, status] of news.entries()) {
      await ann.stays(present, async () => {
        await ben('POST', '/api/v1/statuses', { status })
        await ann.inSight(ann.control(tn('timeline.fresh', i + 1)))
      })
    }
    await ann.seeNot('First news')
    await ann.page.waitForFunction(() => document.title.startsWith('(2) '))
    await ann.usable()
    await ann.within(1, () => ann.press(tn('timeline.fresh', 2)))
    await ann.inSight(ann.post('Second news'))
    await ann.seeNot(ann.control(tn('timeline.fresh', 2)))
    assert(await ann.post('Second news').evaluate((e) => e === document.activeElement), 'the focus is on the newest post')
    const texts = await ann.main.getByRole('article').allInnerTexts()
    const order = ['Second news', 'First news', 'Tram number 12', 'Tram number 01'].map((text) => texts.findIndex((whole) => whole.includes(text)))
    assert.deepEqual(order.slice(0, 3), [0, 1, 2], 'the new posts stand above the others')
    assert(order[3] > 2, 'the others are still there')
    assert.doesNotMatch(await ann.page.title(), /^\(/)
    await ann.usable()
    await read(ann)
  },

  async 'what happens before the page hears of it is shown as soon as it does'({ ann, ben, other }) {
    const writer = await other('early')
    await ann.api('POST', `/api/v1/accounts/${writer.id}/follow`)
    const chat = await ben.api('POST', `/api/v1/svc/chats/by-account-id/${ann.api.id}`)
    let connect
    const held = new Promise((done) => { connect = done })
    if (scripts) await ann.page.route('**/web/stream/*', (route) => held.then(() => route.continue()))
    await ann.open('/web')
    await writer('POST', '/api/v1/statuses', { status: `The early bird, @${ann.nickname}` })
    await ben.api('POST', `/api/v1/svc/chats/${chat.id}/messages`, { content: 'Are you up?' })
    connect()
    if (!scripts) {
      await ann.page.reload()
    } else {
      await ann.inSight(ann.control(tn('timeline.fresh', 1)))
      await ann.page.waitForFunction(() => document.title.startsWith('(2) ')) // the mention and the post
      await ann.press(tn('timeline.fresh', 1))
      await ann.page.unroute('**/web/stream/*')
    }
    await ann.inSight(ann.post('The early bird'))
    await ann.see(unreadChats(ann))
    const [own] = await ann.api('GET', '/api/v1/svc/chats')
    await ann.open(`/web/chats/${own.id}`)
    await ann.inSight(ann.main.getByText('Are you up?'))
  },

  async 'who comes back goes on where they left off'({ ann, other }) {
    const ben = await writer(ann, other, 'Boat', 3)
    await ann.open('/web')
    await read(ann)
    await write(ben, 'Boat', 4, 50)
    await ann.open('/web')
    await ann.see(ann.post('Boat number 50'))
    await ann.usable()
    await ann.press(t('timeline.unread'))
    await ann.see(ann.post('Boat number 04'))
    assert.equal(await ann.post('Boat number 03').count(), 0, 'what was read does not come again')
    await ann.usable()
    await ann.press(t('timeline.newest'))
    await ann.see(ann.post('Boat number 50'))
    await ann.press(t('timeline.all_read'))
    await ann.seeNot(ann.control(t('timeline.unread')))
    await read(ann)
    await ann.usable()
  },

  async 'older posts are appended, the footer is reached, and Back leads to the same place'({ ann, other }) {
    await writer(ann, other, 'Train', 85)
    const articles = ann.main.getByRole('article')
    const older = ann.control(t('nav.older'))
    await ann.open('/web')
    if (!scripts) {
      await ann.click(older)
      await ann.page.waitForURL(/max_id/)
      const post = ann.post('Train number 55')
      await ann.centre(post)
      await opened(ann, post)
      await ann.page.goBack()
      return ann.inSight(post)
    }
    await waitFor(async () => {
      await ann.key('End')
      return await articles.count() >= 80
    })
    await ann.key('End')
    await ann.inSight(ann.page.getByRole('contentinfo').last())
    assert.equal(await articles.count(), 80, 'after some pages, the link waits to be pressed')
    await ann.usable()
    await ann.stays(older, () => Promise.resolve())
    const last = ann.post('Train number 06')
    await ann.stays(last, async () => {
      await ann.click(older)
      await waitFor(async () => await articles.count() >= 85)
    })
    assert.equal(await ann.post('Train number 05').evaluate((e) => e === document.activeElement), true, 'the focus is on the first of the older posts')
    const post = ann.post('Train number 10')
    await ann.centre(post)
    const top = (await post.boundingBox()).y
    await opened(ann, post)
    await ann.page.goBack()
    await waitFor(async () => ann.path === '/web' && Math.abs(((await post.boundingBox())?.y ?? -1e6) - top) < 60)
    await ann.page.reload()
    await waitFor(async () => Math.abs(((await post.boundingBox())?.y ?? -1e6) - top) < 60)
  },

  async 'a chat message has a mark until it is read'({ ann, ben }) {
    const chat = await ben.api('POST', `/api/v1/svc/chats/by-account-id/${ann.api.id}`)
    await ann.live('/web')
    await ann.seeNot(unreadChats(ann))
    await ben.api('POST', `/api/v1/svc/chats/${chat.id}/messages`, { content: 'Is there tea?' })
    if (!scripts) await ann.page.reload()
    await ann.see(unreadChats(ann)) // with JavaScript, it comes by itself
    await ann.usable()
    if (touch) await ann.press(new RegExp(t('nav.menu')), ann.page.locator('.bottom')) // its name says that something waits
    await ann.press(t('nav.chats'), touch ? ann.main : ann.page.locator('.side'))
    const row = ann.main.getByRole('article').filter({ hasText: ben.nickname })
    await ann.see(tn('chats.unread', 1), row)
    await ann.usable()
    await ann.click(row.getByRole('link', { name: new RegExp(ben.nickname) }).last())
    await ann.inSight(ann.main.getByText('Is there tea?'))
    await ann.seeNot(unreadChats(ann))
    await stored(ann.api, '/api/v1/svc/chats', ([own]) => own.unread === 0)
    await ann.open('/web')
    await ann.seeNot(unreadChats(ann))
  },
}
