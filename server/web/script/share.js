// The address of a page is copied, or handed to another program, by a button.
export function share(box) {
  const field = box.querySelector('input')
  const give = navigator.share !== undefined
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'second', textContent: give ? box.dataset.share : box.dataset.copy })
  const said = document.createElement('span')
  said.setAttribute('role', 'status')
  box.append(button, ' ', said)
  button.addEventListener('click', async () => {
    try {
      if (give) return await navigator.share({ title: document.title, url: field.value })
      await navigator.clipboard.writeText(field.value)
      said.textContent = box.dataset.copied
    } catch { // the reader changed their mind, or the browser does not allow it
      field.select()
    }
  })
  field.addEventListener('focus', () => field.select())
}
