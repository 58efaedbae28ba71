// Names, hashtags and emoji are completed while the author types. The field keeps the focus: the arrows move through the list, which screen readers
// follow by aria-activedescendant.
let custom, unicode

const json = async (path) => (await fetch(path)).json()

// find returns what a word may become.
const finders = {
  '@': async (text) => {
    const accounts = await json(`/api/v1/accounts/search?limit=5&q=${encodeURIComponent(text)}`)
    return accounts.map((a) => ({ insert: `@${a.acct} `, label: `${a.display_name} @${a.acct}`, picture: a.avatar_static }))
  },
  '#': async (text) => {
    const { hashtags } = await json(`/api/v2/search?type=hashtags&limit=5&q=${encodeURIComponent(text)}`)
    return hashtags.map((h) => ({ insert: `#${h.name} `, label: `#${h.name}` }))
  },
  ':': async (text) => {
    const name = text.toLowerCase()
    const emojis = await (custom ??= json('/api/v1/custom_emojis'))
    const own = emojis.filter((e) => e.shortcode.toLowerCase().includes(name)).slice(0, 5)
      .map((e) => ({ insert: `:${e.shortcode}: `, label: e.shortcode, picture: e.static_url }))
    const language = document.documentElement.lang === 'de' ? 'de' : 'en'
    unicode ??= json(new URL(`./emoji.${language}.json`, import.meta.url))
    const words = (e) => [...e.shortcodes, ...e.tags, e.annotation.toLowerCase()]
    const all = (await unicode).filter((e) => words(e).some((word) => word.startsWith(name)))
    return [...own, ...all.slice(0, 8 - own.length).map((e) => ({ insert: `${e.emoji} `, label: `${e.emoji} ${e.annotation}` }))]
  },
}

export function complete(field, texts) {
  const list = Object.assign(document.createElement('ul'), { className: 'suggestions', hidden: true, id: `${field.id}-suggestions` })
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', field.labels[0]?.textContent ?? '')
  const status = Object.assign(document.createElement('p'), { className: 'hide' })
  status.setAttribute('role', 'status')
  field.after(list, status)
  field.setAttribute('aria-autocomplete', 'list')
  field.setAttribute('aria-controls', list.id)
  let word = null, timer = 0

  const hide = () => {
    list.hidden = true
    list.replaceChildren()
    status.textContent = ''
    field.removeAttribute('aria-activedescendant')
  }
  const select = (option) => {
    for (const other of list.children) other.setAttribute('aria-selected', other === option)
    field.setAttribute('aria-activedescendant', option.id)
    option.scrollIntoView({ block: 'nearest' })
  }
  const choose = (option) => {
    field.setRangeText(option.dataset.insert, word.start, field.selectionStart, 'end')
    hide()
    field.focus()
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const show = (found) => {
    list.replaceChildren(...found.map((f, i) => {
      const option = Object.assign(document.createElement('li'), { id: `${field.id}-option${i}` })
      option.dataset.insert = f.insert
      option.setAttribute('role', 'option')
      if (f.picture) option.append(Object.assign(new Image(20, 20), { src: f.picture, alt: '' }), ' ')
      option.append(f.label)
      option.addEventListener('mousedown', (event) => { event.preventDefault(); choose(option) })
      return option
    }))
    list.hidden = found.length === 0
    if (list.hidden) return hide()
    status.textContent = (found.length === 1 ? texts.one : texts.other).replace('%d', found.length)
    select(list.firstChild)
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    const match = /(?:^|[\s(])([@:#])([\p{L}\p{N}_.@+-]{2,})$/u.exec(field.value.slice(0, field.selectionStart))
    word = match && { text: match[2], start: field.selectionStart - match[2].length - 1 }
    if (!match) return hide()
    const asked = word
    timer = setTimeout(async () => {
      const found = await finders[match[1]](match[2]).catch(() => [])
      if (asked === word && document.activeElement === field) show(found)
    }, 200)
  })
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.ctrlKey || event.metaKey || event.isComposing) return
    const options = [...list.children]
    const at = options.findIndex((o) => o.getAttribute('aria-selected') === 'true')
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) select(options[(at + move + options.length) % options.length])
    else if (event.key === 'Enter' || event.key === 'Tab') choose(options[at])
    else if (event.key === 'Escape') { word = null; hide() }
    else return
    event.preventDefault()
  })
  field.addEventListener('blur', hide)
}
