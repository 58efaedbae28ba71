// Favourite, boost, bookmark, react and vote: at once, in place, and taken back if it fails; without a network and with a slow one.
import assert from 'node:assert/strict'
import { waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'
import { language, scripts } from './variant.mjs'

export const people = ['ann']

// feed makes an account with posts, which ann follows, and opens her home at the one in the middle.
async function feed(ann, other, more = {}) {
  const ben = await other('ben')
  await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
  const posts = []
  for (let n = 0; n < 12; n++) posts.push(await ben('POST', '/api/v1/statuses', { status: `Train number ${n}. ${'It stopped here. '.repeat(8)}`, ...(n === 5 && more) }))
  await ann.open('/web')
  const post = ann.main.locator(`#p${posts[5].id}`) // its fragment; a boost of it is another article
  await post.scrollIntoViewIfNeeded()
  return { ben, post, id: posts[5].id, status: () => ann.api('GET', `/api/v1/statuses/${posts[5].id}`) }
}

const button = (ann, post, name) => ann.control(t(`post.${name}`), post)
const pressed = (control, on) => waitFor(async () => await control.getAttribute('aria-pressed') === String(on))

// actions are the buttons of a post and the member of the API that each changes.
const actions = { favourite: 'favourited', boost: 'reblogged', bookmark: 'bookmarked' }

export const journeys = {
  async 'favourite, boost and bookmark, and take it back'({ ann, other }) {
    const { post, status } = await feed(ann, other)
    for (const [name, member] of Object.entries(actions)) {
      for (const on of [true, false]) {
        await ann.stays(post, async () => {
          await ann.within(1, () => ann.click(button(ann, post, name)))
          await pressed(button(ann, post, name), on)
          await waitFor(async () => (await status())[member] === on)
        })
        assert.equal(ann.path, '/web')
      }
    }
    await ann.usable()
  },

  async 'the keyboard alone is enough'({ ann, other }) {
    const { post, status } = await feed(ann, other)
    await ann.reach(button(ann, post, 'favourite'))
    await ann.key('Enter')
    await waitFor(async () => (await status()).favourited)
    await pressed(button(ann, post, 'favourite'), true)
    if (!scripts) return
    assert(await button(ann, post, 'favourite').evaluate((e) => e === document.activeElement), 'the button keeps the focus')
    await ann.key('Tab')
    assert(await button(ann, post, 'bookmark').evaluate((e) => e === document.activeElement), 'the next button follows')
  },

  async 'react and take it back'({ ann, other }) {
    const { ben, post, status } = await feed(ann, other)
    await ann.within(2, () => ann.react(post, '❤', { en: 'heart', de: 'herz' }[language]))
    const reaction = ann.main.getByRole('button', { name: '❤' }).first()
    await pressed(reaction, true)
    const { svc } = await stored(ben, `/api/v1/statuses/${(await status()).id}`, (s) => s.svc.emoji_reactions.length === 1)
    assert.match(svc.emoji_reactions[0].name, /❤/)
    assert.equal(svc.emoji_reactions[0].count, 1)
    await ann.usable()
    await ann.within(1, () => ann.click(reaction))
    await ann.seeNot(reaction)
    await waitFor(async () => (await status()).svc.emoji_reactions.length === 0)
  },

  async 'vote in a poll'({ ann, other }) {
    const { post, status } = await feed(ann, other, { poll: { options: ['Assam', 'Sencha'], expires_in: 3600 } })
    await ann.usable()
    await ann.stays(post, async () => {
      await ann.tick('Sencha', true, post)
      await ann.press(t('poll.vote'), post)
      await ann.see(t('poll.yours'), post)
    })
    const { poll } = await status()
    assert.deepEqual([poll.voted, poll.own_votes, poll.options[1].votes_count], [true, [1], 1])
    await ann.usable()
  },

  async 'going back leads to the same place'({ ann, other }) {
    const { post } = await feed(ann, other)
    await ann.centre(post)
    const top = (await post.boundingBox()).y
    await ann.click(post.getByRole('link').filter({ has: ann.page.locator('time') }).first())
    await ann.page.waitForURL(/\/@/)
    await ann.page.goBack()
    await waitFor(async () => ann.path === '/web' && Math.abs(((await post.boundingBox())?.y ?? -1e6) - top) < 60)
  },

  ...(scripts && {
    async 'without a network a like says so, and nothing moves'({ ann, other }) {
      const { post, status } = await feed(ann, other)
      await ann.page.context().setOffline(true)
      try {
        await ann.stays(post, async () => {
          await ann.click(button(ann, post, 'favourite'))
          await ann.see(ann.page.getByRole('status').or(ann.page.getByRole('alert')).filter({ hasText: /\S/ }), ann.page)
          await pressed(button(ann, post, 'favourite'), false)
        })
        await ann.usable('ERR_INTERNET_DISCONNECTED')
        assert.equal(ann.path, '/web')
      } finally {
        await ann.page.context().setOffline(false)
      }
      assert.equal((await status()).favourited, false)
      await ann.click(button(ann, post, 'favourite'))
      await pressed(button(ann, post, 'favourite'), true)
      await waitFor(async () => (await status()).favourited)
      ann.quiet('ERR_INTERNET_DISCONNECTED')
    },

    async 'on a slow network a like is seen at once, by one small request'({ ann, other }) {
      const { post, status } = await feed(ann, other)
      const session = await ann.page.context().newCDPSession(ann.page)
      await session.send('Network.enable')
      await session.send('Network.emulateNetworkConditions', { offline: false, latency: 5000, downloadThroughput: 60_000, uploadThroughput: 60_000 })
      const requests = []
      ann.page.on('request', (request) => requests.push(request))
      await ann.click(button(ann, post, 'favourite'))
      await pressed(button(ann, post, 'favourite'), true)
      assert(await post.locator('[aria-busy]').count() > 0, 'seen before the answer is there')
      await waitFor(async () => (await status()).favourited)
      await waitFor(() => post.locator('[aria-busy]').count().then((n) => n === 0))
      const sent = requests.filter((request) => !/stream/.test(request.url()))
      assert.deepEqual(sent.map((request) => request.method()), ['POST'], sent.map((request) => request.url()).join(' '))
      const { responseBodySize, responseHeadersSize } = await sent[0].sizes()
      assert(responseBodySize < 3000, `${responseBodySize} bytes, and ${responseHeadersSize} of headers`)
      await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 })
      await session.detach()
    },

    async 'what the server refuses is taken back with its reason'({ ann, other }) {
      const { ben, post, id } = await feed(ann, other)
      await ben('DELETE', `/api/v1/statuses/${id}`)
      await ann.click(button(ann, post, 'boost'))
      await ann.see(ann.page.getByRole('status').filter({ hasText: /\S/ }), ann.page)
      await pressed(button(ann, post, 'boost'), false).catch(() => ann.seeNot(post))
      assert.equal(ann.path, '/web')
      ann.quiet('status of 404')
    },
  }),
}
