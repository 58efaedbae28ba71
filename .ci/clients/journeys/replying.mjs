// Answering: from home, from a notification, deep in a thread.
import assert from 'node:assert/strict'
import { t } from './catalogue.mjs'
import { afterMentions, stored } from './person.mjs'
import { scripts } from './variant.mjs'

export const people = ['ann']

// answer replies to a post in two clicks, and checks the caret, what is stored, and that the own reply is on the screen.
async function answer(ann, { to, words, parent, mentions }) {
  let caret
  await ann.within(2, async () => { caret = await ann.reply(ann.post(to), words) })
  afterMentions(caret, ...mentions)
  const { descendants } = await stored(ann.api, `/api/v1/statuses/${parent}/context`, (c) => c.descendants.some((s) => s.content.includes(words)))
  const reply = descendants.find((s) => s.content.includes(words))
  assert.equal(reply.in_reply_to_id, parent)
  assert.deepEqual(reply.mentions.map((m) => m.acct).sort(), [...mentions].sort())
  await ann.inSight(ann.post(words))
  return reply
}

export const journeys = {
  async 'reply from home'({ ann, other }) {
    const ben = await other('ben')
    await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
    const said = await ben('POST', '/api/v1/statuses', { status: 'The night train was late again' })
    for (let n = 1; n <= 3; n++) await ben('POST', '/api/v1/statuses', { status: `Cup of tea number ${n}` })
    await ann.open('/web')
    await answer(ann, { to: 'The night train', words: 'By how much?', parent: said.id, mentions: [ben.nickname] })
    await ann.usable()
  },

  async 'reply from a notification'({ ann, other }) {
    const cleo = await other('cleo')
    const said = await cleo('POST', '/api/v1/statuses', { status: `@${ann.nickname} are the cups yours?` })
    await stored(ann.api, '/api/v1/notifications', (list) => list.some((n) => n.status?.id === said.id))
    await ann.open('/web')
    await ann.press(t('nav.notifications'), ann.page.locator('body'))
    await answer(ann, { to: 'are the cups yours?', words: 'They are.', parent: said.id, mentions: [cleo.nickname] })
    await ann.usable()
  },

  async 'reply deep in a thread'({ ann, other }) {
    const [dan, eve] = [await other('dan'), await other('eve')]
    let last = await dan('POST', '/api/v1/statuses', { status: 'Post 0: which kettle is the best?' })
    for (let n = 1; n <= 9; n++) {
      const [who, whom] = n % 2 ? [eve, dan] : [dan, eve]
      last = await who('POST', '/api/v1/statuses', { status: `@${whom.nickname} Post ${n}: another view. ${'Long words about kettles. '.repeat(12)}`, in_reply_to_id: last.id })
    }
    await ann.open(`/@${eve.nickname}/with_replies`)
    const post = ann.post('Post 9: another view')
    await ann.click(post.getByRole('link').filter({ has: ann.page.locator('time') }).first())
    await ann.page.waitForURL(`**/${last.id}*`)
    await ann.inSight(post)
    await ann.usable()
    await answer(ann, { to: 'Post 9: another view', words: 'Mine has no lid.', parent: last.id, mentions: [eve.nickname, dan.nickname] })
    await ann.usable()
    await ann.see(ann.post('Post 8: another view'))
    if (scripts) { // a link from elsewhere has no fragment
      await ann.open(new URL(last.url).pathname)
      await ann.inSight(post)
      assert(await ann.scrolled() > 0, 'the page opens at the reply, below the posts above it')
    }
  },

  async 'a reply that is sent twice is stored once'({ ann, other }) {
    const ben = await other('ben')
    const said = await ben('POST', '/api/v1/statuses', { status: `@${ann.nickname} twice?` })
    await ann.open(new URL(said.url).pathname)
    await ann.press(t('post.reply'), ann.post('twice?'))
    await ann.opened()
    await ann.write('Once.')
    const form = ann.page.locator('form').filter({ has: ann.page.locator(':focus') })
    await ann.control(t('compose.post'), form).dblclick()
    await ann.inSight(ann.post('Once.'))
    const { descendants } = await stored(ann.api, `/api/v1/statuses/${said.id}/context`, (c) => c.descendants.length > 0)
    assert.equal(descendants.length, 1)
  },

  ...(scripts && {
    async 'a reply in place is closed by Escape, which asks if something was written'({ ann, other }) {
      const ben = await other('ben')
      const said = await ben('POST', '/api/v1/statuses', { status: `@${ann.nickname} open and close` })
      await ann.open(new URL(said.url).pathname)
      const post = ann.post('open and close')
      await ann.press(t('post.reply'), post)
      const field = await ann.opened()
      await ann.inSight(field)
      assert.equal(ann.path, new URL(said.url).pathname, 'the page stays')
      await ann.usable()
      await ann.key('Escape')
      await ann.seeNot(field)
      assert(await ann.control(t('post.reply'), post).evaluate((e) => e === document.activeElement), 'the focus is where it was')
      await ann.press(t('post.reply'), post)
      await ann.opened()
      await ann.write('Something')
      let asked = 0
      const answers = [(dialog) => dialog.dismiss(), (dialog) => dialog.accept()]
      const answer = (dialog) => answers[asked++](dialog)
      ann.page.on('dialog', answer)
      await ann.key('Escape')
      assert.equal((await ann.caret()).text, `@${ben.nickname} Something`, 'it stays')
      await ann.key('Escape')
      await ann.seeNot(ann.page.locator('textarea:focus'))
      ann.page.off('dialog', answer)
      assert.equal(asked, 2)
      assert.deepEqual((await ann.api('GET', `/api/v1/statuses/${said.id}/context`)).descendants, [])
    },
  }),
}
