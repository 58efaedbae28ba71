// The form for a post: files, counting, drafts, and sending without leaving the page. Its parts are those of the form that works without scripts.
import { attach } from './attach.js'
import { complete } from './complete.js'
import { discard, keep, kept, placeOf } from './drafts.js'
import { added, say, send } from './parts.js'

const composers = new WeakMap()
const receivers = new WeakSet() // forms that take files
const own = new Set(['form_token', 'once', 'back', 'whole', 'do', 'file', 'in_reply_to_id', 'quote_id', 'edit', 'mentions', 'undescribed', 'media_ids[]', 'media_descriptions[]'])
const act = () => document.getElementById('act').dataset

// shortForm makes the short form the whole one once it is entered. The field stays in its place, so that nothing typed is lost.
export function shortForm(form) {
  const field = form.elements.status
  let opening
  const open = () => (opening ??= expand(form).catch((error) => { opening = undefined; throw error }))
  const quietly = () => open().catch(() => {})
  field.addEventListener('focus', quietly)
  form.addEventListener('submit', async (event) => {
    if (event.submitter?.value !== 'more') return
    event.preventDefault()
    try {
      (await open()).show('more')
    } catch (error) {
      say(error.message)
    }
  })
  takeFiles(form, open)
  if (field === document.activeElement || kept('new')) quietly()
}

async function expand(form) {
  const whole = (await send('/web/compose', { part: 'compose' })).querySelector('form.compose')
  const template = whole.nextElementSibling
  const { status, visibility } = form.elements
  whole.elements.visibility.value = visibility.value
  form.querySelectorAll(':scope > .row').forEach((row) => row.remove())
  const parts = [...whole.children].filter((e) => !e.matches('label') && e !== whole.elements.status && !(e.type === 'hidden' && form.elements[e.name]))
  form.append(...parts.map((e) => document.adoptNode(e)))
  form.after(document.adoptNode(template))
  form.enctype = 'multipart/form-data'
  form.classList.replace('quick', 'compose')
  status.required = false
  return compose(form)
}

// takeFiles attaches files that are dropped anywhere on the page or pasted into the form. composer returns a promise of its composer.
function takeFiles(form, composer) {
  if (receivers.has(form)) return
  receivers.add(form)
  const add = async (files) => (await composer()).add(files)
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files') && form.isConnected
  const mine = (event) => !event.target.closest?.('form.compose, form.quick') || form.contains(event.target)
  const mark = (on) => form.classList.toggle('dropping', on)
  document.addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    mark(mine(event))
  })
  document.addEventListener('dragleave', (event) => { if (!event.relatedTarget) mark(false) })
  document.addEventListener('drop', (event) => {
    mark(false)
    if (!hasFiles(event) || event.defaultPrevented || !mine(event)) return
    event.preventDefault()
    add([...event.dataTransfer.files])
  })
  form.addEventListener('paste', (event) => {
    const files = [...event.clipboardData.files]
    if (!files.length || event.clipboardData.types.includes('text/plain')) return
    event.preventDefault()
    add(files)
  })
}

// length returns what counts against the limit, as the server counts: characters as people see them, but no more than 32 code points as one.
const segmenter = Intl.Segmenter ? new Intl.Segmenter() : { segment: (text) => [...text].map((segment) => ({ segment })) }
function length(text) {
  let n = 0
  for (const { segment } of segmenter.segment(text.trim())) n += segment.length > 32 ? 1 + Math.floor(([...segment].length - 1) / 32) : 1
  return n
}

// compose serves a form with all fields. It returns what other scripts do with it.
export function compose(form) {
  if (composers.has(form)) return composers.get(form)
  const texts = form.nextElementSibling.dataset
  const field = form.elements.status
  const id = (name) => `${field.id}-${name}`
  const files = attach(form, form.nextElementSibling, () => changed())
  let place = placeOf(form)
  let busy = false
  form.classList.add('scripted')
  field.removeAttribute('maxlength')

  // The counter
  const counter = document.createElement('output')
  counter.className = 'counter'
  counter.id = id('counter')
  counter.innerHTML = '<span aria-hidden="true"></span><span class="hide"></span>'
  form.querySelector('.send').prepend(counter)
  field.setAttribute('aria-describedby', counter.id)
  const showCount = () => {
    const left = texts.most - length(field.value) - length(form.elements.spoiler_text.disabled ? '' : form.elements.spoiler_text.value)
    counter.setAttribute('aria-live', left <= 20 ? 'polite' : 'off')
    counter.classList.toggle('over', left < 0)
    counter.firstChild.textContent = left
    counter.lastChild.textContent = (left < 0 ? texts.over : texts.left).replace('%d', Math.abs(left))
  }

  // The tools
  const tools = form.querySelector('.tools')
  const emoji = tool('emoji', texts.emoji, '<svg class="icon" aria-hidden="true" viewBox="0 0 24 24"><circle cx="12" cy="12" r="9"/><path d="M8.500 14c1.500 3 5.500 3 7 0M9 9.500h.010M15 9.500h.010"/></svg>')
  emoji.setAttribute('aria-haspopup', 'dialog')
  emoji.addEventListener('click', async () => (await import('./emoji.js')).insert(emoji, field))
  for (const details of form.querySelectorAll('details[data-tool]')) {
    const summary = details.querySelector('summary')
    const button = tool(details.dataset.tool, summary.textContent.trim(), summary.querySelector('svg').outerHTML)
    details.id = id(details.dataset.tool)
    button.setAttribute('aria-controls', details.id)
    const show = () => {
      button.setAttribute('aria-expanded', details.open)
      if (details.dataset.tool !== 'more') details.querySelectorAll('input, select, button').forEach((e) => { e.disabled = !details.open })
      showCount()
    }
    details.addEventListener('toggle', () => { show(); changed() })
    button.addEventListener('click', () => {
      details.open = !details.open
      show() // before the event, so that the fields can have the focus
      if (details.open) details.querySelector('input, select')?.focus()
    })
    show()
  }
  form.querySelector('[value=add]')?.remove()
  function tool(name, label, icon) {
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'tool second', title: label })
    button.dataset.opens = name
    button.innerHTML = `${icon} <span class="hide"></span>`
    button.lastChild.textContent = label
    tools.append(button)
    return button
  }

  // What is entered, and its draft
  const entered = () => [...form.elements].filter((e) => e.name && !own.has(e.name) && e.type !== 'hidden').map((e) => [e.name, e.type === 'checkbox' ? e.checked : e.value])
  const content = () => ({ fields: entered(), media: files.list() })
  const fill = ({ fields, media }) => {
    const options = fields.filter(([name]) => name === 'poll_options[]')
    while (form.querySelectorAll('[name="poll_options[]"]').length < options.length && addOption());
    const left = [...form.elements].filter((e) => e.name && !own.has(e.name) && e.type !== 'hidden')
    for (const [name, value] of fields) {
      const i = left.findIndex((e) => e.name === name)
      if (i < 0) continue
      const [element] = left.splice(i, 1)
      if (element.type === 'checkbox') element.checked = value
      else element.value = value
    }
    const used = (name) => fields.some(([n, value]) => n === name && value && value !== true)
    if (used('spoiler_text')) form.querySelector('[data-tool=warning]').open = true
    if (used('poll_options[]')) form.querySelector('[data-tool=poll]').open = true
    files.fill(media)
    showCount()
  }
  let begun = content()
  let same = JSON.stringify(begun)
  const dirty = () => !busy && JSON.stringify(content()) !== same
  let timer = 0 // of a change that is not kept yet
  const save = () => {
    clearTimeout(timer)
    timer = 0
    if (busy) return
    if (dirty()) keep(place, content())
    else discard(place)
  }
  function changed() {
    showCount()
    clearTimeout(timer)
    timer = setTimeout(save, 300)
  }
  form.addEventListener('input', changed)
  form.addEventListener('change', changed)
  addEventListener('pagehide', () => { if (form.isConnected && (timer || dirty())) save() })
  addEventListener('beforeunload', (event) => { if (form.isConnected && (dirty() || files.uploading())) event.preventDefault() })
  restore()
  function restore() {
    const prefilled = field.value && field.value !== (form.elements.mentions?.value ?? '')
    if (prefilled && place === 'new') place = 'shared'
    const draft = kept(place)
    if (!draft || prefilled && !place.startsWith('edit')) return
    if (JSON.stringify({ fields: draft.fields, media: draft.media }) === same) return
    const typed = field.value
    fill(draft)
    const note = Object.assign(document.createElement('p'), { className: 'restored row' })
    note.setAttribute('role', 'status')
    const button = Object.assign(document.createElement('button'), { type: 'button', className: 'link', textContent: texts.discard })
    note.append(texts.draft, ' ', button)
    form.prepend(note)
    button.addEventListener('click', () => {
      fill({ ...begun, fields: begun.fields.map(([name, value]) => name === 'status' ? [name, typed] : [name, value]) })
      form.querySelectorAll('details').forEach((d) => { d.open = false })
      discard(place)
      note.remove()
      focus()
    })
  }

  // Sending
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.isComposing || event.defaultPrevented) return
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault()
      form.requestSubmit(form.querySelector('.send button:last-child'))
    } else if (event.target.matches('input')) event.preventDefault() // it would press the first button
  })
  form.addEventListener('click', (event) => {
    if (event.target.closest('[value=options]')) {
      event.preventDefault()
      addOption()?.focus()
    }
  })
  function addOption() {
    const button = form.querySelector('[value=options]')
    const list = form.querySelectorAll('[name="poll_options[]"]')
    if (list.length >= Number(button.dataset.most)) return null
    const option = list[0].cloneNode()
    option.value = ''
    option.setAttribute('aria-label', button.dataset.option.replace('%d', list.length + 1))
    list[list.length - 1].after(option)
    return option
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (busy) return
    fault('')
    save()
    const action = event.submitter?.name === 'do' ? event.submitter.value : ''
    busy = true
    form.setAttribute('aria-busy', 'true')
    try {
      if (files.uploading()) say(texts.wait)
      if (!await files.done()) return
      const body = new FormData(form)
      body.delete('file')
      if (action) body.set('do', action)
      const found = await post(body)
      if (found && action === 'preview') preview(found)
      else if (found) sent(found)
    } finally {
      busy = false
      form.removeAttribute('aria-busy')
    }
  })
  // post sends the form. It returns null, and says what is wrong at the form, if the post was not made; everything entered stays.
  async function post(body) {
    let response, found
    try {
      response = await fetch(form.getAttribute('action'), { method: 'POST', body, headers: { 'Svc-Part': composer.part } })
      found = new DOMParser().parseFromString(await response.text(), 'text/html')
    } catch {
      return fault(navigator.onLine ? act().unreached : act().offline)
    }
    if (response.redirected && new URL(response.url).pathname === '/web/sign_in') return fault(act().signedOut)
    if (response.ok) return found
    const again = found.querySelector('form.compose')
    if (again) form.elements.once.value = again.elements.once.value
    if (again?.elements.undescribed && !form.elements.undescribed) form.prepend(document.adoptNode(again.elements.undescribed))
    fault(found.querySelector('.fault, main p')?.textContent ?? act().unreached)
    const undescribed = form.elements.undescribed && files.firstUndescribed()
    ;(undescribed || field).focus()
    return null
  }
  function fault(text) {
    form.querySelector('.fault:not(.attachments *)')?.remove() // that of a file stays with it
    if (!text) return null
    const line = Object.assign(document.createElement('p'), { className: 'fault', id: id('fault'), textContent: text })
    line.setAttribute('role', 'alert')
    form.querySelector('.send').before(line)
    return null
  }
  function preview(found) {
    form.querySelector('.preview')?.remove()
    const shown = found.querySelector('.preview')
    form.append(document.adoptNode(shown))
    added(shown)
    shown.tabIndex = -1
    shown.focus()
  }
  function sent(found) {
    const next = found.querySelector('.done a')
    const article = found.querySelector('.post')
    discard(place)
    clearTimeout(timer)
    same = JSON.stringify(content())
    if (composer.onPosted && article) return composer.onPosted(document.adoptNode(article), found)
    if (!article || next.pathname !== location.pathname || !document.querySelector('main .feed')) return location.assign(next.href)
    reset()
    const feed = document.querySelector('main .feed')
    feed.querySelectorAll(':scope > .empty').forEach((e) => e.remove())
    document.getElementById(article.id)?.remove()
    feed.prepend(document.adoptNode(article))
    added(article)
    announce(found)
  }
  function reset() {
    form.querySelectorAll('.restored, .preview, .fault').forEach((e) => e.remove())
    form.elements.undescribed?.remove()
    form.elements.once.value = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('')
    fill(begun)
    field.value = ''
    form.querySelectorAll('details').forEach((d) => { d.open = false })
    begun = content()
    same = JSON.stringify(begun)
    showCount()
    focus()
  }

  function focus() {
    field.focus()
    field.setSelectionRange(field.value.length, field.value.length)
  }
  const composer = {
    part: 'compose',
    add: files.add,
    dirty,
    focus,
    show: (name) => form.querySelector(`[data-opens=${name}]`).click(),
    ask: texts.ask,
    drop: () => { discard(place); clearTimeout(timer); same = JSON.stringify(content()) },
  }
  composers.set(form, composer)
  complete(field, texts)
  takeFiles(form, async () => composer)
  showCount()
  return composer
}

// announce says that a post was made, with a link to it.
export function announce(found) {
  const [done, link] = found.querySelectorAll('.done a')
  say(done.textContent, link && { link: { href: link.href, textContent: link.textContent } })
}
