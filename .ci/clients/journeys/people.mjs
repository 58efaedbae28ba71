// Others: finding and following them, lists, filters, and not seeing them any more.
import assert from 'node:assert/strict'
import { DOMAIN, waitFor } from '../lib.mjs'
import { t } from './catalogue.mjs'
import { stored } from './person.mjs'

export const people = ['ann']

const relation = async (ann, other) => (await ann.api('GET', `/api/v1/accounts/relationships?id=${other.id}`))[0]

// more opens the page of what can be done with an account.
async function more(ann, other) {
  await ann.open(`/@${other.nickname}`)
  await ann.press(t('profile.more'))
  await ann.field(t('person.note_text')).waitFor()
}

export const journeys = {
  async 'follow by handle'({ ann, other }) {
    const ben = await other('ben')
    await ben('POST', '/api/v1/statuses', { status: 'A word from Ben' })
    await ann.open('/web/search')
    await ann.usable()
    await ann.type(t('search.what'), `@${ben.nickname}@${DOMAIN}`)
    await ann.enter()
    const row = ann.main.getByRole('article').filter({ hasText: ben.nickname }).first()
    await ann.within(1, () => ann.press(t('account.follow'), row))
    await ann.see(ann.control(t('account.unfollow'), row))
    await ann.usable()
    assert.equal((await relation(ann, ben)).following, true)
    await ann.open('/web')
    await ann.inSight(ann.post('A word from Ben'))
    await ann.open(`/@${ben.nickname}`)
    await ann.usable()
    await ann.press(t('account.unfollow'))
    await ann.see(ann.control(t('account.follow')))
    await waitFor(async () => !(await relation(ann, ben)).following)
  },

  async 'a follow request that is withdrawn, and one that is accepted'({ ann, other, stranger }) {
    const lea = await stranger(await other('lea'))
    await lea.api('PATCH', '/api/v1/accounts/update_credentials', { locked: true })
    await ann.open(`/@${lea.nickname}`)
    for (const [name, next, wanted] of [['follow', 'cancel_request', true], ['cancel_request', 'follow', false], ['follow', 'cancel_request', true]]) {
      await ann.press(t(`account.${name}`))
      await ann.see(ann.control(t(`account.${next}`)))
      await ann.seeNot(ann.main.locator('[aria-busy]')) // until then, the button does nothing
      assert.equal((await relation(ann, lea.api)).requested, wanted)
    }
    await ann.usable()
    assert.equal((await relation(ann, lea.api)).following, false)
    await lea.signIn()
    await lea.home()
    await lea.press(t('nav.notifications'), lea.page.locator('body'))
    await lea.see(t('notifications.kind.follow_request.one'))
    await lea.usable()
    await lea.press(t('notifications.to_requests'))
    await lea.press(t('notifications.accept'), lea.main.getByRole('article').filter({ hasText: ann.nickname }))
    await lea.see(t('requests.none'))
    await lea.usable()
    assert.equal((await relation(ann, lea.api)).following, true)
  },

  async 'search for words and hashtags'({ ann, run }) {
    const word = `quince${run}`
    const mine = await ann.api('POST', '/api/v1/statuses', { status: `Jam of ${word} #${word}jam` })
    await ann.open('/web')
    const box = ann.page.getByRole('searchbox', { name: t('nav.search') }).locator('visible=true').first()
    if (await box.count()) await ann.type(box, word)
    else {
      await ann.open('/web/search')
      await ann.type(t('search.what'), word)
    }
    await ann.enter()
    await ann.inSight(ann.post(`Jam of ${word}`))
    await ann.usable()
    await ann.press(t('search.hashtags'))
    await ann.press(`#${word}jam`)
    await ann.page.waitForURL(/\/tags\//)
    await ann.inSight(ann.post(`Jam of ${word}`))
    await ann.press(t('tag.follow'))
    await ann.see(ann.control(t('tag.unfollow')))
    await stored(ann.api, `/api/v1/tags/${word}jam`, (tag) => tag.following)
    await ann.usable()
    await ann.open(`/web/search?q=${encodeURIComponent(mine.url)}`)
    await ann.inSight(ann.post(`Jam of ${word}`))
    await ann.open('/web/search?q=nothingofthekind')
    await ann.see(t('search.nothing'))
  },

  async 'a list with a member'({ ann, other }) {
    const ben = await other('ben')
    await ben('POST', '/api/v1/statuses', { status: 'For the list' })
    await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
    await ann.open('/web/lists')
    await ann.type(t('lists.title'), 'Trains')
    await ann.choose(t('lists.replies'), t('lists.replies_none'))
    await ann.tick(t('lists.exclusive'))
    await ann.usable()
    await ann.press(t('lists.create'))
    await ann.see(t('done.saved'), ann.page)
    const [list] = await ann.api('GET', '/api/v1/lists')
    assert.deepEqual([list.title, list.replies_policy, list.exclusive], ['Trains', 'none', true])
    await ann.press(t('lists.members'))
    await ann.type(t('lists.find'), ben.nickname)
    await ann.enter()
    await ann.press(t('lists.add'), ann.main.getByRole('article').filter({ hasText: ben.nickname }))
    await waitFor(async () => (await ann.api('GET', `/api/v1/lists/${list.id}/accounts`)).length === 1)
    await ann.usable()
    await ann.open('/web/lists')
    await ann.press('Trains')
    await ann.inSight(ann.post('For the list'))
    await ann.open('/web')
    await ann.seeNot('For the list') // the list is exclusive
    await ann.open(`/web/lists/${list.id}/edit`)
    await ann.usable()
    await ann.press(t('lists.delete'))
    await ann.see(t('done.deleted'), ann.page)
    assert.deepEqual(await ann.api('GET', '/api/v1/lists'), [])
  },

  async 'a filter that warns, then hides'({ ann, other }) {
    const ben = await other('ben')
    await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
    await ben('POST', '/api/v1/statuses', { status: 'The finale was a surprise' })
    await ann.open('/web/filters')
    await ann.see(t('filters.none'))
    await ann.press(t('filters.new'))
    await ann.type(t('filters.title'), 'Spoilers')
    await ann.type(t('filters.keyword'), 'finale')
    for (const name of ['home', 'notifications']) await ann.tick(t(`filters.context_${name}`))
    await ann.tick(t('filters.context_public'), false)
    await ann.tick(t('filters.action_warn'))
    await ann.usable()
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    const [filter] = await ann.api('GET', '/api/v2/filters')
    assert.deepEqual([filter.title, filter.context, filter.filter_action, filter.keywords.map((k) => k.keyword)], ['Spoilers', ['home', 'notifications'], 'warn', ['finale']])
    await ann.open('/web')
    const warned = ann.main.getByRole('article').filter({ hasText: t('post.filtered', 'Spoilers') }).first()
    await ann.seeNot('was a surprise')
    await ann.unfold(t('post.filtered', 'Spoilers'), warned)
    await ann.see('was a surprise')
    await ann.usable()
    await ann.open('/web/filters')
    await ann.press(t('filters.edit'))
    await ann.tick(t('filters.action_hide'))
    await ann.press(t('form.save'))
    await ann.see(t('done.saved'), ann.page)
    await ann.open('/web')
    await ann.seeNot(t('post.filtered', 'Spoilers'))
    await ann.open('/web/filters')
    await ann.press(t('filters.edit'))
    await ann.press(t('filters.delete'))
    await ann.see(t('done.deleted'), ann.page)
    await ann.open('/web')
    await ann.see('was a surprise')
    assert.deepEqual(await ann.api('GET', '/api/v2/filters'), [])
  },

  async 'mute and block, and end both'({ ann, other }) {
    const ben = await other('ben')
    await ann.api('POST', `/api/v1/accounts/${ben.id}/follow`)
    await ben('POST', '/api/v1/statuses', { status: 'Far too loud' })
    await more(ann, ben)
    await ann.choose(t('person.mute_duration'), t('duration.86400'))
    await ann.press(t('person.mute'))
    await ann.see(t('person.muted'))
    await ann.usable()
    const { muting, muting_expires_at } = await relation(ann, ben)
    assert(muting && Math.abs(new Date(muting_expires_at) - Date.now() - 86400_000) < 600_000, muting_expires_at)
    await ann.open('/web')
    await ann.seeNot('Far too loud')
    await ann.open('/web/settings/hidden')
    await ann.press(t('settings.hidden.undo'), ann.main.getByRole('article').filter({ hasText: ben.nickname }))
    await ann.see(t('settings.hidden.none'))
    assert.equal((await relation(ann, ben)).muting, false)
    await more(ann, ben)
    await ann.press(t('person.block'))
    await ann.see(t('person.blocked'))
    await ann.usable()
    const after = await relation(ann, ben)
    assert.deepEqual([after.blocking, after.following], [true, false])
    await ann.open('/web/settings/hidden/blocks')
    await ann.usable()
    await ann.press(t('settings.hidden.undo'), ann.main.getByRole('article').filter({ hasText: ben.nickname }))
    await ann.see(t('settings.hidden.none'))
    assert.equal((await relation(ann, ben)).blocking, false)
  },
}
