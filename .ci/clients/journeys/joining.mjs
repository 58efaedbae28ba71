// From the front page to a first post, and what an applicant and the staff see where staff approve accounts.
import assert from 'node:assert/strict'
import { BASE_URL, PASSWORD, signedIn } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'

// signUp fills in the form for a new account. It is sent with the Enter key.
async function signUp(person, nickname, { password = PASSWORD, again = password, reason } = {}) {
  await person.type(t('sign_up.nickname'), nickname)
  for (const words of [`${nickname}@example.org`, password, again]) {
    await person.key('Tab')
    await person.write(words)
  }
  if (reason) await person.type(t('sign_up.reason'), reason)
  const agreed = person.main.getByRole('checkbox')
  if (!(await agreed.isChecked())) await person.click(agreed)
  await person.press(t('sign_up.submit'))
}

export const journeys = {
  async 'sign up and write a first post'({ stranger, run }) {
    const nina = await stranger()
    const nickname = `nina_${run}`
    await nina.open('/')
    await nina.usable()
    await nina.press(t('front.sign_up'))
    await nina.usable()
    await signUp(nina, nickname, { again: 'something else' })
    await nina.see(nina.page.getByRole('alert'), nina.page)
    assert(await nina.field(t('sign_up.again')).getAttribute('aria-invalid'), 'the field with the fault says so')
    assert.equal(await nina.field(t('sign_up.nickname')).inputValue(), nickname, 'what was typed is kept')
    await nina.usable('status of 422')
    await nina.field(t('sign_in.password')).focus()
    for (const words of [PASSWORD, 'Tab', PASSWORD]) await (words === 'Tab' ? nina.key('Tab') : nina.write(words))
    await nina.press(t('sign_up.submit'))
    await nina.home()
    await nina.see(t('done.welcome'), nina.page)
    await nina.usable()
    await nina.type(await nina.composer(), 'Hello, I am new here')
    await nina.send()
    await nina.inSight(nina.post('Hello, I am new here'))
    await nina.usable()
    nina.api = await signedIn(BASE_URL, nickname, 'read')
    const [post] = await stored(nina.api, `/api/v1/accounts/${nina.api.id}/statuses`, (list) => list.length === 1)
    assert.deepEqual([post.account.acct, post.visibility], [nickname, 'public'])
    assert.match(post.content, /Hello, I am new here/)
  },

  async 'a wrong password, then the right one, then out'({ stranger, other }) {
    const omar = await stranger(await other('omar'))
    await omar.signIn('wrong')
    await omar.see(omar.page.getByRole('alert').filter({ hasText: t('fault.wrong_password') }), omar.page)
    assert.equal(await omar.field(t('sign_in.name')).inputValue(), omar.nickname)
    assert(await omar.field(t('sign_in.password')).evaluate((e) => e === document.activeElement), 'the caret is in the field of the password')
    await omar.usable('status of 401')
    await omar.write(PASSWORD)
    await omar.enter()
    await omar.home()
    await omar.open('/web/menu')
    await omar.press(t('nav.sign_out'))
    await omar.see(omar.page.getByRole('link', { name: t('nav.sign_in'), exact: true }), omar.page)
    await omar.open('/web')
    assert.equal(omar.path, '/web/sign_in')
    omar.quiet('status of 401')
  },

  async 'a registration waits for approval, which staff give'({ staff, stranger, run }) {
    const admin = await staff()
    const approval = (on) => setServerSetting(admin, 'account_approval_required', on)
    await approval(true)
    try {
      const pia = await stranger()
      const nickname = `pia_${run}`
      await pia.open('/')
      await pia.see(t('front.approval'))
      await pia.press(t('front.sign_up'))
      await signUp(pia, nickname, { reason: 'I like trains' })
      await pia.see(t('registered.awaits'))
      await pia.usable()
      pia.nickname = nickname
      await pia.signIn()
      await pia.see(t('fault.awaiting_approval'), pia.page)
      pia.quiet('status of 401', 'status of 403')

      await admin.open('/web/admin')
      await admin.usable()
      await admin.press(t('admin.accounts.pending'))
      const row = admin.main.getByRole('article').filter({ hasText: nickname })
      await admin.see('I like trains', row)
      await admin.usable()
      await admin.within(1, () => admin.press(t('admin.accounts.approve'), row))
      await admin.seeNot(row)
      const [account] = await admin.api('GET', `/api/v1/admin/accounts?username=${nickname}`)
      assert.equal(account.approved, true)
      await admin.quiet()

      await pia.signIn()
      await pia.home()
    } finally {
      await approval(false)
    }
  },
}

// setServerSetting finds a setting of the group of registration on the pages of staff, and switches it.
async function setServerSetting(admin, key, on) {
  await admin.open('/web/admin/settings')
  await admin.press(t('admin.setting_groups.instance'))
  const box = admin.main.locator(`input[type=checkbox][name$="${key}"]`)
  await admin.usable()
  if (await box.isChecked() !== on) await admin.click(box)
  await admin.click(admin.main.getByRole('button', { name: t('admin.settings.save') }).first())
  await admin.see(t('done.saved'), admin.page)
  assert.equal((await admin.api('GET', '/api/v1/instance')).approval_required, on)
}
