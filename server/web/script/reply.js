// The form for a reply opens below the post that it answers. After sending, the reply stands there, without leaving the page.
import { announce, compose } from './compose.js'
import { added, send } from './parts.js'

export async function reply(link) {
  const post = link.closest('.post')
  const open = post.nextElementSibling
  if (open?.matches('.answer')) return open.querySelector('textarea').focus()
  const form = (await send(link.href, { part: 'compose' })).querySelector('form.compose')
  const section = document.createElement('section')
  section.className = 'answer'
  const template = form.nextElementSibling
  section.setAttribute('aria-label', template.dataset.reply)
  const close = Object.assign(document.createElement('button'), { type: 'button', className: 'close', textContent: '×', title: template.dataset.close })
  close.setAttribute('aria-label', template.dataset.close)
  section.append(form, template)
  post.after(section)
  section.append(close)
  const composer = compose(form)
  added(section)
  composer.part = post.matches('.post .post') ? 'compose' : 'compose below'
  composer.onPosted = (article, found) => {
    section.remove()
    place(article, post)
    added(article)
    article.tabIndex = -1
    article.focus({ preventScroll: true })
    article.scrollIntoView({ block: 'nearest' })
    announce(found)
  }
  const leave = () => {
    if (composer.dirty()) {
      if (!confirm(composer.ask)) return
      composer.drop()
    }
    section.remove()
    link.focus()
  }
  close.addEventListener('click', leave)
  section.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.target.closest('[popover]')) return
    event.preventDefault()
    leave()
  })
  composer.focus()
  section.scrollIntoView({ block: 'nearest' })
}

// place puts a reply below the post that it answers: into the tree of a thread, else right after it.
function place(article, post) {
  document.getElementById(article.id)?.remove()
  const branch = post.closest('.thread li')
  if (!branch && !post.matches('.main')) return post.after(article)
  let list = branch ? branch.querySelector(':scope > .thread') : document.querySelector('main > .thread')
  if (!list) {
    list = Object.assign(document.createElement('ol'), { className: 'thread' })
    if (branch) branch.append(list)
    else post.after(list)
  }
  const item = document.createElement('li')
  item.append(article)
  list.append(item)
}
