// A large archive is uploaded in pieces, so that an upload goes on after an interruption: choose the same file again.
import { say } from './parts.js'

const api = '/api/v1/svc/archives'
const pieceSize = 4 << 20 // bytes; the server takes up to 8 MiB

export function pieces(form) {
  const texts = form.dataset
  const input = form.elements.file
  const done = () => {
    const url = new URL(location.href)
    url.searchParams.set('done', 'import')
    location.assign(url)
  }

  async function send(file, bar) {
    let archive = { id: form.dataset.upload, size: Number(form.dataset.size), received: Number(form.dataset.received) }
    if (!archive.id || archive.size !== file.size) {
      const begin = new FormData()
      begin.append('size', file.size)
      if (form.elements.public.checked) begin.append('public', 'true')
      archive = await answer(fetch(api, { method: 'POST', body: begin }))
      form.dataset.upload = archive.id
      form.dataset.size = file.size
    }
    while (archive.received < file.size) {
      bar.value = archive.received / file.size
      const piece = new FormData()
      piece.append('offset', archive.received)
      piece.append('piece', file.slice(archive.received, archive.received + pieceSize))
      archive = await answer(fetch(`${api}/${encodeURIComponent(archive.id)}`, { method: 'PUT', body: piece }))
      form.dataset.received = archive.received
    }
  }

  form.addEventListener('submit', async (event) => {
    const file = input.files[0]
    if (!file) return
    event.preventDefault()
    event.stopImmediatePropagation()
    const bar = Object.assign(document.createElement('progress'), { max: 1, value: 0 })
    bar.setAttribute('aria-label', texts.uploading)
    event.submitter?.after(bar)
    if (event.submitter) event.submitter.disabled = true
    try {
      await send(file, bar)
      done()
    } catch (failure) {
      say(failure.message || texts.interrupted)
    }
    bar.remove()
    if (event.submitter) event.submitter.disabled = false
  }, true)
}

// answer returns what the server says, or throws its error. A failure of the network has no message of its own.
async function answer(request) {
  const response = await request.catch(() => { throw new Error('') })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.error ?? '')
  return body
}
