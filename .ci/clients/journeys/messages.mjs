// What is meant for one person: a direct message from a profile, and a chat.
import assert from 'node:assert/strict'
import { picture, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { afterMentions, stored } from './person.mjs'
import { scripts } from './variant.mjs'

export const people = ['ann', 'ben']

export const journeys = {
  async 'a direct message from a profile, and the answer to it'({ ann, ben }) {
    await ann.open(`/@${ben.nickname}`)
    await ann.press(t('profile.more'))
    await ann.usable()
    await ann.press(t('person.message'))
    await ann.opened()
    afterMentions(await ann.caret(), ben.nickname)
    await ann.write('a new word in private')
    await ann.usable()
    await ann.send()
    await ann.see(t('done.posted'), ann.page)
    const [conversation] = await stored(ben.api, '/api/v1/conversations', (list) => list.length === 1)
    const { last_status: sent } = conversation
    assert.deepEqual([sent.visibility, sent.mentions.map((m) => m.acct)], ['direct', [ben.nickname]])

    await ben.open('/web/conversations')
    await ben.see(t('conversations.unread'))
    await ben.usable()
    await ben.press(t('conversations.open'))
    await ben.inSight(ben.post('a new word in private'))
    const caret = await ben.reply(ben.post('a new word in private'), 'An answer in private')
    afterMentions(caret, ann.nickname)
    await ben.inSight(ben.post('An answer in private'))
    const { descendants } = await stored(ann.api, `/api/v1/statuses/${sent.id}/context`, (c) => c.descendants.length === 1)
    assert.equal(descendants[0].visibility, 'direct', 'an answer is no more public than what it answers')
    assert.equal((await ben.api('GET', '/api/v1/conversations'))[0].unread, false)
    await ann.open(`/@${ben.nickname}`)
    await ann.seeNot('An answer in private')
  },

  async 'a chat'({ ann, ben }) {
    await ann.open(`/@${ben.nickname}`)
    await ann.press(t('profile.more'))
    await ann.press(t('person.chat'))
    if (await ann.control(t('chats.start')).count()) await ann.press(t('chats.start'))
    await ann.page.waitForURL(/\/web\/chats\/\w+/)
    await ann.see(t('chats.empty'))
    await ann.usable()
    const field = ann.field(t('chats.message'))
    await ann.type(field, 'Tea at five?')
    await ann.press(t('chats.send'))
    await ann.inSight(ann.main.getByText('Tea at five?'))
    assert.equal(await field.inputValue(), '')
    const [chat] = await stored(ben.api, '/api/v1/svc/chats', (list) => list.length === 1)
    assert.equal(chat.unread, 1)

    await ben.open('/web/chats')
    await ben.see(/1/)
    await ben.usable()
    await ben.click(ben.main.getByRole('link', { name: new RegExp(ann.nickname) }).last())
    await ben.inSight(ben.main.getByText('Tea at five?'))
    await ben.type(ben.field(t('chats.message')), 'With milk')
    await ben.press(t('chats.send'))
    await ben.inSight(ben.main.getByText('With milk'))
    await ben.usable()
    await waitFor(async () => (await ben.api('GET', `/api/v1/svc/chats/${chat.id}`)).unread === 0)
    const [{ id }] = await ann.api('GET', '/api/v1/svc/chats') // each of the two has an id of their own
    const messages = await ann.api('GET', `/api/v1/svc/chats/${id}/messages`)
    assert.deepEqual(messages.map((m) => m.content), ['With milk', 'Tea at five?'])

    await ben.type(ben.field(t('chats.message')), 'A cup')
    await ben.pick(ben.main.locator('input[type=file]'), picture)
    await ben.press(t('chats.send'))
    const [last] = await stored(ann.api, `/api/v1/svc/chats/${id}/messages`, (list) => list.length === 3)
    assert.equal(last.attachment?.type ?? last.media_attachments?.[0]?.type, 'image')

    if (!scripts) await ann.page.reload()
    await ann.inSight(ann.main.getByText('With milk')) // with JavaScript, it comes by itself
    const own = ann.main.getByRole('listitem').filter({ hasText: 'Tea at five?' })
    await ann.press(t('chats.delete'), own)
    await ann.seeNot('Tea at five?')
    await stored(ann.api, `/api/v1/svc/chats/${id}/messages`, (list) => list.length === 2)
  },
}
