// Another server: a person follows an account there, and then wants to see nothing of that server any more.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { BASE_URL, commandOf, DOMAIN, PASSWORD, signedIn, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'

export const people = ['ann']

const home = process.env.OTHER_HOME

// stranger makes an account of the other server.
async function stranger(nickname) {
  const url = readFileSync(`${home}/url`, 'utf8').trim()
  commandOf(home, 'user', 'create', nickname, '--email', `${nickname}@example.org`, '--password', PASSWORD)
  return Object.assign(await signedIn(url, nickname, 'read write follow'), { host: new URL(url).host })
}

// shown waits until a page has a post, and sees it.
async function shown(ann, path, text) {
  await ann.open(path)
  await waitFor(async () => {
    if (await ann.post(text).count()) return true
    await ann.page.reload()
    return false
  })
  await ann.inSight(ann.post(text))
}

export const journeys = {
  async 'an account of another server is followed, then its server is blocked, until the block ends'({ ann, other, run }) {
    const zoe = await stranger(`zoe_${run}`)
    const eve = await other('eve')
    await ann.open('/web/search')
    await ann.type(t('search.what'), `@${zoe.nickname}@${zoe.host}`)
    await ann.enter()
    const row = ann.main.getByRole('article').filter({ hasText: zoe.nickname }).first()
    await ann.press(t('account.follow'), row)
    const [{ id }] = await stored(ann.api, `/api/v1/accounts/${ann.api.id}/following`, (list) => list.length === 1)
    const relation = async () => (await ann.api('GET', `/api/v1/accounts/relationships?id=${id}`))[0]
    await waitFor(async () => (await relation()).following)
    await ann.usable()
    await stored(zoe, `/api/v1/accounts/${zoe.id}/followers`, (list) => list.length === 1)
    const { accounts: [known] } = await zoe('GET', `/api/v2/search?type=accounts&resolve=true&q=@${ann.nickname}@${DOMAIN}`)
    await zoe('POST', `/api/v1/accounts/${known.id}/follow`)
    await waitFor(async () => (await relation()).followed_by)
    await zoe('GET', `/api/v2/search?type=accounts&resolve=true&q=${BASE_URL}/@${eve.nickname}`)
    await zoe('POST', '/api/v1/statuses', { status: 'Greetings from far away' })
    await shown(ann, '/web', 'Greetings from far away')
    await ann.usable()
    await shown(ann, '/web/known', 'Greetings from far away')

    const profile = `/@${zoe.nickname}@${zoe.host}`
    const [block, unblock] = ['block_domain', 'unblock_domain'].map((name) => t(`person.${name}`, zoe.host))
    await ann.open(profile)
    await ann.usable()
    await ann.press(t('profile.more'))
    await ann.unfold(block)
    await ann.see(t('person.block_domain_text', zoe.host))
    await ann.usable()
    await ann.press(block, ann.main.locator('details[open]'))
    await ann.see(t('person.domain_blocked', zoe.host))
    await ann.see(ann.control(unblock))
    await ann.usable()
    assert.equal((await relation()).domain_blocking, true)
    await waitFor(async () => { // a job ends the follows
      const { following, followed_by } = await relation()
      return !following && !followed_by
    })
    assert.deepEqual(await ann.api('GET', '/api/v1/domain_blocks'), [zoe.host])
    await zoe('POST', '/api/v1/statuses', { status: `@${ann.nickname}@${DOMAIN} @${eve.nickname}@${DOMAIN} can you hear me?` })
    await stored(eve, '/api/v1/notifications', (list) => list.some((n) => n.status?.content.includes('can you hear me?'))) // it has arrived
    for (const path of ['/web', '/web/known', '/web/notifications']) {
      await ann.open(path)
      await ann.seeNot('Greetings from far away')
      await ann.seeNot('can you hear me?')
    }
    await ann.open(profile)
    await ann.see(ann.control(t('account.follow')))

    await ann.open('/web/settings/hidden/domains')
    const entry = ann.main.getByRole('paragraph').filter({ hasText: zoe.host })
    await ann.see(entry)
    await ann.usable()
    await ann.press(t('settings.hidden.undo'), entry)
    await ann.see(t('settings.hidden.none'))
    assert.deepEqual(await ann.api('GET', '/api/v1/domain_blocks'), [])
    await shown(ann, '/web/known', 'Greetings from far away')
  },

  async 'a server is blocked by its name'({ ann, run }) {
    const domain = `loud-${run}.example`
    const before = await ann.api('GET', '/api/v1/domain_blocks')
    await ann.open('/web/settings')
    await ann.press(t('settings.hidden.title'))
    await ann.press(t('settings.hidden.domains'))
    await ann.type(t('settings.hidden.domain'), 'not a domain')
    await ann.enter()
    await ann.see(t('fault.domain_format'))
    await ann.usable('status of 422')
    assert.deepEqual(await ann.api('GET', '/api/v1/domain_blocks'), before)
    assert.equal(await ann.field(t('settings.hidden.domain')).inputValue(), 'not a domain')
    await ann.type(t('settings.hidden.domain'), domain)
    await ann.enter()
    await ann.see(t('done.saved'), ann.page)
    await ann.see(domain)
    await ann.usable()
    assert.deepEqual(await ann.api('GET', '/api/v1/domain_blocks'), [...before, domain].sort())
  },
}
