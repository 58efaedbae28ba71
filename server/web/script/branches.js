// Branches of a thread can be folded, so that what follows them is near.
import { enhance } from './enhance.js'

// collapsible gives each post with replies below it a button that hides them. replies has the button's name.
export function collapsible(replies) {
  enhance('[data-branch] li > .thread', (list) => {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'collapse', title: replies.dataset.branch })
    const count = list.querySelectorAll('.post').length
    button.setAttribute('aria-label', `${replies.dataset.branch}: ${count}`)
    const show = (open) => {
      button.setAttribute('aria-expanded', open)
      button.textContent = open ? '−' : `+ ${count}`
    }
    button.addEventListener('click', () => show(button.getAttribute('aria-expanded') === 'false'))
    show(true)
    list.before(button)
  })
}
