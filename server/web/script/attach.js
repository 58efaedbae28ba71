// Files of a form for a post: they are uploaded as soon as they are chosen, and described, ordered and removed in place.

// attach serves the attachments of a form. template has one that is empty, and the texts. changed is called after a change.
export function attach(form, template, changed) {
  const texts = template.dataset
  const list = form.querySelector('.attachments')
  const input = form.elements.file
  const running = new Map() // requests by item

  const items = () => [...list.children]
  const idOf = (item) => item.querySelector('[name="media_ids[]"]')
  const description = (item) => item.querySelector('textarea')

  // renumber names the items, their fields and their buttons by their places.
  function renumber() {
    items().forEach((item, i, all) => {
      const sample = template.content.firstElementChild
      const field = description(item)
      field.id = `${form.elements.status.id}-description${i}`
      const label = item.querySelector('label')
      label.htmlFor = field.id
      label.textContent = sample.querySelector('label').textContent.replace('0', i + 1)
      for (const button of item.querySelectorAll('button[name=do]')) {
        const action = button.value.split(':')[0]
        button.value = `${action}:${i}`
        button.setAttribute('aria-label', sample.querySelector(`[value^=${action}]`).getAttribute('aria-label').replace('0', i + 1))
        button.hidden = action === 'up' && i === 0 || action === 'down' && i === all.length - 1
      }
    })
  }

  // make adds an item. media is an uploaded file, or nothing.
  function make(media) {
    const item = document.importNode(template.content.firstElementChild, true)
    list.append(item)
    if (media) show(item, media)
    return item
  }

  function show(item, media) {
    idOf(item).value = media.id
    const picture = item.querySelector('img, canvas')
    if (media.type === 'image' && media.preview_url) {
      picture.replaceWith(Object.assign(new Image(96, 96), { src: media.preview_url, alt: '' }))
    } else if (picture.matches('img') || media.type !== 'image') {
      picture.replaceWith(Object.assign(document.createElement('span'), { className: 'kind', textContent: media.type }))
    }
  }

  // add uploads files in their order.
  function add(files) {
    const made = files.map((file) => {
      const item = make()
      idOf(item).disabled = true
      description(item).disabled = false
      upload(item, file)
      picture(item, file)
      return item
    })
    renumber()
    changed()
    return made
  }

  // picture shows a small picture of a file before it is uploaded.
  async function picture(item, file) {
    if (!file.type.startsWith('image/')) return
    const bitmap = await createImageBitmap(file).catch(() => null)
    const image = item.querySelector('img')
    if (!bitmap || !image || idOf(item).value) return
    const canvas = Object.assign(document.createElement('canvas'), { width: 96, height: 96 })
    const size = Math.min(bitmap.width, bitmap.height)
    canvas.getContext('2d').drawImage(bitmap, (bitmap.width - size) / 2, (bitmap.height - size) / 2, size, size, 0, 0, 96, 96)
    image.replaceWith(canvas)
  }

  function upload(item, file) {
    const request = new XMLHttpRequest()
    const box = Object.assign(document.createElement('p'), { className: 'row uploading' })
    const bar = Object.assign(document.createElement('progress'), { max: 1, value: 0 })
    bar.setAttribute('aria-label', texts.uploading.replace('%s', file.name))
    const cancel = Object.assign(document.createElement('button'), { type: 'button', className: 'second', textContent: texts.cancel })
    cancel.addEventListener('click', () => remove(item))
    box.append(bar, cancel)
    description(item).after(box)
    request.upload.addEventListener('progress', (event) => { if (event.lengthComputable) bar.value = event.loaded / event.total })
    // ended is when the item has its id, or says why not: what waits for it goes on right after this listener, before any other one.
    const ended = new Promise((resolve) => request.addEventListener('loadend', () => {
      running.delete(item)
      box.remove()
      if (!item.isConnected) return resolve()
      const answer = parse(request.responseText)
      if (request.status >= 200 && request.status < 300 && answer?.id) {
        show(item, answer)
        idOf(item).disabled = false
        changed()
      } else failed(item, file, answer?.error)
      resolve()
    }))
    running.set(item, { request, ended })
    const body = new FormData()
    body.append('file', file)
    request.open('POST', '/api/v2/media')
    request.send(body)
  }

  // failed says why a file was not uploaded. The form is not sent before it is removed.
  function failed(item, file, reason) {
    item.dataset.failed = ''
    description(item).disabled = true
    const line = Object.assign(document.createElement('p'), { className: 'fault', textContent: `${texts.failed.replace('%s', file.name)} ${reason ?? ''}` })
    line.setAttribute('role', 'alert')
    description(item).after(line)
  }

  function remove(item) {
    const next = item.nextElementSibling ?? item.previousElementSibling
    running.get(item)?.request.abort()
    item.remove()
    renumber()
    changed()
    ;(next ? description(next) : input ?? form.elements.status).focus()
  }

  list.addEventListener('click', (event) => {
    const button = event.target.closest('button[name=do]')
    if (!button) return
    event.preventDefault()
    const item = button.closest('.attached')
    const [action] = button.value.split(':')
    if (action === 'remove') return remove(item)
    if (action === 'up') item.previousElementSibling?.before(item)
    else item.nextElementSibling?.after(item)
    renumber()
    changed()
    ;(button.hidden ? description(item) : button).focus()
  })
  input?.addEventListener('change', () => {
    const made = add([...input.files])
    input.value = ''
    if (made.length) description(made[0]).focus()
  })
  for (const item of items()) { // of the form without scripts: its buttons are by place
    const fresh = make({ id: idOf(item).value, type: item.querySelector('img') ? 'image' : 'unknown', preview_url: item.querySelector('img')?.src })
    description(fresh).value = description(item).value
    item.replaceWith(fresh)
  }
  renumber()

  return {
    add,
    uploading: () => running.size > 0,
    // done waits until all files are stored. It returns false, at the first one that is not, if the form cannot be sent with all of them.
    done: async () => {
      await Promise.all([...running.values()].map(({ ended }) => ended))
      const lost = items().find((item) => item.dataset.failed !== undefined)
      lost?.querySelector('[value^=remove]').focus()
      return !lost
    },
    firstUndescribed: () => items().map(description).find((field) => !field.disabled && !field.value.trim()),
    list: () => items().filter((item) => idOf(item).value).map((item) => ({
      id: idOf(item).value, description: description(item).value, preview_url: item.querySelector('img')?.src ?? '', type: item.querySelector('.kind')?.textContent ?? 'image',
    })),
    // fill replaces the files by those of a draft, without those that the server has no more.
    fill: (media) => {
      running.forEach(({ request }) => request.abort())
      list.replaceChildren()
      for (const m of media) {
        const item = make(m)
        description(item).value = m.description
        fetch(`/api/v1/media/${encodeURIComponent(m.id)}`).then(({ status }) => { if (status === 404) remove(item) }).catch(() => {})
      }
      renumber()
    },
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
