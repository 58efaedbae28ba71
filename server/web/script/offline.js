// The page that is shown while the server is not reached lists what was written in this browser and not sent.
const page = document.querySelector('.offline')
const { open, copy, copied } = page.dataset

// addressOf returns the page with the form that a draft belongs to.
function addressOf(place) {
  const [kind, of] = [place.split(' ', 1)[0], place.slice(place.indexOf(' ') + 1)]
  return ['reply', 'edit', 'quote', 'to'].includes(kind) ? `/web/compose?${new URLSearchParams({ [kind]: of.split(' ')[0] })}` : '/web/compose'
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

function drafts() {
  const found = []
  for (const [key, value] of Object.entries(localStorage)) {
    const [, account, place] = /^draft:([^:]+):(.*)$/s.exec(key) ?? []
    if (!account) continue
    try {
      const draft = JSON.parse(value)
      const fields = Object.fromEntries(draft.fields) // as compose.js keeps them
      const text = [fields.spoiler_text, fields.status].filter((part) => typeof part === 'string' && part.trim()).join('\n\n')
      if (text) found.push({ account, place, text, at: Number(draft.at) || 0 })
    } catch { /* another program wrote it */ }
  }
  return found.sort((a, b) => b.at - a.at)
}

function row({ account, place, text, at }) {
  const said = element('span', { role: 'status' })
  const button = element('button', { type: 'button', className: 'second', textContent: copy })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text)
    said.textContent = copied
  })
  const when = at ? ` · ${new Date(at).toLocaleString(document.documentElement.lang)}` : ''
  return element('li', { className: 'panel' },
    element('p', { className: 'quiet' }, element('bdi', { textContent: `@${account}` }), when),
    element('p', { className: 'source', dir: 'auto', textContent: text }),
    element('p', { className: 'row' }, element('a', { className: 'button', href: addressOf(place), textContent: open }), button, said))
}

function show() {
  const list = drafts()
  document.getElementById('drafts').replaceChildren(...list.map(row))
  document.getElementById('none').hidden = list.length > 0
}

try {
  show()
} catch { /* the browser keeps nothing */ }
const again = element('button', { type: 'button', textContent: page.dataset.again })
again.addEventListener('click', () => location.reload())
page.append(again)

// The page that was asked for comes back by itself, once the server answers.
async function retry() {
  try {
    if (!document.hidden && (await fetch('/favicon.png', { method: 'HEAD', cache: 'no-store' })).ok) location.reload()
  } catch { /* later */ }
}
if (location.pathname !== '/web/offline') {
  addEventListener('online', retry)
  setInterval(retry, 5000)
}
