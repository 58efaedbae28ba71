// The work of moderators and administrators: reports, blocks of servers, emojis, announcements, settings.
import assert from 'node:assert/strict'
import { picture, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'

export const people = ['ann']

// confirm answers a question that a button asks.
async function confirm(admin, question) {
  await admin.see(admin.main.getByRole('heading', { name: t(`ask.${question}`) }))
  await admin.usable()
  await admin.press(t(`ask.${question}`))
}

export const journeys = {
  async 'a report, and what a moderator does about it'({ ann, other, staff }) {
    const ivo = await other('ivo')
    const said = await ivo('POST', '/api/v1/statuses', { status: 'Buy my watches' })
    await ann.open(new URL(said.url).pathname)
    await ann.press(t('post.more'), ann.post('Buy my watches'))
    await ann.press(t('actions.report'))
    await ann.tick(t('report.category_spam'))
    assert(await ann.main.getByRole('checkbox', { name: /Buy my watches/ }).isChecked(), 'the post is chosen')
    await ann.type(t('report.comment'), 'Nothing but watches')
    await ann.usable()
    await ann.press(t('report.send'))
    await ann.see(t('done.sent'), ann.page)

    const admin = await staff()
    const [report] = await stored(admin.api, '/api/v1/admin/reports', (list) => list.some((r) => r.comment === 'Nothing but watches'))
    assert.deepEqual([report.category, report.statuses.map((s) => s.id)], ['spam', [said.id]])
    await admin.open('/web/admin')
    await admin.press(t('admin.reports.title'))
    await admin.usable()
    await admin.click(admin.main.getByRole('link', { name: new RegExp(ivo.nickname) }).first())
    await admin.see('Buy my watches')
    await admin.usable()
    await admin.press(t('admin.reports.assign'))
    await stored(admin.api, `/api/v1/admin/reports/${report.id}`, (r) => r.assigned_account)
    await admin.type(t('admin.reports.note'), 'Seen before')
    await admin.press(t('admin.reports.add_note'))
    await admin.see('Seen before')
    await admin.choose(t('admin.action'), t('admin.action_suspend'))
    await admin.type(t('admin.action_text'), 'Spam')
    await admin.press(t('admin.act'))
    await admin.usable()
    await admin.press(t('admin.asks.suspend'))
    const seen = admin.control(t('admin.act')).or(admin.main.getByText(t('admin.reports.resolved'))).first()
    await admin.see(seen)
    await stored(admin.api, `/api/v1/admin/accounts/${ivo.id}`, (a) => a.suspended || a.disabled)
    await stored(admin.api, `/api/v1/admin/reports/${report.id}`, (r) => r.action_taken)
    await admin.open(`/web/admin/reports/${report.id}`)
    await admin.see(t('admin.reports.resolved'))
    await ann.open(`/@${ivo.nickname}`)
    await ann.seeNot('Buy my watches')
    ann.quiet('status of 404', 'status of 410')
    await admin.open('/web/admin/log')
    await admin.see(new RegExp(ivo.nickname))
    await admin.usable()
  },

  async 'a server is blocked, and the block ends'({ run, staff }) {
    const admin = await staff()
    const domain = `loud-${run.replace('_', '')}.example`
    const blocks = async () => (await admin.api('GET', '/api/v1/admin/domain_blocks')).filter((b) => b.domain === domain)
    await admin.open('/web/admin')
    await admin.press(t('admin.domains.title'))
    await admin.usable()
    await admin.unfold(t('admin.domains.add'))
    await admin.type(t('admin.domain'), domain)
    await admin.choose(t('admin.severity'), t('admin.severity_suspend'))
    await admin.type(t('admin.public_comment'), 'Noise')
    await admin.send(t('admin.domains.add'))
    await admin.see(t('admin.domains.unknown'))
    await admin.usable()
    assert.deepEqual(await blocks(), [], 'nothing is blocked before the question is answered')
    await admin.press(t('admin.domains.add'))
    const row = admin.main.getByRole('row').filter({ hasText: domain })
    await admin.see(row)
    const [block] = await blocks()
    assert.deepEqual([block.severity, block.public_comment], ['suspend', 'Noise'])
    await admin.usable()
    await admin.press(t('admin.change'), row)
    await admin.choose(t('admin.severity'), t('admin.severity_silence'))
    await admin.press(t('form.save'))
    await admin.see(t('done.saved'), admin.page)
    assert.equal((await blocks())[0].severity, 'silence')
    await admin.open('/web/admin/domains')
    await admin.press(t('admin.delete'), row)
    await confirm(admin, 'delete_row')
    await waitFor(async () => (await blocks()).length === 0)
    await admin.seeNot(row)
  },

  async 'a pack of emojis, and a post with one'({ ann, run, staff }) {
    const admin = await staff()
    const [pack, code] = [`drinks_${run}`, `tea_${run}`]
    await admin.open('/web/admin')
    await admin.press(t('admin.emoji.title'))
    await admin.usable()
    await admin.type(t('admin.emoji.name'), pack)
    await admin.press(t('admin.emoji.add'))
    await admin.see(t('done.saved'), admin.page)
    await admin.press(pack)
    await admin.pick(admin.field(t('admin.emoji.file')), picture)
    await admin.type(t('admin.emoji.shortcode'), code)
    await admin.usable()
    await admin.press(t('admin.emoji.upload'))
    await admin.see(`:${code}:`)
    await admin.usable()
    await stored(ann.api, '/api/v1/custom_emojis', (list) => list.some((e) => e.shortcode === code))
    await ann.open('/web')
    await ann.type(await ann.composer(), `A cup of :${code}: please`)
    await ann.send()
    await ann.see(ann.main.getByRole('img', { name: new RegExp(code) }))
    await ann.usable()
    await admin.open(`/web/admin/emoji/${pack}`)
    await admin.press(t('admin.emoji.delete_pack'))
    await confirm(admin, 'delete_pack')
    await waitFor(async () => !(await ann.api('GET', '/api/v1/custom_emojis')).some((e) => e.shortcode === code))
  },

  async 'an announcement, which is shown until it is dismissed'({ ann, run, staff }) {
    const admin = await staff()
    const words = `The cupboard moves on Friday ${run}`
    await admin.open('/web/admin')
    await admin.press(t('admin.announcements.title'))
    await admin.usable()
    await admin.unfold(t('admin.announcements.add'))
    await admin.type(t('admin.text'), words)
    await admin.send(t('admin.announcements.add'))
    const row = admin.main.getByRole('row').filter({ hasText: words })
    await admin.see(row)
    await stored(ann.api, '/api/v1/announcements', (list) => list.some((a) => a.content.includes(words)))
    await admin.usable()
    await admin.press(t('admin.change'), row)
    await admin.type(t('admin.text'), `${words}, at noon`)
    await admin.press(t('form.save'))
    await admin.see(t('done.saved'), admin.page)
    await stored(ann.api, '/api/v1/announcements', (list) => list.some((a) => a.content.includes('at noon')))

    const shown = ann.main.getByRole('article').filter({ hasText: words })
    const { id } = await ann.api('POST', '/api/v1/statuses', { status: 'Read below the announcement' })
    await ann.open('/web')
    await ann.see('at noon', shown)
    await ann.usable()
    await ann.within(1, () => ann.press(t('announcements.dismiss'), shown))
    await ann.seeNot(shown)
    assert.equal(ann.path, '/web')
    await ann.inSight(ann.main.locator(`#p${id}`))
    await stored(ann.api, '/api/v1/announcements', (list) => list.some((a) => a.content.includes('at noon') && a.read))
    await ann.open('/web')
    await ann.seeNot(shown)
    await ann.open('/web/announcements') // it can still be read
    await ann.see('at noon', shown)
    await ann.seeNot(ann.control(t('announcements.dismiss'), shown))
    await ann.usable()

    await admin.open('/web/admin/announcements')
    await admin.press(t('admin.delete'), row)
    await confirm(admin, 'delete_row')
    await stored(ann.api, '/api/v1/announcements', (list) => !list.some((a) => a.content.includes(words)))
  },

  async 'a setting of the server is found and changed'({ run, staff }) {
    const admin = await staff()
    const name = `Riverside ${run}`
    const { title } = await admin.api('GET', '/api/v1/instance')
    await admin.open('/web/admin/settings')
    await admin.usable()
    await admin.type(admin.main.getByRole('searchbox', { name: t('admin.settings.search') }), 'instance.name')
    await admin.enter()
    await admin.usable()
    await admin.click(admin.main.locator('a[href$="#s-instance.name"]'))
    await admin.inSight(admin.main.locator('.setting:target'))
    const field = admin.main.locator('input[name$="name"]').first()
    for (const wanted of [name, title]) {
      await admin.type(field, wanted)
      await admin.enter()
      await admin.see(t('done.saved'), admin.page)
      await stored(admin.api, '/api/v1/instance', (i) => i.title === wanted)
    }
    await admin.usable()
  },

  async 'the accent colour'({ ann, staff }) {
    const admin = await staff()
    const colour = async () => {
      await ann.open('/web/compose')
      return ann.control(t('compose.post')).evaluate((e) => getComputedStyle(e).backgroundColor)
    }
    const before = await colour()
    const save = async (value) => {
      await admin.open('/web/admin/settings')
      await admin.press(t('admin.setting_groups.web'))
      await admin.type(admin.main.locator('input[name$="accent_colour"]'), value)
      await admin.enter()
    }
    await save('teal')
    await admin.see(admin.page.getByRole('alert'), admin.page)
    await admin.usable('status of 4')
    assert.equal(await colour(), before, 'what is no colour changes nothing')
    await save('#0f766e')
    await admin.see(t('done.saved'), admin.page)
    await admin.usable()
    assert.equal(await colour(), 'rgb(15, 118, 110)')
    await ann.usable()
    await save('#ffff00') // too light to be read
    await admin.see(t('done.saved'), admin.page)
    assert.notEqual(await colour(), 'rgb(255, 255, 0)')
    await ann.usable()
    await save('')
    await admin.see(t('done.saved'), admin.page)
    assert.equal(await colour(), before)
  },
}
