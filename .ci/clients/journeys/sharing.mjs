// The page as an app: a page for when there is no connection, and what other programs share into it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { picture, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'
import { scripts } from './variant.mjs'

export const people = ['ann']

// share sends what another program shares to the address that the manifest of the app names.
async function share(ann, text, file) {
  const { share_target: { action, method, enctype, params } } = await (await ann.page.request.get(new URL('/manifest.json', ann.page.url()).href)).json()
  const arrived = ann.page.waitForNavigation({ waitUntil: 'domcontentloaded' })
  await ann.page.evaluate(([attributes, params, text, base64]) => {
    const form = Object.assign(document.createElement('form'), attributes)
    const field = (name, properties) => form.append(Object.assign(document.createElement('input'), { name, ...properties }))
    field(params.title, { value: 'Herons' })
    field(params.text, { value: text })
    const files = new DataTransfer()
    files.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], 'heron.png', { type: 'image/png' }))
    field(params.files[0].name, { type: 'file', files: files.files })
    document.body.append(form)
    form.submit()
  }, [{ action, method, enctype }, params, text, file.toString('base64')])
  await arrived
}

export const journeys = {
  async 'what another program shares is in the form, and is posted'({ ann }) {
    await ann.open('/web/settings')
    await share(ann, 'They are back', readFileSync(picture))
    assert.equal(ann.path, '/web/share')
    const field = await ann.composer()
    assert.equal(await field.inputValue(), 'Herons\n\nThey are back')
    await ann.usable()
    assert.deepEqual(await ann.api('GET', `/api/v1/accounts/${ann.api.id}/statuses`), [], 'nothing is posted by sharing alone')
    await ann.type(ann.description(1), 'A heron')
    await ann.within(1, () => ann.press(t('compose.post')))
    await ann.see(t('done.posted'), ann.page)
    const [post] = await stored(ann.api, `/api/v1/accounts/${ann.api.id}/statuses`, (list) => list.length === 1)
    assert.match(post.content, /They are back/)
    assert.deepEqual(post.media_attachments.map((m) => m.description), ['A heron'])
    await ann.inSight(ann.post('They are back'))
  },

  ...(scripts && {
    async 'without a connection, drafts are shown, and the page comes back with it'({ stranger, other }) {
      const ann = await stranger(await other('ann'))
      await ann.signIn()
      await ann.home()
      await ann.page.evaluate(() => navigator.serviceWorker.ready.then(() => true))
      await ann.compose()
      await ann.write('Written on the train')
      await waitFor(() => ann.page.evaluate(() => JSON.stringify(localStorage).includes('Written on the train')))
      ann.page.on('dialog', (dialog) => dialog.accept())
      await ann.page.context().setOffline(true)
      await ann.open('/web/lists')
      await ann.see(ann.main.getByRole('heading', { name: t('offline.title') }))
      await ann.see('Written on the train')
      await ann.see(new RegExp(`@${ann.nickname}`))
      await ann.usable('ERR_INTERNET_DISCONNECTED', 'ERR_FAILED')
      await ann.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await ann.press(t('offline.copy'))
      await ann.see(t('offline.copied'))
      assert.equal(await ann.page.evaluate(() => navigator.clipboard.readText()), 'Written on the train')

      await ann.page.context().setOffline(false)
      await ann.see(ann.main.getByRole('heading', { name: t('nav.lists') })) // the page comes by itself
      assert.equal(ann.path, '/web/lists')
      await ann.compose()
      await waitFor(async () => await (await ann.composer()).inputValue() === 'Written on the train')
      await ann.usable('ERR_INTERNET_DISCONNECTED', 'ERR_FAILED')
      await ann.press(t('compose.post'))
      await ann.see(t('done.posted'), ann.page)
      await stored(ann.api, `/api/v1/accounts/${ann.api.id}/statuses`, (list) => list.length === 1)
      await waitFor(() => ann.page.evaluate(() => !JSON.stringify(localStorage).includes('Written on the train')))

      await ann.compose()
      await ann.write('Private, and not sent')
      await waitFor(() => ann.page.evaluate(() => JSON.stringify(localStorage).includes('Private, and not sent')))
      await ann.open('/web/menu')
      await ann.press(t('nav.sign_out'))
      await ann.see(ann.page.getByRole('link', { name: t('nav.sign_in'), exact: true }), ann.page)
      const left = await ann.page.evaluate(async () => [JSON.stringify(localStorage), ...await caches.keys()])
      assert.deepEqual(left, ['{}'], 'signing out leaves nothing in the browser')
    },
  }),
}
