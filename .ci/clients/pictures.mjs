#!/usr/bin/env node
// Takes the pictures of the documentation, of a server whose people have faces and something to say. usage: pictures.mjs FOLDER
import { browser, end, leave, signIn, visitor } from './browser.mjs'
import { draw, face, places } from './drawings.mjs'
import { account, BASE_URL, signedIn } from './lib.mjs'

const [folder] = process.argv.slice(2)

// people have a nickname, a name, a note, a portrait and the place of their banner.
const people = [
  ['alice', 'Alice Arden', 'Trains, tea and small computers. Keeps this server in a cupboard. #selfhosting', ['#9bb8d3', '#f0c9a6', '#6b4226', '#34508a', 'long'], 'train'],
  ['bob', 'Bob Birch', 'Baker by night. Asks before he quotes. #bread', ['#e6cf9f', '#8d5a3a', '#241a17', '#7a2f2f', 'short'], 'bread'],
  ['carol', 'Carol Clay', 'Gardens on balconies, and one very large pumpkin.', ['#b9d8b0', '#f3d4b8', '#b5542b', '#2f6b3a', 'curly'], 'garden'],
  ['noor', 'Noor Haddad', 'Maps, boats, and what the tide leaves behind. she/her', ['#f1b9a8', '#d9a67c', '#2f7f86', '#20464f', 'scarf'], 'sea'],
  ['mika', 'Mika Järvi', 'Cat person. The cat has opinions, too. they/them', ['#c9b6e4', '#f6dcc4', '#d8a93b', '#54397d', 'short'], 'cat'],
]

const drawn = await draw(browser, { ...places, ...Object.fromEntries(people.map(([name, , , portrait]) => [name, face(...portrait)])) })

// show uploads a described drawing, and returns its id.
const show = async (user, name, description) => (await user.upload(drawn[name], 'image/jpeg', description)).id

// arrive makes a person's account and fills its profile.
async function arrive([nickname, display_name, note, portrait, place]) {
  const user = ['alice', 'bob', 'carol'].includes(nickname) ? await signedIn(BASE_URL, nickname, 'read write follow') : await account(BASE_URL, nickname)
  const form = new FormData()
  for (const [name, value] of Object.entries({ display_name, note })) form.set(name, value)
  form.set('avatar', new Blob([drawn[nickname]], { type: 'image/jpeg' }), 'face.jpg')
  form.set('header', new Blob([drawn[place]], { type: 'image/jpeg' }), 'place.jpg')
  form.set('fields_attributes[0][name]', 'Town')
  form.set('fields_attributes[0][value]', 'Riverside')
  form.set('fields_attributes[1][name]', 'Home page')
  form.set('fields_attributes[1][value]', `https://${nickname}.example`)
  await user('PATCH', '/api/v1/accounts/update_credentials', form)
  return user
}

// talk lets people post, answer, vote, react, quote and report. It returns the post with the longest thread, and the report.
async function talk({ alice, bob, carol, noor, mika }) {
  const everybody = [alice, bob, carol, noor, mika]
  for (const a of everybody) for (const b of everybody) if (a !== b) await a('POST', `/api/v1/accounts/${b.id}/follow`)
  const post = (user, status, more = {}) => user('POST', '/api/v1/statuses', { status, language: 'en', ...more })
  const react = (user, s, emoji) => user('PUT', `/api/v1/svc/statuses/${s.id}/reactions/${encodeURIComponent(emoji)}`)
  const tides = await post(noor, 'Where the map says there is a path, there are now forty metres of water. The sea has not read the map. #tides',
    { media_ids: [await show(noor, 'sea', 'A sailing boat on a calm, wide bay')] })
  await post(mika, 'She has sat there since four, waiting for a moth that left at five.', { media_ids: [await show(mika, 'cat', 'A black cat on a window sill at night, the moon behind her')] })
  const night = await post(alice, 'Home again after two weeks by night train: eleven countries, one lost sock, and a dining car with real cups. #travel', {
    media_ids: [await show(alice, 'train', 'Dawn behind hills, seen from a train; a cup steams on the table'), await show(alice, 'sea', 'A sailing boat on a bay'), await show(alice, 'garden', 'Flowers in a park')],
  })
  const car = await post(carol, '@alice Welcome back! Was the dining car open all night?', { in_reply_to_id: night.id })
  const cups = await post(alice, '@carol Until two. Then the cook played cards with us, and lost.', { in_reply_to_id: car.id })
  await post(mika, '@alice @carol Which game? This matters.', { in_reply_to_id: cups.id })
  await post(bob, '@alice Did you get the rye from Vilnius? Please say that you got the rye.', { in_reply_to_id: night.id })
  const bread = await post(bob, 'Scald a fifth of the flour the evening before, and be patient. That is all there is to it. #bread', { media_ids: [await show(bob, 'bread', 'A dark loaf with four cuts')] })
  await carol('POST', `/api/v1/statuses/${tides.id}/reblog`)
  await post(alice, 'The little server in the cupboard has been up for a year. It still has time to spare. #selfhosting')
  await post(noor, 'Tomorrow’s ferry is cancelled: wind.', { spoiler_text: 'Weather, again' })
  await post(mika, 'This. I have walked there twice and drowned once.', { quoted_status_id: tides.id })
  const poll = await post(carol, 'The pumpkin has outgrown the balcony. What now?', { poll: { options: ['Soup for the whole house', 'A lantern, a big one', 'Knock through to the neighbours'], expires_in: 86400 } })
  for (const [user, choice] of [[bob, 0], [noor, 2], [mika, 2]]) await user('POST', `/api/v1/polls/${poll.poll.id}/votes`, { choices: [choice] })
  for (const user of [bob, carol, noor, mika]) await user('POST', `/api/v1/statuses/${night.id}/favourite`)
  for (const [user, emoji] of [[bob, '🚆'], [noor, '🚆'], [mika, '☕']]) await react(user, night, emoji)
  for (const [user, emoji] of [[alice, '🌊'], [carol, '🌊']]) await react(user, tides, emoji)
  const report = await mika('POST', '/api/v1/reports', { account_id: bob.id, status_ids: [bread.id], comment: 'Posts about bread while I am hungry. Please look into this.', forward: false })
  return { night, report }
}

const users = {}
for (const person of people) users[person[0]] = await arrive(person)
const { night, report } = await talk(users)
const thread = new URL(night.url).pathname
const wide = { width: 1280, height: 860 }
const phone = { width: 390, height: 800 }
const pictures = [
  ['home', 'carol', '/web', wide], ['profile', 'carol', '/@alice', wide], ['post', 'carol', thread, wide], ['notifications', 'alice', '/web/notifications', wide],
  ['settings', 'alice', '/web/settings/privacy', wide], ['moderation', 'admin', `/web/admin/reports/${report.id}`, wide], ['phone', 'carol', '/web', phone], ['phone-post', 'carol', thread, phone],
]
for (const colorScheme of ['light', 'dark']) {
  for (const [name, nickname, path, viewport] of pictures) {
    const page = await visitor({ base: BASE_URL, colorScheme, viewport })
    await signIn(page, BASE_URL, nickname)
    await page.goto(BASE_URL + path, { waitUntil: 'load' })
    await page.evaluate(() => Promise.all([...document.images].filter((image) => image.loading !== 'lazy').map((image) => image.decode().catch(() => {}))))
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.jpg`, type: 'jpeg', quality: 80 })
    await leave(page)
  }
}
await end()
