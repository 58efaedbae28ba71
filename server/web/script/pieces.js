// A large archive is uploaded in pieces, so that an upload goes on after an interruption: choose the same file again.
import { say } from './parts.js'

const api = '/api/v1/svc/archives'
const pieceSize = 4 << 20 // bytes; the server takes up to 8 MiB

export function pieces(form) {
  const state = form.dataset // also the texts

  async function send(file, bar) {
    let archive = { id: state.upload, size: Number(state.size), received: Number(state.received) }
    if (!archive.id || archive.size !== file.size) {
      const body = new FormData()
      body.append('size', file.size)
      if (form.elements.public.checked) body.append('public', 'true')
      archive = await answer(fetch(api, { method: 'POST', body }))
      state.upload = archive.id
      state.size = file.size
    }
    while (archive.received < file.size) {
      bar.value = archive.received / file.size
      const body = new FormData()
      body.append('offset', archive.received)
      body.append('piece', file.slice(archive.received, archive.received + pieceSize))
      archive = await answer(fetch(`${api}/${archive.id}`, { method: 'PUT', body }))
      state.received = archive.received
    }
  }

  form.addEventListener('submit', async (event) => {
    const file = form.elements.file.files[0]
    if (!file) return
    event.preventDefault()
    event.stopImmediatePropagation()
    const button = event.submitter
    const bar = document.createElement('progress')
    bar.value = 0
    bar.ariaLabel = state.uploading
    button.after(bar)
    button.disabled = true
    form.setAttribute('aria-busy', 'true')
    const stop = () => {
      bar.remove()
      button.disabled = false
      form.removeAttribute('aria-busy')
    }
    try {
      await send(file, bar)
      window.addEventListener('pagehide', stop, { once: true }) // busy until then
      location.assign('?done=import')
    } catch (failure) {
      stop()
      say(failure.message || state.interrupted)
    }
  }, true)
}

// answer returns what the server says, or throws its error. A failure of the network has no message of its own.
async function answer(request) {
  const response = await request.catch(() => { throw new Error('') })
  const body = await response.json().catch(() => ({}))
  if (!response.ok) throw new Error(body.error ?? '')
  return body
}
