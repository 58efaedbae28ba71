// What begins writing: forms for posts, and buttons of posts that lead to one. The scripts for it come when they are needed.
import { enhance } from './enhance.js'

// plain returns true for a press that opens a link in the same tab.
const plain = (event) => event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey && !event.defaultPrevented

// instead shows in place what a link leads to. If that is not possible, the link is followed.
async function instead(link, script, show) {
  try {
    show(await import(script))
  } catch {
    location.assign(link.href)
  }
}

export function writing() {
  enhance('form.quick', async (form) => (await import('./compose.js')).shortForm(form))
  enhance('form.compose', async (form) => (await import('./compose.js')).compose(form))
  document.addEventListener('click', (event) => {
    const out = event.target.closest('[formaction$="/sign_out"]')
    if (out && !out.dataset.forgot) {
      event.preventDefault()
      out.dataset.forgot = true
      import('./drafts.js').then(({ forget }) => forget()).catch(() => {}).finally(() => out.click())
      return
    }
    const link = event.target.closest('.post .actions a')
    if (!link || !plain(event)) return
    const path = link.getAttribute('href')
    if (path.startsWith('/web/compose?reply=')) {
      event.preventDefault()
      instead(link, './reply.js', ({ reply }) => reply(link))
    } else if (path.endsWith('/react')) {
      event.preventDefault()
      instead(link, './emoji.js', ({ react }) => react(link))
    }
  })
}
