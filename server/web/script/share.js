// The address of a page is copied, or handed to another program, by a button.
export function share(box) {
  const field = box.querySelector('input')
  const button = box.querySelector('button')
  const said = box.querySelector('[role=status]')
  const give = navigator.share !== undefined
  button.textContent = give ? box.dataset.share : box.dataset.copy
  button.hidden = false
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
