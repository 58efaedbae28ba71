// Writing: pictures, poll, schedule, warning and visibility, edit and delete, and what the server refuses.
import assert from 'node:assert/strict'
import { picture, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'
import { scripts } from './variant.mjs'

export const people = ['ann']

// posted waits for the only post of a person with this text.
async function posted(person, text) {
  const found = (list) => list.filter((s) => s.content.includes(text) || s.text?.includes(text))
  const list = await stored(person.api, `/api/v1/accounts/${person.api.id}/statuses`, (l) => found(l).length > 0)
  assert.equal(found(list).length, 1)
  return found(list)[0]
}

const descriptions = ['A red square', 'Another red square', 'A third one', 'The last one']

export const journeys = {
  async 'a first draft goes along to more options, and is posted with a warning'({ ann }) {
    await ann.open('/web')
    await ann.type(await ann.composer(), 'Soup is a meal')
    await ann.usable()
    await ann.moreOptions()
    assert.equal(await (await ann.composer()).inputValue(), 'Soup is a meal')
    await ann.unfold(t('compose.warning'))
    await ann.type(t('compose.warning_text'), 'Food')
    await ann.choose(t('compose.visibility'), t('compose.seen_by.private'))
    await ann.usable()
    await ann.press(t('compose.post'))
    await ann.see(t('done.posted'), ann.page)
    const post = await posted(ann, 'Soup is a meal')
    assert.deepEqual([post.spoiler_text, post.visibility], ['Food', 'private'])
    await ann.open(`/@${ann.nickname}`)
    await ann.unfold('Food', ann.main.getByRole('article').filter({ hasText: 'Food' }).first())
    await ann.see('Soup is a meal')
    await ann.usable()
  },

  async 'a post with four described pictures'({ ann }) {
    await ann.compose()
    await ann.write('Four squares')
    await ann.within(4, async () => {
      await ann.attach([picture, picture, picture, picture])
      for (const [i, text] of descriptions.entries()) {
        await ann.reach(ann.description(i + 1))
        await ann.write(text)
      }
      await ann.usable()
      assert.equal(await (await ann.composer()).inputValue(), 'Four squares', 'attaching keeps the text')
      await ann.press(t('compose.post'))
    })
    await ann.see(t('done.posted'), ann.page)
    const post = await posted(ann, 'Four squares')
    assert.deepEqual(post.media_attachments.map((m) => m.description), descriptions)
    await ann.open(new URL(post.url).pathname)
    for (const text of descriptions) await ann.see(ann.main.getByRole('img', { name: text, exact: true }))
    if (scripts) {
      const first = ann.main.getByRole('link', { name: descriptions[0] }).first()
      await ann.click(first)
      const viewer = ann.page.getByRole('dialog').locator('visible=true')
      await ann.see(descriptions[0], viewer)
      await ann.usable()
      await ann.key('ArrowRight')
      await ann.see(descriptions[1], viewer)
      await ann.key('Escape')
      await ann.seeNot(viewer)
      await ann.inSight(first)
    }
    await ann.unfold(`ALT: ${t('post.description')}`, ann.post('Four squares'))
    await ann.see(ann.post('Four squares').getByRole('paragraph').filter({ hasText: descriptions[0] }))
    await ann.usable()
  },

  async 'a file is moved and removed'({ ann }) {
    await ann.compose()
    await ann.write('One square')
    await ann.attach([picture, picture])
    for (const n of [1, 2]) await ann.type(ann.description(n), `Square ${n}`)
    await ann.press(t('compose.up_nth', 2))
    await waitFor(async () => await ann.description(1).inputValue() === 'Square 2')
    await ann.press(t('compose.remove_nth', 2))
    await ann.seeNot(ann.description(2))
    await ann.usable()
    await ann.press(t('compose.post'))
    await ann.see(t('done.posted'), ann.page)
    assert.deepEqual((await posted(ann, 'One square')).media_attachments.map((m) => m.description), ['Square 2'])
  },

  async 'a poll'({ ann, other }) {
    await ann.compose()
    await ann.write('Which tea?')
    await ann.unfold(t('compose.poll'))
    await ann.type(t('compose.option_nth', 1), 'Assam')
    await ann.key('Tab')
    await ann.write('Sencha')
    await ann.tick(t('compose.poll_multiple'))
    await ann.choose(t('compose.poll_duration'), t('duration.3600'))
    await ann.usable()
    await ann.press(t('compose.post'))
    await ann.see(t('done.posted'), ann.page)
    const { poll, url } = await posted(ann, 'Which tea?')
    assert.deepEqual([poll.options.map((o) => o.title), poll.multiple], [['Assam', 'Sencha'], true])
    const left = (new Date(poll.expires_at) - Date.now()) / 60_000
    assert(left > 55 && left <= 60, `${left} minutes left`)
    await (await other('ben'))('POST', `/api/v1/polls/${poll.id}/votes`, { choices: [1] })
    await ann.open(new URL(url).pathname)
    await ann.see('100 %')
    await ann.usable()
  },

  async 'a post for later, and another time for it'({ ann }) {
    await ann.compose()
    await ann.write('Good morning')
    await ann.unfold(t('compose.more'))
    const day = new Date(Date.now() + 3 * 86400_000)
    const at = (time) => `${day.toISOString().slice(0, 10)}T${time}`
    const field = ann.main.locator('[name=scheduled_at]').first()
    await ann.typeTime(field, at('18:05'))
    await ann.usable()
    await ann.press(t('compose.post'))
    await ann.see(t('done.scheduled'), ann.page)
    const one = (list) => list.length === 1
    const [first] = await stored(ann.api, '/api/v1/scheduled_statuses', one)
    assert.equal(first.params.text, 'Good morning')
    assert.equal(first.scheduled_at, await ann.instant(at('18:05')), 'the time is that of the person')
    await ann.open('/web/scheduled')
    await ann.see('Good morning')
    assert.equal(await field.inputValue(), at('18:05'))
    await ann.usable()
    await ann.typeTime(field, at('19:30'))
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    const [second] = await stored(ann.api, '/api/v1/scheduled_statuses', one)
    assert.equal(second.scheduled_at, await ann.instant(at('19:30')))
    await ann.unfold(t('scheduled.delete'))
    await ann.usable()
    await ann.click(ann.main.getByRole('button', { name: t('scheduled.delete'), exact: true }))
    await ann.see(t('scheduled.none'))
    assert.deepEqual(await ann.api('GET', '/api/v1/scheduled_statuses'), [])
  },

  async 'edit, and delete'({ ann }) {
    const { url, id } = await ann.api('POST', '/api/v1/statuses', { status: 'The kettel is on' })
    await ann.open(new URL(url).pathname)
    await ann.press(t('post.more'), ann.post('The kettel'))
    await ann.usable()
    await ann.press(t('actions.edit'))
    const field = await ann.opened()
    await ann.type(field, 'The kettle is on')
    await ann.press(t('form.save'))
    await ann.inSight(ann.post('The kettle is on'))
    assert.match((await ann.api('GET', `/api/v1/statuses/${id}`)).content, /The kettle is on/)
    await ann.press(t('post.edited'))
    await ann.see(/kettel/)
    await ann.usable()
    await ann.open(new URL(url).pathname)
    await ann.press(t('post.more'), ann.post('The kettle'))
    await ann.press(t('actions.delete'))
    await ann.see(t('actions.delete_text'))
    await ann.usable()
    await ann.press(t('actions.delete'))
    await ann.see(t('done.deleted'), ann.page)
    await assert.rejects(ann.api('GET', `/api/v1/statuses/${id}`), /404/)
  },

  async 'an error keeps what was typed'({ ann }) {
    await ann.compose()
    await ann.write('Not quite a poll')
    await ann.unfold(t('compose.poll'))
    await ann.type(t('compose.option_nth', 1), 'Only this')
    await ann.press(t('compose.post'))
    await ann.see(ann.page.getByRole('alert').filter({ hasText: t('fault.poll_few') }), ann.page)
    assert.equal(await (await ann.composer()).inputValue(), 'Not quite a poll')
    assert.equal(await ann.field(t('compose.option_nth', 1)).inputValue(), 'Only this')
    await ann.usable('status of 422')
    assert.deepEqual((await ann.api('GET', `/api/v1/accounts/${ann.api.id}/statuses`)).filter((s) => s.content.includes('Not quite')), [])
    await ann.type(t('compose.option_nth', 2), 'Or that')
    await ann.press(t('compose.post'))
    await ann.see(t('done.posted'), ann.page)
    assert.equal((await posted(ann, 'Not quite a poll')).poll.options.length, 2)
  },

  ...(scripts && {
    async 'files are dropped and pasted'({ ann }) {
      await ann.open('/web')
      const field = await ann.composer()
      await ann.type(field, 'From the desktop')
      await ann.drop(field, [picture])
      await ann.description(1).waitFor()
      await ann.click(await ann.composer())
      await ann.paste(picture)
      await ann.description(2).waitFor()
      assert.equal(await (await ann.composer()).inputValue(), 'From the desktop', 'the text is as it was')
      assert.equal(ann.path, '/web', 'no file is opened in place of the page')
      for (const n of [1, 2]) await ann.type(ann.description(n), `Square ${n}`)
      await ann.usable()
      await ann.press(t('compose.post'))
      await ann.inSight(ann.post('From the desktop'))
      assert.deepEqual((await posted(ann, 'From the desktop')).media_attachments.map((m) => m.description), ['Square 1', 'Square 2'])
    },

    async 'a missing description is asked for, once'({ ann }) {
      await ann.compose()
      await ann.write('A bare square')
      await ann.attach([picture])
      await ann.press(t('compose.post'))
      await ann.see(ann.page.getByRole('alert').filter({ hasText: t('compose.undescribed') }), ann.page)
      assert(await ann.description(1).evaluate((e) => e === document.activeElement), 'the caret is where it is missing')
      await ann.usable('status of 422')
      await ann.press(t('compose.post'))
      await ann.see(t('done.posted'), ann.page)
      assert.deepEqual((await posted(ann, 'A bare square')).media_attachments.map((m) => m.description), [null])
      await ann.open(`/@${ann.nickname}`)
      await ann.usable()
    },

    async 'what is posted during an upload waits for the file, and is not posted without it'({ ann }) {
      let release
      const held = new Promise((resolve) => { release = resolve })
      await ann.page.route('**/api/v2/media', async (route) => { await held; await route.continue() })
      await ann.compose()
      await ann.write('A slow square')
      await ann.attach([picture])
      await ann.type(ann.description(1), 'A square')
      await ann.press(t('compose.post'))
      release()
      await ann.see(t('done.posted'), ann.page)
      assert.equal((await posted(ann, 'A slow square')).media_attachments.length, 1, 'the file is there')

      await ann.page.unroute('**/api/v2/media')
      await ann.page.route('**/api/v2/media', async (route) => { await new Promise((resolve) => setTimeout(resolve, 500)); await route.fulfill({ status: 507, json: { error: 'No room' } }) })
      await ann.open('/web')
      await ann.compose()
      await ann.write('A lost square')
      await ann.attach([picture])
      await ann.press(t('compose.post'))
      const reason = ann.page.getByRole('alert').filter({ hasText: 'No room' })
      await ann.see(reason, ann.page)
      await ann.usable('status of 507')
      assert(!(await ann.api('GET', `/api/v1/accounts/${ann.api.id}/statuses`)).some((s) => s.content.includes('A lost square')), 'nothing was posted')
      assert.equal(await (await ann.composer()).inputValue(), 'A lost square')
      await ann.press(t('compose.post'))
      assert(await ann.page.evaluate(() => document.activeElement.value?.startsWith('remove')), 'the way out has the focus')
      await ann.see(reason, ann.page)
      await ann.page.keyboard.press('Enter')
      await ann.press(t('compose.post'))
      await ann.see(t('done.posted'), ann.page)
      assert.equal((await posted(ann, 'A lost square')).media_attachments.length, 0)
      await ann.page.unroute('**/api/v2/media')
    },

    async 'what was written is there again after a reload, until it is discarded'({ ann }) {
      await ann.compose()
      await ann.write('Half a thought')
      await waitFor(() => ann.page.evaluate(() => JSON.stringify(localStorage).includes('Half a thought')))
      await ann.page.reload()
      await ann.see(t('compose.script.draft'), ann.page)
      assert.equal(await (await ann.composer()).inputValue(), 'Half a thought')
      await ann.usable()
      await ann.press(t('compose.script.discard'))
      assert.equal(await (await ann.composer()).inputValue(), '')
      await ann.page.reload()
      assert.equal(await (await ann.composer()).inputValue(), '')
    },

    async 'leaving what is not sent asks first'({ ann }) {
      await ann.compose()
      await ann.write('Not sent')
      let asked = 0
      const stay = (dialog) => { asked++; return dialog.dismiss() }
      ann.page.on('dialog', stay)
      await ann.page.goto('about:blank').catch(() => {})
      ann.page.off('dialog', stay)
      assert.equal(asked, 1)
      assert.equal(await (await ann.composer()).inputValue(), 'Not sent')
      await ann.type(await ann.composer(), '')
      await waitFor(() => ann.page.evaluate(() => !JSON.stringify(localStorage).includes('Not sent')))
    },

    async 'Control and Enter send, and the counter counts as the server does'({ ann }) {
      await ann.compose()
      const most = (await ann.api('GET', '/api/v2/instance')).configuration.statuses.max_characters
      await ann.write('Ten signs\u{1F469}\u200D\u{1F467}')
      await ann.see(t('compose.script.left', most - 10))
      await ann.enter('Control+Enter')
      await ann.see(t('done.posted'), ann.page)
      assert.match((await posted(ann, 'Ten signs')).content, /\u{1F469}\u200D\u{1F467}/u)
    },

    async 'names and emojis are completed'({ ann, other }) {
      const gus = await other('gustav')
      await ann.compose()
      await ann.write(`Hello @${gus.nickname.slice(0, 8)}`)
      const list = ann.page.getByRole('listbox').locator('visible=true')
      await ann.see(list.getByRole('option').filter({ hasText: gus.nickname }), ann.page)
      await ann.usable()
      await ann.key('Enter')
      await ann.seeNot(list)
      assert.equal((await ann.caret()).before, `Hello @${gus.nickname} `)
      await ann.write('and welcome')
      await ann.press(t('compose.post'))
      await ann.see(t('done.posted'), ann.page)
      assert.deepEqual((await posted(ann, 'and welcome')).mentions.map((m) => m.acct), [gus.nickname])
    },
  }),
}
