// A suspension: what the moderator, the suspended person and others see, until it ends.
import assert from 'node:assert/strict'
import { BASE_URL, signedIn, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'

export const people = ['ann']

export const journeys = {
  async 'an account is suspended, and the suspension ends'({ ann, other, staff, stranger }) {
    const ivo = await stranger(await other('ivo'))
    const said = await ivo.api('POST', '/api/v1/statuses', { status: 'My watches never stop' })
    await ivo.signIn()
    await ivo.home()

    const admin = await staff()
    const account = () => admin.api('GET', `/api/v1/admin/accounts/${ivo.api.id}`)
    await admin.open('/web/admin')
    await admin.press(t('admin.accounts.title'))
    await admin.type(admin.main.getByRole('searchbox', { name: t('admin.accounts.search') }), ivo.nickname)
    await admin.enter()
    await admin.click(admin.main.getByRole('link', { name: new RegExp(ivo.nickname) }).first())
    await admin.usable()
    await admin.choose(t('admin.action'), t('admin.action_suspend'))
    await admin.type(t('admin.action_text'), 'Nothing but watches')
    await admin.press(t('admin.act'))
    await admin.usable()
    await admin.press(t('admin.asks.suspend'))
    await admin.see(t('admin.accounts.disabled')) // a local account has no other state of this kind
    await admin.usable()
    assert.equal((await account()).disabled, true)

    await ivo.open('/web')
    assert.equal(ivo.path, '/web/sign_in', 'the suspended person is signed out')
    await ivo.signIn()
    await ivo.see(ivo.page.getByRole('alert').filter({ hasText: t('fault.disabled') }), ivo.page)
    await ivo.usable('status of 401', 'status of 403')
    await assert.rejects(ivo.api('GET', '/api/v1/accounts/verify_credentials'), /40[13]/)

    const { pathname } = new URL(said.url)
    for (const path of [`/@${ivo.nickname}`, pathname]) {
      await ann.open(path)
      await ann.seeNot('My watches never stop')
      await ann.usable('status of 403', 'status of 404', 'status of 410')
    }
    await assert.rejects(ann.api('GET', `/api/v1/statuses/${said.id}`), /404/)

    await admin.press(t('admin.accounts.enable'))
    await admin.seeNot(admin.control(t('admin.accounts.enable')))
    await waitFor(async () => !(await account()).disabled)
    await admin.open('/web/admin/log')
    await admin.see(new RegExp(ivo.nickname))

    await ivo.signIn()
    await ivo.home()
    ivo.api = await signedIn(BASE_URL, ivo.nickname, 'read')
    await stored(ivo.api, `/api/v1/accounts/${ivo.api.id}/statuses`, ([first]) => first?.id === said.id)
    await ann.open(pathname)
    await ann.inSight(ann.post('My watches never stop'))
  },
}
