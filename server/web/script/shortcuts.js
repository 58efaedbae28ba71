// Keys for readers who do not use a mouse. They do nothing while a field has the focus.
export function shortcuts() {
  const press = (post, selector) => post?.querySelector(selector)?.click()
  const pages = { h: '/web', n: '/web/notifications', l: '/web/local', s: '/web/search' }
  let going = false
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, [contenteditable]')) return
    const posts = [...document.querySelectorAll('.post')]
    const post = document.activeElement.closest('.post')
    if (going && pages[event.key]) location.href = pages[event.key]
    going = event.key === 'g'
    const step = { j: 1, k: -1 }[event.key]
    if (step && posts.length) {
      const next = posts[Math.max(0, Math.min(posts.length - 1, posts.indexOf(post) + step))]
      next.tabIndex = -1
      next.focus()
    } else if (event.key === 'r') press(post, '.actions a')
    else if (event.key === 'f') press(post, '.actions .star')
    else if (event.key === 'b') press(post, '.actions .boost')
    else if (event.key === 'o') press(post, '.when a')
    else if (event.key === 'c') location.href = '/web/compose'
    else if (event.key === '/') document.getElementById('find')?.focus()
    else return
    event.preventDefault()
  })
}
