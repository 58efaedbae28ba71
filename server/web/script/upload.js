// A long upload shows how far it is.
import { refresh, say } from './parts.js'

export function showProgress(form) {
  form.addEventListener('submit', (event) => {
    const files = [...form.querySelectorAll('input[type=file]')].some((f) => f.files.length > 0)
    if (!files || event.defaultPrevented) return
    event.preventDefault()
    const action = event.submitter?.getAttribute('formaction') ?? form.getAttribute('action')
    const bar = Object.assign(document.createElement('progress'), { max: 1, value: 0 })
    event.submitter?.after(bar)
    const request = new XMLHttpRequest()
    request.upload.addEventListener('progress', (e) => { if (e.lengthComputable) bar.value = e.loaded / e.total })
    request.addEventListener('error', () => {
      bar.remove()
      say(document.getElementById('act')?.dataset.unreached)
    })
    request.addEventListener('load', () => {
      bar.remove()
      if (new URL(request.responseURL).pathname !== action.split('?')[0]) return location.assign(request.responseURL)
      refresh(new DOMParser().parseFromString(request.responseText, 'text/html')) // the form again, with what is wrong
    })
    request.open('POST', action)
    request.send(new FormData(form, event.submitter))
  })
}
