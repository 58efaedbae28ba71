// One's own account: profile with pictures, settings, second factor, import and export.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { BASE_URL, DOMAIN, PASSWORD, picture, signedIn, totp, waitFor, WORK } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { Person, stored } from './person.mjs'
import { scripts } from './variant.mjs'

export const people = ['ann']

export const journeys = {
  async 'a profile with pictures'({ ann }) {
    await ann.open(`/@${ann.nickname}`)
    await ann.press(t('profile.edit'))
    await ann.type(t('settings.profile.name'), 'Ann Arden')
    await ann.type(t('settings.profile.note'), 'Tea and trains')
    await ann.pick(ann.field(t('settings.profile.avatar')), picture)
    await ann.pick(ann.field(t('settings.profile.header')), picture)
    await ann.type(t('settings.profile.avatar_description'), 'A red square')
    await ann.type(t('settings.profile.field_name', 1), 'Town')
    await ann.key('Tab')
    await ann.write('Riverside')
    await ann.usable()
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    await ann.usable()
    const me = await stored(ann.api, '/api/v1/accounts/verify_credentials', (a) => a.display_name === 'Ann Arden')
    assert.deepEqual([me.source.note, me.fields.map((f) => [f.name, f.value])], ['Tea and trains', [['Town', 'Riverside']]])
    assert(me.avatar.includes('/media/') && me.header.includes('/media/'), `${me.avatar} ${me.header}`)
    await ann.open(`/@${ann.nickname}`)
    await ann.see(ann.main.getByRole('heading', { name: 'Ann Arden' }))
    for (const text of ['Tea and trains', 'Riverside']) await ann.see(text)
    const avatar = ann.main.getByRole('img', { name: 'A red square' })
    assert(await avatar.evaluate((e) => e.complete && e.naturalWidth > 0), 'the picture is shown')
    await ann.usable()
    await ann.press(t('profile.edit'))
    assert.equal(await ann.field(t('settings.profile.note')).inputValue(), 'Tea and trains')
    await ann.press(t('form.remove_picture'))
    await stored(ann.api, '/api/v1/accounts/verify_credentials', (a) => !a.avatar.includes('/media/') && a.header.includes('/media/'))
  },

  async 'settings: how posts go out, and how pages look'({ ann }) {
    await ann.open('/web/settings')
    await ann.usable()
    await ann.press(t('settings.privacy.title'))
    await ann.choose(t('settings.privacy.visibility'), t('visibility.unlisted'))
    await ann.tick(t('settings.privacy.locked'))
    await ann.usable()
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    const { source, locked } = await stored(ann.api, '/api/v1/accounts/verify_credentials', (a) => a.locked)
    assert.deepEqual([source.privacy, locked], ['unlisted', true])
    await ann.open('/web')
    await ann.type(await ann.composer(), 'Said in a low voice')
    await ann.send()
    await ann.inSight(ann.post('Said in a low voice'))
    const [post] = await stored(ann.api, `/api/v1/accounts/${ann.api.id}/statuses`, (list) => list.length > 0)
    assert.equal(post.visibility, 'unlisted')
    await ann.open('/web/settings/appearance')
    const light = await ann.page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    await ann.choose(t('settings.appearance.theme'), t('settings.appearance.theme_dark'))
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    assert.notEqual(await ann.page.evaluate(() => getComputedStyle(document.body).backgroundColor), light, 'the colours changed')
    await ann.usable()
    const size = () => ann.page.evaluate(() => parseFloat(getComputedStyle(document.body).fontSize))
    const before = await size()
    await ann.open('/web/settings')
    await ann.press(t('settings.reading.title'))
    await ann.choose(t('settings.reading.size'), t('settings.reading.size_large'))
    await ann.usable()
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    assert(await size() > before, 'the text is larger')
    await ann.open('/web')
    await ann.usable()
  },

  async 'a second factor, with a code and with a backup code'({ stranger, other }) {
    const mia = await stranger(await other('mia'))
    await mia.signIn()
    await mia.home()
    await mia.open('/web/settings/two_factor')
    await mia.press(t('settings.two_factor.setup'))
    await mia.see(mia.main.getByRole('img', { name: t('settings.two_factor.qr') }))
    const secret = await mia.main.locator('code').first().textContent()
    await mia.usable()
    await mia.type(t('settings.two_factor.code'), totp(secret))
    await mia.type(t('settings.password.present'), 'wrong')
    await mia.enter()
    await mia.see(mia.page.getByRole('alert'), mia.page)
    mia.quiet('status of 4')
    await mia.type(t('settings.two_factor.code'), totp(secret))
    await mia.type(t('settings.password.present'), PASSWORD)
    await mia.press(t('settings.two_factor.confirm'))
    await mia.see(t('settings.two_factor.codes_once'))
    await mia.usable()
    const backup = await mia.main.locator('code').first().textContent()
    await assert.rejects(mia.api('GET', '/api/v1/accounts/verify_credentials'), /40[13]/, 'apps that signed in without it are signed out')
    await assert.rejects(signedIn(BASE_URL, mia.nickname, 'read'), /mfa_required/)

    const later = await Person.arrive(mia.api)
    try {
      await later.signIn()
      await later.see(t('challenge.code'))
      await later.usable()
      await later.type(t('challenge.code'), '000000')
      await later.enter()
      await later.see(later.page.getByRole('alert'), later.page)
      later.quiet('status of 4')
      await later.type(t('challenge.code'), backup)
      await later.enter()
      await later.home()
      await later.open('/web/settings/two_factor')
      await later.see(t('settings.two_factor.enabled'))
      await later.type(t('settings.password.present'), PASSWORD)
      await later.press(t('settings.two_factor.disable'))
      await later.see(t('done.saved'), later.page)
      const api = await signedIn(BASE_URL, mia.nickname, 'read')
      assert.equal((await api('GET', '/api/v1/svc/accounts/mfa')).settings.totp, false)
    } finally {
      await later.leave()
    }
  },

  async 'import a list of accounts, and export it'({ ann, other }) {
    const [ben, cleo] = [await other('ben'), await other('cleo')]
    const csv = `${WORK}/${ann.nickname}.csv`
    writeFileSync(csv, `Account address,Show boosts,Notify on new posts,Languages\n${[ben, cleo].map((a) => `${a.nickname}@${DOMAIN},true,false,\n`).join('')}`)
    await ann.open('/web/settings')
    await ann.press(t('settings.data.title'))
    await ann.usable()
    await ann.pick(ann.field(t('settings.data.import_follow')), csv)
    await ann.send(t('settings.data.start'))
    await ann.see(t('done.import'), ann.page)
    const following = await stored(ann.api, `/api/v1/accounts/${ann.api.id}/following`, (list) => list.length === 2)
    assert.deepEqual(following.map((a) => a.acct).sort(), [ben.nickname, cleo.nickname].sort())
    await stored(ann.api, '/api/v1/svc/imports', ([last]) => last.finished_at)
    await ann.page.reload()
    await ann.see(t('settings.data.counts', 2, 2, 0))
    await ann.usable()
    const download = ann.page.waitForEvent('download')
    await ann.press(t('settings.data.follows'))
    const exported = readFileSync(await (await download).path(), 'utf8')
    for (const a of [ben, cleo]) assert(exported.includes(`${a.nickname}@${DOMAIN}`), exported)
  },

  async 'import accounts to block and to mute, and export all lists'({ ann, other }) {
    const csv = `${WORK}/${ann.nickname}-hidden.csv`
    const relation = async (account) => (await ann.api('GET', `/api/v1/accounts/relationships?id=${account.id}`))[0]
    const hidden = {}
    for (const [kind, file, member] of [
      ['blocks', (address) => `${address}\n`, 'blocking'],
      ['mutes', (address) => `Account address,Hide notifications\n${address},true\n`, 'muting'],
    ]) {
      const account = hidden[kind] = await other(kind)
      writeFileSync(csv, file(`${account.nickname}@${DOMAIN}`))
      await ann.open('/web/settings/data')
      await ann.pick(ann.field(t(`settings.data.import_${kind}`)), csv)
      await ann.send(t('settings.data.start'))
      await ann.see(t('done.import'), ann.page)
      await waitFor(async () => (await relation(account))[member])
      await stored(ann.api, '/api/v1/svc/imports', ([last]) => last.kind === kind && last.finished_at)
      await ann.page.reload()
      const row = ann.main.getByRole('listitem').filter({ hasText: `${t(`settings.data.kind_${kind}`)}, ` })
      await ann.see(t('settings.data.counts', 1, 1, 0), row)
      await ann.usable()
      await ann.open(`/web/settings/hidden/${kind === 'blocks' ? 'blocks' : ''}`.replace(/\/$/, ''))
      await ann.see(new RegExp(account.nickname))
    }
    const eve = await other('eve')
    await ann.api('POST', `/api/v1/accounts/${eve.id}/follow`)
    const { id } = await ann.api('POST', '/api/v1/lists', { title: 'Sailors' })
    await ann.api('POST', `/api/v1/lists/${id}/accounts`, { account_ids: [eve.id] })
    const said = await eve('POST', '/api/v1/statuses', { status: 'Worth keeping' })
    await ann.api('POST', `/api/v1/statuses/${said.id}/bookmark`)
    await ann.api('POST', '/api/v1/domain_blocks', { domain: 'noise.example' })
    await ann.open('/web/settings/data')
    const at = (account) => `${account.nickname}@${DOMAIN}`
    for (const [kind, line] of Object.entries({
      blocks: at(hidden.blocks), mutes: at(hidden.mutes), lists: `Sailors,${at(eve)}`, bookmarks: said.uri, domain_blocks: 'noise.example',
    })) {
      const download = ann.page.waitForEvent('download')
      await ann.press(t(`settings.data.${kind}`))
      const exported = readFileSync(await (await download).path(), 'utf8')
      assert(exported.split(/\r?\n/).some((l) => l.startsWith(line)), `${kind}: ${exported}`)
    }
  },

  async 'what is no list is refused'({ ann }) {
    const imports = (await ann.api('GET', '/api/v1/svc/imports')).length
    await ann.open('/web/settings/data')
    await ann.pick(ann.field(t('settings.data.import_follow')), picture)
    await ann.send(t('settings.data.start'))
    await ann.see(ann.main.getByRole('alert'))
    await ann.usable('status of 400')
    await ann.see(ann.field(t('settings.data.import_follow')))
    assert.equal((await ann.api('GET', '/api/v1/svc/imports')).length, imports)
  },

  async 'times in a chosen zone, in which posts are scheduled, too'({ ann }) {
    const zone = 'Asia/Kathmandu' // a quarter of an hour beside the others
    const save = async (option) => {
      await ann.open('/web/settings/appearance')
      await ann.field(t('settings.appearance.zone')).focus()
      await ann.write(option)
      await ann.press(t('form.save'))
      await ann.see(t('done.saved'), ann.page)
    }
    const said = await ann.api('POST', '/api/v1/statuses', { status: 'What time is it?' })
    await save(zone)
    assert.equal(await ann.field(t('settings.appearance.zone')).inputValue(), zone)
    await ann.usable()
    await ann.open(new URL(said.url).pathname)
    const time = ann.post('What time is it?').locator('time').first()
    if (scripts) {
      const exact = await ann.page.evaluate(([at, zone]) => new Date(at).toLocaleString(document.documentElement.lang, { timeZone: zone }), [said.created_at, zone])
      assert.equal(await time.getAttribute('title'), exact)
    } else {
      const exact = new Date(said.created_at).toLocaleString('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
      assert.match(await time.innerText(), new RegExp(exact))
    }
    await ann.compose()
    await ann.write('Up with the lark')
    await ann.unfold(t('compose.more'))
    const day = new Date(Date.now() + 3 * 86400_000).toISOString().slice(0, 10)
    await ann.see(t('compose.schedule', zone))
    await ann.typeTime(ann.main.locator('[name=scheduled_at]').first(), `${day}T18:05`)
    await ann.press(t('compose.post'))
    await ann.see(t('done.scheduled'), ann.page)
    const [post] = await stored(ann.api, '/api/v1/scheduled_statuses', (list) => list.length === 1)
    assert.equal(post.scheduled_at, `${day}T12:20:00.000Z`)
    await ann.open('/web/scheduled')
    assert.equal(await ann.main.locator('[name=scheduled_at]').first().inputValue(), `${day}T18:05`)
    await ann.usable()
    await ann.api('DELETE', `/api/v1/scheduled_statuses/${post.id}`)
    await save(t('settings.appearance.zone_none'))
    assert.equal(await ann.field(t('settings.appearance.zone')).inputValue(), '')
  },
}
