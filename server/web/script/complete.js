// Names and emojis are completed while the reader types.
export function complete(field) {
  const list = Object.assign(document.createElement('ul'), { className: 'suggestions', hidden: true })
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', field.labels[0]?.textContent ?? '')
  field.after(list)
  let word = null, timer = 0, emojis = null

  const find = async ({ kind, text }) => {
    if (kind === '@') {
      const accounts = await (await fetch(`/api/v1/accounts/search?limit=5&q=${encodeURIComponent(text)}`)).json()
      return accounts.map((a) => ({ insert: `@${a.acct} `, label: `${a.display_name} @${a.acct}`, picture: a.avatar_static }))
    }
    emojis ??= await (await fetch('/api/v1/custom_emojis')).json()
    return emojis.filter((e) => e.shortcode.includes(text)).slice(0, 5)
      .map((e) => ({ insert: `:${e.shortcode}: `, label: e.shortcode, picture: e.static_url }))
  }
  const choose = (option) => {
    field.setRangeText(option.dataset.insert, word.start, field.selectionStart, 'end')
    list.hidden = true
    field.focus()
  }
  const show = (found) => {
    list.replaceChildren(...found.map((f, i) => {
      const option = Object.assign(document.createElement('li'), { id: `${field.id}-option${i}` })
      option.dataset.insert = f.insert
      option.setAttribute('role', 'option')
      option.setAttribute('aria-selected', i === 0)
      option.append(Object.assign(new Image(20, 20), { src: f.picture, alt: '' }), ` ${f.label}`)
      option.addEventListener('mousedown', (event) => { event.preventDefault(); choose(option) })
      return option
    }))
    list.hidden = found.length === 0
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    const match = /(?:^|\s)([@:])([\p{L}\p{N}_.@-]{2,})$/u.exec(field.value.slice(0, field.selectionStart))
    if (!match) { list.hidden = true; return }
    word = { kind: match[1], text: match[2], start: field.selectionStart - match[2].length - 1 }
    const asked = word
    timer = setTimeout(async () => {
      const found = await find(asked).catch(() => [])
      if (asked === word) show(found)
    }, 200)
  })
  field.addEventListener('keydown', (event) => {
    if (list.hidden) return
    const options = [...list.children]
    const at = options.findIndex((o) => o.getAttribute('aria-selected') === 'true')
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move) {
      options[at].setAttribute('aria-selected', false)
      options[(at + move + options.length) % options.length].setAttribute('aria-selected', true)
    } else if (event.key === 'Enter' || event.key === 'Tab') choose(options[at])
    else if (event.key === 'Escape') list.hidden = true
    else return
    event.preventDefault()
  })
  field.addEventListener('blur', () => { list.hidden = true })
}
