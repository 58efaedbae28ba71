// Presses the forms and buttons of the web interface in Chromium, and checks that none was forgotten.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { leave, visitor } from './browser.mjs'
import { account, check, PASSWORD, picture, signedIn, totp } from './lib.mjs'
import { staffAfter, staffBefore } from './pages-staff.mjs'

const templates = new URL('../../server/web/templates/', import.meta.url)
const run = Date.now().toString(36).slice(-5)
const inAWeek = new Date(Date.now() + 7 * 86400_000).toISOString().slice(0, 16)

const notes = Buffer.from(JSON.stringify([{ id: '9a', text: 'Old tea', createdAt: '2023-01-01T10:00:00.000Z', visibility: 'public' }])) // of Misskey

// The steps of a user. at is the page to open (without it, the step goes on where the last one ended), open are the summaries to open, set
// are fields by name, press is the name of a button or link, inside the part of the page with the text or selector `within`. see is the text
// or the selector that the page has afterwards. chosen: a script does it as soon as the field is set. before prepares something by the API. A user is u, the other one o.
const done = { saved: 'Saved.', deleted: 'Deleted.', posted: 'Your post is published.' }
const post = (u) => `/web/statuses/${u.post}`
const steps = [
  // Writing
  { at: '/web/compose', set: { status: 'A cup', file: picture }, press: 'Add', chosen: true, see: 'Description of file 1' },
  { set: { file: picture }, press: 'Add', chosen: true, see: 'Description of file 2' },
  { set: { visibility: 'unlisted' }, open: ['Content warning'], more: { spoiler_text: 'Tea', sensitive: true }, press: 'Move file 2 up', see: 'Description of file 2' },
  { press: 'Remove file 2', see: 'Description of file 1' },
  { set: { 'media_descriptions[]': 'A cup of tea' }, open: ['More options'], more: { language: 'en', content_type: 'text/markdown', quote_approval_policy: 'nobody', expires_in: '604800' }, press: 'Preview', see: '.preview .post' },
  { press: 'Post', see: done.posted },
  { at: '/web/compose', set: { status: 'Which?' }, open: ['Poll'], more: { 'poll_options[]': ['Assam', 'Sencha'], poll_multiple: true, poll_expires_in: '3600' }, press: 'Post', see: done.posted },
  { at: '/web/compose', set: { status: 'Later' }, open: ['More options'], more: { scheduled_at: inAWeek }, press: 'Post', see: 'Your post is scheduled.' },
  { at: '/web/scheduled', set: { scheduled_at: inAWeek.replace(/..$/, '59') }, press: 'Save', see: done.saved },
  { open: ['Delete'], press: 'Delete', see: 'No posts are scheduled.' },
  { at: '/web', set: { status: 'Short' }, press: 'Post', see: done.posted },
  { at: '/web', before: (u) => u.postMany(), press: 'Mark all as read', gone: 'button:text-is("Mark all as read")' },
  { at: (u, o) => `/web/compose?reply=${o.post}`, set: { status: 'An answer' }, press: 'Post', see: done.posted },
  { at: (u, o) => `/web/compose?quote=${o.post}`, set: { status: 'Look at this' }, press: 'Post', see: done.posted },
  { at: (u) => `/web/compose?edit=${u.post}`, set: { status: 'First words, corrected' }, press: 'Save', see: 'First words, corrected' },
  { at: (u) => `${post(u)}/more`, press: 'Pin to my profile', see: 'Unpin from my profile' },
  { press: 'Unpin from my profile', see: 'Pin to my profile' },
  { press: 'Mute the conversation', see: 'Unmute the conversation' },
  { press: 'Unmute the conversation', see: 'Mute the conversation' },
  { within: 'form[action*=interaction_policy]', set: { quote_approval_policy: 'followers' }, press: 'Save', see: done.saved },
  { at: (u) => `${post(u)}/redraft`, press: 'Delete and write anew', see: 'textarea[name=status]' },
  { set: { status: 'Written anew' }, press: 'Post', see: done.posted },
  { at: (u) => `/web/statuses/${u.second}/delete`, press: 'Delete the post', see: done.deleted },

  // Posts of others
  { at: (u, o) => `/@${o.nickname}/${o.post}`, within: '.post.main', press: 'Favourite', see: '.post.main .star[aria-pressed=true]' },
  { within: '.post.main', press: 'Favourite', see: '.post.main .star[aria-pressed=false]' },
  { within: '.post.main', press: 'Boost', see: '.post.main .boost[aria-pressed=true]' },
  { within: '.post.main', press: 'Boost', see: '.post.main .boost[aria-pressed=false]' },
  { within: '.post.main', press: 'Bookmark', see: '.post.main .mark[aria-pressed=true]' },
  { within: '.post.main', press: 'Bookmark', see: '.post.main .mark[aria-pressed=false]' },
  { at: (u, o) => `${post(o)}/more`, set: { emoji: '🔥' }, press: 'React', see: '.reactions' },
  { at: (u, o) => `/@${o.nickname}/${o.post}`, within: '.reactions', press: '🔥', gone: '.reactions' },
  { at: (u, o) => `${post(o)}/react`, press: (u) => `:tea${u.i}:`, see: '.reactions' },
  { at: (u, o) => `${post(o)}/react`, set: { q: 'tea' }, within: 'form.panel', press: 'Search', see: '.reactions button' },
  { at: (u, o) => `/@${o.nickname}/${o.poll}`, set: { 'choices[]': '1' }, press: 'Vote', see: 'your vote' },
  { at: '/web/bookmark_folders', set: { name: 'Recipes', emoji: '🍰' }, within: 'form:has(button:text("Create the folder"))', press: 'Create the folder', see: done.saved },
  { at: (u, o) => `${post(o)}/more`, within: 'form[action$="/bookmark"]', press: 'Save', see: done.saved },
  { at: '/web/bookmark_folders', within: 'section.panel', set: { name: 'Cakes' }, press: 'Save', see: 'Cakes' },
  { open: ['Delete the folder'], press: 'Delete the folder', see: 'You have no folders yet.' },
  { at: (u) => `${post(u)}/more`, before: async (u, o) => { u.post = u.quoted; u.quote = await o('POST', '/api/v1/statuses', { status: 'Quoting', quoted_status_id: u.quoted }) }, see: 'Your post' },
  { at: (u) => `/web/statuses/${u.quote.id}/more`, open: ['Withdraw my post from this quote'], press: 'Withdraw my post from this quote', gone: 'summary:text("Withdraw my post")' },

  // Accounts
  { at: (u, o) => `/@${o.nickname}`, press: 'Follow', see: 'Unfollow' },
  { press: 'Unfollow', see: 'button:text-is("Follow")' },
  { at: (u, o) => `/web/accounts/${o.id}/more`, set: { reblogs: false, notify: true, languages: 'en, de' }, press: 'Follow', see: done.saved },
  { set: { comment: 'Met on the train' }, within: 'form[action$="/note"]', press: 'Save', see: done.saved },
  { press: 'Show on my profile', see: 'No longer show on my profile' },
  { press: 'No longer show on my profile', see: 'button:text-is("Show on my profile")' },
  { set: { duration: '3600', notifications: false }, press: 'Mute', see: 'You do not see posts of this account.' },
  { press: 'Unmute', see: 'form[action$="/mute"]' },
  { open: ['Remove from my followers'], press: 'Remove from my followers', gone: 'summary:text("Remove from my followers")', before: (u, o) => o('POST', `/api/v1/accounts/${u.id}/follow`), again: true },
  { at: '/web/lists', set: { title: 'Friends', replies_policy: 'none', exclusive: true }, press: 'Create the list', see: done.saved },
  { at: (u, o) => `/web/accounts/${o.id}/more`, press: 'Add to the list “Friends”', see: '[aria-label="Remove from the list “Friends”"]' },
  { press: 'Remove from the list “Friends”', see: '[aria-label="Add to the list “Friends”"]' },
  { at: '/web/lists', press: 'Members', see: 'The list has no members yet.' },
  { set: { q: (u, o) => o.nickname }, within: 'main', press: 'Search', see: 'Found' },
  { press: 'Add', gone: 'text="The list has no members yet."' },
  { at: '/web/lists', press: 'Members', see: 'button:text-is("Remove")' },
  { press: 'Remove', see: 'The list has no members yet.' },
  { press: 'Settings', within: '.tabs', see: 'form[action$="_method=PUT"]' },
  { set: { title: 'Good friends' }, press: 'Save', see: done.saved },
  { press: 'Settings', within: '.tabs', see: 'form[action$="_method=PUT"]' },
  { press: 'Delete the list', see: done.deleted },
  { at: (u, o) => `/web/accounts/${o.id}/report?status=${o.post}`, set: { category: 'spam', comment: 'Too many cups' }, press: 'Send the report', see: 'Sent.' },
  { at: (u, o) => `/web/accounts/${o.id}/more`, press: 'Unfollow', see: 'button:text-is("Follow")' },
  { press: 'Block', see: 'You have blocked this account.' },
  { at: '/web/settings/hidden/blocks', press: 'Undo', see: 'Nothing here.' },
  { at: (u, o) => `/web/accounts/${o.id}/more`, press: 'Block', see: 'You have blocked this account.' },
  { press: 'Unblock', see: 'form[action$="/note"]' },
  { at: '/web/settings/hidden', before: (u, o) => u('POST', `/api/v1/accounts/${o.id}/mute`), press: 'Undo', see: 'Nothing here.' },
  { at: '/web/settings/hidden/domains', set: { domain: 'noisy.example' }, press: 'Block the server', see: done.saved },
  { press: 'Undo', see: 'Nothing here.' },
  { at: '/web/requests/sent', before: (u, o) => o('PATCH', '/api/v1/accounts/update_credentials', { locked: true }).then(() => u('POST', `/api/v1/accounts/${o.id}/follow`)), press: 'Withdraw', see: 'Your request is withdrawn.' },
  { at: '/web/search', set: { q: (u, o) => o.nickname }, within: 'main form', press: 'Search', see: '.account' },
  { press: 'Follow', within: '.account', see: 'Cancel the request' },
  { press: 'Cancel the request', see: 'button:text-is("Follow")' },
  ...['Accept', 'Reject'].map((press) => (
    { at: '/web/requests', before: (u, o) => u('PATCH', '/api/v1/accounts/update_credentials', { locked: true }).then(() => o('POST', `/api/v1/accounts/${u.id}/unfollow`)).then(() => o('POST', `/api/v1/accounts/${u.id}/follow`)), press, see: 'Nobody waits for your answer.' })),

  // Notifications and messages
  { at: '/web/notifications', before: (u, o) => o('POST', '/api/v1/statuses', { status: `@${u.nickname} hello` }), press: 'Dismiss', see: 'h1' },
  { at: '/web/notifications/clear', press: 'Delete all notifications', see: done.deleted },
  { at: '/web/settings/notifications', set: { for_not_following: 'filter' }, press: 'Save', see: done.saved },
  { at: '/web/notifications/filtered', before: (u, o) => u.refilter(o), press: 'Reject', see: 'No notifications are held back.' },
  { at: (u) => `/web/notifications/filtered/${u.request}`, before: (u, o) => u.refilter(o), within: 'form.panel', press: 'Reject', see: 'No notifications are held back.' },
  { at: '/web/notifications/filtered', before: (u, o) => u.refilter(o), press: 'Accept', see: 'No notifications are held back.' },
  { at: (u) => `/web/notifications/filtered/${u.request}`, before: (u) => u.refilter(u.third), within: 'form.panel', press: 'Accept', see: 'No notifications are held back.' },
  { at: '/web/conversations', before: (u, o) => o('POST', '/api/v1/statuses', { status: `@${u.nickname} psst`, visibility: 'direct' }), press: 'Open', see: 'psst' },
  { at: '/web/conversations', press: 'Mark as unread', see: 'unread' },
  { open: ['Delete'], press: 'Delete', see: 'You have no direct messages.' },
  { at: '/web/chats', set: { acct: (u, o) => o.nickname }, press: 'Start a chat', see: 'There are no messages yet.' },
  { set: { content: 'Tea at five?', file: picture }, press: 'Send', see: 'Tea at five?' },
  { press: 'Delete', see: 'There are no messages yet.' },
  { at: '/web/settings/interactions', set: { public_can_favourite: '|public' }, press: 'Save', see: done.saved },
  ...['Approve', 'Reject'].map((press) => (
    { at: '/web/interaction_requests', before: async (u, o) => o('POST', `/api/v1/statuses/${(await u('POST', '/api/v1/statuses', { status: 'May I?', visibility: 'public' })).id}/favourite`), press, see: 'Nothing waits for your approval.' })),
  { at: '/web/tags', set: { name: '#tea' }, press: 'Follow', see: done.saved },
  { press: 'Unfollow', see: 'You follow no hashtags yet.' },
  { at: '/tags/tea', press: 'Follow the hashtag', see: 'Unfollow the hashtag' },
  { press: 'Unfollow the hashtag', see: 'Follow the hashtag' },
  { at: '/web/filters/new', set: { title: 'Spoilers', 'keywords[]': ['finale'], 'context[]': 'home', filter_action: 'hide', expires_in: '3600' }, press: 'Save', see: done.saved },
  { press: 'Edit the filter', see: 'form[action^="/web/filters/edit/"]' },
  { set: { title: 'Endings' }, press: 'Save', see: 'Endings' },
  { press: 'Edit the filter', see: 'form[action*="_method=DELETE"]' },
  { press: 'Delete the filter', see: done.deleted },

  // Settings
  { at: '/web/settings/profile', set: { display_name: 'Ali', note: 'Tea', avatar: picture, header: picture, 'fields_attributes[0][name]': 'Town', 'fields_attributes[0][value]': 'Riverside', attribution_domains: 'blog.example.org' }, press: 'Save', see: '.present' },
  { set: { note: 'More tea' }, press: 'Save', see: 'h1', keeps: '.present >> nth=1' },
  { press: 'Remove the picture', see: done.saved },
  { press: 'Remove the picture', gone: '.present' },
  { at: '/web/settings/featured_tags', set: { name: 'cake' }, press: 'Feature the hashtag', see: done.saved },
  { press: 'Feature #tea', see: '[aria-label="Remove #tea"]', before: (u) => u('POST', '/api/v1/statuses', { status: '#tea' }), again: true },
  { press: 'Remove #tea', see: done.saved },
  { at: '/web/settings/privacy', set: { 'source[privacy]': 'unlisted', discoverable: true, locked: false }, press: 'Save', see: done.saved },
  { at: '/web/settings/push', set: { hide_notification_contents: true }, press: 'Save', see: done.saved },
  { at: '/web/settings/appearance', set: { theme: 'dark', time_zone: 'Europe/Berlin' }, press: 'Save', see: done.saved },
  { at: '/web/settings/reading', set: { text_size: 'large', width: 'narrow' }, press: 'Save', see: done.saved },
  { at: '/web/settings/email', set: { email: (u) => `new-${u.nickname}@example.org`, password: PASSWORD }, press: 'Change the address', see: 'The address is changed' },
  { at: '/web/settings/moving', set: { alias: (u, o) => o.nickname }, press: 'Add', see: done.saved },
  { at: '/web/settings/data', within: 'form.pieces', set: { file: { name: 'notes.json', mimeType: 'application/json', buffer: notes }, public: true }, press: 'Import', see: 'The import has begun.' },
  { press: 'Remove these posts', see: 'removed, ' },
  { at: '/web/settings/moving', press: 'Remove', within: '.panel.row', gone: '.panel.row' },
  { at: '/web/settings/move', set: { target_account: (u, o) => o.nickname, password: 'wrong' }, press: 'Move the followers', see: '[role=alert]', refused: 422 },
  { at: '/web/settings/data', press: 'Ask for a backup', see: 'The backup is being prepared.' },
  ...[['follow_import', ''], ['blocks_import', ''], ['mutes_import', '']].map(([name]) => (
    { at: '/web/settings/data', within: `form[action$="${name}"]`, set: { list: { name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('nobody@noisy.example\n') } }, press: 'Import', see: 'The import has begun.' })),
  { at: '/web/settings/sessions', press: 'Sign out', within: 'main', see: 'Signed out.' },
  { at: '/web/settings/two_factor', press: 'Set up', see: 'Scan the picture' },
  { set: { code: async (u, o, page) => totp(await page.locator('main code').first().textContent()), password: PASSWORD }, press: 'Turn on', see: 'Backup codes' },
  { at: '/web/settings/two_factor', press: 'Make new backup codes', see: 'Backup codes' },
  { at: '/web/settings/two_factor', set: { password: PASSWORD }, press: 'Turn off', see: done.saved },
  { at: '/web/settings/disable', set: { password: 'wrong' }, press: 'Deactivate', see: '[role=alert]', refused: 422 },
  { at: '/web/settings/password', set: { password: PASSWORD, new_password: `${PASSWORD} 2`, new_password_confirmation: `${PASSWORD} 2` }, press: 'Change the password', see: 'Your password is changed.' },
  { set: { name: (u) => u.nickname, password: `${PASSWORD} 2` }, within: 'main', press: 'Sign in', see: '.quick' },
  { at: '/web/menu', press: 'Sign out', within: 'main', see: 'a:text-is("Sign in")' },
  { at: '/web/sign_in', set: { name: (u) => u.nickname, password: `${PASSWORD} 2` }, within: 'main', press: 'Sign in', see: '.quick' },
  { at: '/web/settings/delete', set: { password: `${PASSWORD} 2` }, press: 'Delete for ever', see: 'a:text-is("Sign in")' },
]

const valueOf = (value, ...context) => (typeof value === 'function' ? value(...context) : value)

// enter fills fields by their names. A list is for the fields of a name in turn; a radio button or one of several boxes is chosen by its value.
async function enter(scope, fields, ...context) {
  for (const [name, given] of Object.entries(fields)) {
    const value = await valueOf(given, ...context)
    const found = scope.locator(`[name="${name}"]:not([type=hidden])`)
    const field = found.first()
    const type = await field.evaluate((e) => (e.tagName === 'INPUT' ? e.type : e.tagName.toLowerCase()))
    if (Array.isArray(value)) for (const [i, v] of value.entries()) await found.nth(i).fill(v)
    else if (type === 'checkbox' && typeof value === 'boolean') await field.setChecked(value)
    else if (type === 'checkbox' || type === 'radio') await scope.locator(`[name="${name}"][value="${value}"]`).check()
    else if (type === 'select') await field.selectOption(value)
    else if (type === 'file') await field.setInputFiles(value)
    else await field.fill(value)
  }
}

const isSelector = (text) => /^[.[]|^[a-z0-9]+[[:.]|^h1$|=/.test(text)
const located = (page, text) => (isSelector(text) ? page.locator(text) : page.getByText(text)).first()

// press clicks, and waits for the page that follows, so that nothing is looked for on the page before. An action of a script has none, but marks
// what it changes as busy.
async function press(page, button) {
  await page.evaluate(() => {
    const root = document.documentElement
    root.dataset.before = 'stays'
    const leaves = (event) => { if (!event.defaultPrevented) root.dataset.before = 'leaves' }
    window.addEventListener('submit', leaves)
    window.addEventListener('click', (event) => { if (event.target.closest('a[href]')) leaves(event) })
  })
  await button.click()
  const state = page.scripts ? await page.evaluate(() => document.documentElement.dataset.before).catch(() => 'leaves') : 'leaves'
  if (state === 'leaves') await page.locator('html:not([data-before])').waitFor({ state: 'attached' })
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
}

// take takes one step.
async function take(page, base, given, u, o) {
  await given.before?.(u, o)
  const step = { ...given }
  for (const name of ['at', 'within', 'press', 'see', 'keeps', 'gone']) step[name] = valueOf(step[name], u, o)
  if (step.again) await page.reload()
  if (step.at) {
    const go = () => page.goto(base + step.at, { waitUntil: 'domcontentloaded' })
    await go().catch((fault) => { if (/ERR_ABORTED|interrupted by another navigation/.test(fault.message)) return go(); throw fault }) // the page of the last form was on its way
  }
  const scope = page.locator(step.within ?? 'main').first()
  if (step.set) await enter(scope, step.set, u, o, page)
  for (const name of step.open ?? []) {
    const box = scope.locator('details', { has: page.locator('summary', { hasText: new RegExp(`^\\s*${name}\\s*$`) }) }).first()
    if (await box.getAttribute('open') !== null) continue
    const summary = box.locator('summary').first()
    if (await summary.isVisible()) await summary.click()
    else await scope.getByRole('button', { name, exact: true }).first().click() // of the tools that a script adds
  }
  if (step.more) await enter(scope, step.more, u, o, page)
  if (step.press && !(step.chosen && page.scripts)) {
    const name = new RegExp(`^${step.press.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}( \\d+)?$`)
    const button = scope.getByRole('button', { name }).or(scope.getByRole('link', { name }))
    await press(page, button.locator('visible=true').first())
  }
  if (step.see) await located(page, step.see).waitFor({ timeout: 30_000 })
  await page.locator('[aria-busy=true]').waitFor({ state: 'detached' }) // what a script sends as soon as a field is set
  if (step.keeps) await located(page, step.keeps).waitFor({ timeout: 30_000 })
  if (step.gone) await located(page, step.gone).waitFor({ state: 'detached', timeout: 30_000 })
  const errors = page.errors.filter((text) => !(step.refused && text.includes(`status of ${step.refused}`)))
  page.errors = []
  assert.deepEqual(errors, [])
}

// formActions returns the actions of forms and buttons in the templates as patterns. What depends on the page matches everything.
function formActions() {
  const actions = new Map()
  for (const folder of ['ui/', 'parts/']) {
    for (const file of readdirSync(new URL(folder, templates))) {
      const source = readFileSync(new URL(folder + file, templates), 'utf8')
      const api = source.match(/\{\{\$api := print "([^"]*)"/)?.[1]
      for (const [tag, attribute, raw] of source.matchAll(/<(?:form[^>]* method="post"[^>]*? |button[^>]*? form)(action)="((?:\{\{.*?\}\}|[^"{])*)"/g)) {
        const action = raw.replace('{{$api}}', `${api}{{}}`).replace('{{$.Remove}}', '/api/v1/profile/{{}}').replaceAll('&amp;', '&')
        for (const one of alternatives(action)) {
          if (/^(\{\{[^}]*\}\})+$/.test(one) || !one.startsWith('/web/')) continue
          const pattern = one.split(/\{\{.*?\}\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^/?&]*')
          actions.set(`${file}: ${one}`, new RegExp(`^${pattern}(&done=\\w+)?$`))
        }
      }
    }
  }
  return actions
}

// alternatives returns the texts that an {{if}} with {{else}} chooses from.
function alternatives(text) {
  const m = /\{\{if [^}]*\}\}((?:(?!\{\{(?:if|end)).)*?)\{\{else\}\}((?:(?!\{\{if).)*?)\{\{end\}\}/.exec(text)
  if (!m) return [text]
  return [m[1], m[2]].flatMap((part) => alternatives(text.slice(0, m.index) + part + text.slice(m.index + m[0].length)))
}

// notPressed are actions that this suite cannot cause with accounts of one server, or that other suites check: pages-peers.mjs those that
// concern another server, server/pages/own_collections_test.go and collections_test.go collections of accounts, arriving_test.go announcements.
const notPressed = [/confirm_email|unsuspend|emoji\/packs\/download|server\/restart|collections|announcements/, /domain_blocks\?domain=|domain=\{\{\.\}\}/, /translation/]

// walkThroughForms takes all steps, with JavaScript and without at the same time, each with accounts of its own.
export async function walkThroughForms(base, signIn) {
  const pressed = [true, false].map(() => [])
  const admin = await signedIn(base, 'admin', 'read write:accounts admin:read')
  await Promise.all([true, false].map(async (javaScriptEnabled, i) => {
    const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript'
    const [u, o, third] = await Promise.all(['user', 'other', 'third'].map((name) => account(base, `${name}${i}${run}`)))
    u.refilter = async (other) => {
      await other('POST', '/api/v1/statuses', { status: `@${u.nickname} are you there?`, visibility: 'public' })
      u.request = (await u('GET', '/api/v1/notifications/requests'))[0]?.id
    }
    u.applies = async (name) => {
      const username = `${name}${i}${run}`
      await admin.asApp('POST', '/api/v1/accounts', { username, email: `${username}@example.org`, password: PASSWORD, agreement: true, locale: 'en', reason: 'I like tea' })
      u.applicant = (await admin('GET', `/api/v1/admin/accounts?pending=true&username=${username}`))[0].id
    }
    u.postMany = async () => { for (let n = 1; n <= 25; n++) await u('POST', '/api/v1/statuses', { status: `Cup ${n}` }) } // more than a page has
    o.post = (await o('POST', '/api/v1/statuses', { status: 'Which #tea is it?' })).id
    o.poll = (await o('POST', '/api/v1/statuses', { status: 'Which?', poll: { options: ['Assam', 'Sencha'], expires_in: 3600 } })).id
    for (const name of ['quoted', 'second', 'post']) u[name] = (await u('POST', '/api/v1/statuses', { status: 'First words' })).id
    Object.assign(u, { i, third })
    const walk = async (nickname, list) => {
      const page = await visitor({ base, javaScriptEnabled })
      page.on('request', (request) => {
        const path = request.url().slice(base.length)
        if (request.method() === 'POST') pressed[i].push(path, `/web/do${path}`) // the second for a script that asks the API itself
      })
      await signIn(page, base, nickname)
      for (const step of list) {
        await take(page, base, step, u, o).catch(async (fault) => {
          throw new Error(`${how}, ${JSON.stringify(step)} at ${page.url()}: ${fault.message}\n${(await page.locator('body').innerText()).slice(0, 3000)}`)
        })
      }
      await leave(page)
    }
    await walk('admin', staffBefore)
    await walk(u.nickname, steps)
    await walk('admin', staffAfter)
    console.log(`ok   ${staffBefore.length + steps.length + staffAfter.length} forms, ${how}`)
  }))
  await check('all forms were pressed', () => {
    const forgotten = [...formActions()].filter(([name, pattern]) => !notPressed.some((p) => p.test(name)) && pressed.some((list) => !list.some((url) => pattern.test(decodeURI(url)))))
    assert.deepEqual(forgotten.map(([name]) => name), [])
  })
}
