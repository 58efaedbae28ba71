// A long upload shows how far it is.
import { refresh, say } from './parts.js'

export function showProgress(form) {
  form.addEventListener('submit', (event) => {
    const files = [...form.querySelectorAll('input[type=file]')].some((f) => f.files.length > 0)
    if (!files || event.defaultPrevented) return
    event.preventDefault()
    if (form.hasAttribute('aria-busy')) return
    form.setAttribute('aria-busy', 'true')
    const stop = () => {
      bar.remove()
      form.removeAttribute('aria-busy')
    }
    const action = event.submitter?.getAttribute('formaction') ?? form.getAttribute('action')
    const bar = Object.assign(document.createElement('progress'), { max: 1, value: 0 })
    event.submitter?.after(bar)
    const request = new XMLHttpRequest()
    request.upload.addEventListener('progress', (e) => { if (e.lengthComputable) bar.value = e.loaded / e.total })
    request.addEventListener('error', () => {
      stop()
      say(document.getElementById('act')?.dataset.unreached)
    })
    request.addEventListener('load', () => {
      if (new URL(request.responseURL).pathname !== action.split('?')[0]) {
        window.addEventListener('pagehide', stop, { once: true }) // busy until then
        return location.assign(request.responseURL)
      }
      stop()
      refresh(new DOMParser().parseFromString(request.responseText, 'text/html')) // the form again, with what is wrong
    })
    request.open('POST', action)
    request.send(new FormData(form, event.submitter))
  })
}
