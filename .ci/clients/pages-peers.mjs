// Buttons of the web interface that need an account or a pack of another server, in Chromium.
import { leave, signIn, visitor } from './browser.mjs'
import { check } from './lib.mjs'

// press clicks a button, after opening the box that it is in, and waits for the button that takes its place.
async function press(page, name, then) {
  const box = page.locator('main details', { has: page.locator('summary', { hasText: name }) })
  if (await box.count()) await box.locator('summary').click()
  await page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('button', { name: then, exact: true }).or(page.locator('summary', { hasText: then })).waitFor()
}

// walkThroughPeers takes the steps as person, and as the admin of the same server. known is an account of the server other,
// which shares two packs of emoji.
export async function walkThroughPeers(base, { person, admin, known, other, packs }) {
  for (const [pack, javaScriptEnabled] of [[packs[0], true], [packs[1], false]]) {
    const how = javaScriptEnabled ? '' : ' without JavaScript'
    const page = await visitor({ base, javaScriptEnabled })
    await check(`a user blocks the server of an account, and ends it${how}`, async () => {
      await signIn(page, base, person)
      await page.goto(`${base}/web/accounts/${known}/more`)
      await press(page, `Block the server ${other.host}`, `Unblock the server ${other.host}`)
      await press(page, `Unblock the server ${other.host}`, `Block the server ${other.host}`)
    })
    await leave(page)
    const staff = await visitor({ base, javaScriptEnabled })
    await check(`staff suspend an account of another server, and end it${how}`, async () => {
      await signIn(staff, base, admin)
      await staff.goto(`${base}/web/admin/accounts/${known}`)
      await staff.locator('[name=type]').first().selectOption('suspend')
      await press(staff, 'Act on the account', 'Suspend the account?')
      await press(staff, 'Suspend the account?', 'End the suspension')
      await press(staff, 'End the suspension', 'Act on the account')
      await staff.getByRole('button', { name: 'End the suspension' }).waitFor({ state: 'detached' })
    })
    await check(`staff download a pack of emoji of another server${how}`, async () => {
      await staff.goto(`${base}/web/admin/emoji`)
      await staff.locator('main summary').first().click()
      await staff.fill('#url', other.url)
      await staff.fill('#remote', pack)
      await staff.locator('form[action$="/download"] button').click()
      await staff.getByRole('link', { name: pack, exact: true }).waitFor()
    })
    await leave(staff)
  }
}
