// The picker for emoji: Unicode's and those of this server. It inserts one into a text, or reacts to a post with it.
import { Picker, de } from './library/emoji-picker-element.js'

const popup = document.createElement('div')
let picker, choose, opener

// open shows the picker beside a button. chosen is called with the emoji: a character, or :name:.
function open(button, label, chosen) {
  if (popup.matches(':popover-open') && opener === button) return popup.hidePopover()
  choose = chosen
  opener = button
  if (!picker) make(label)
  popup.setAttribute('aria-label', label)
  popup.showPopover()
  button.setAttribute('aria-expanded', 'true')
  place(button)
  focus()
}

function make(label) {
  const language = document.documentElement.lang === 'de' ? 'de' : 'en'
  picker = new Picker({ locale: language, dataSource: new URL(`./emoji.${language}.json`, import.meta.url).pathname, ...(language === 'de' && { i18n: de }) })
  fetch('/api/v1/custom_emojis').then((answer) => answer.json()).then((emojis) => {
    picker.customEmoji = emojis.map((e) => ({ name: e.shortcode, shortcodes: [e.shortcode], url: e.static_url, category: e.category ?? undefined }))
  }).catch(() => {})
  picker.addEventListener('emoji-click', ({ detail }) => {
    popup.hidePopover()
    choose(detail.unicode ?? `:${detail.name}:`)
  })
  popup.popover = 'auto'
  popup.className = 'emoji-popup'
  popup.setAttribute('role', 'dialog')
  popup.setAttribute('aria-label', label)
  popup.append(picker)
  popup.addEventListener('toggle', (event) => { if (event.newState === 'closed') opener.setAttribute('aria-expanded', 'false') })
  document.body.append(popup)
}

// focus puts the caret into the search of the picker, once it is there.
function focus(tries = 20) {
  const search = picker.shadowRoot.querySelector('input')
  if (search) search.focus()
  else if (tries > 0) requestAnimationFrame(() => focus(tries - 1))
}

// place puts the picker below the button, or above it if there is more room.
function place(button) {
  const at = button.getBoundingClientRect()
  const { width, height } = popup.getBoundingClientRect()
  const below = at.bottom + height <= innerHeight || at.top < height
  popup.style.left = `${Math.max(0, Math.min(at.left, document.documentElement.clientWidth - width))}px`
  popup.style.top = `${Math.max(0, Math.min(below ? at.bottom : at.top - height, innerHeight - height))}px`
}

// insert puts the emoji that is chosen into a text where its caret is. A name has a space beside it.
export function insert(button, field) {
  open(button, button.title, (emoji) => {
    const before = field.value.slice(0, field.selectionStart)
    const text = emoji.startsWith(':') ? `${before === '' || /\s$/.test(before) ? '' : ' '}${emoji} ` : emoji
    field.focus()
    field.setRangeText(text, field.selectionStart, field.selectionEnd, 'end')
    field.dispatchEvent(new Event('input', { bubbles: true }))
  })
}

// react adds the emoji that is chosen to the reactions of a post: it presses a button that does so.
export function react(link) {
  open(link, link.title, (emoji) => {
    const id = link.pathname.split('/')[3]
    const button = document.createElement('button')
    button.setAttribute('form', 'act')
    button.setAttribute('formaction', `/web/do/api/v1/svc/statuses/${id}/reactions/${encodeURIComponent(emoji.replaceAll(':', ''))}?_method=PUT`)
    button.hidden = true
    link.after(button)
    button.click()
    button.remove()
    link.focus()
  })
}
