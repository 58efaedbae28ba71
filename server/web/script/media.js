// Media of posts: the viewer of pictures is loaded at the first press. Without this script a press leads to the file.

// press opens the viewer at a picture, whose post may have more.
async function press(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  const link = event.target.closest('.gallery a.picture') ?? event.target.closest('.rest > details > summary')?.nextElementSibling.querySelector('a.picture')
  if (!link) return
  event.preventDefault()
  try {
    const { view } = await import('./viewer.js')
    await view(link)
  } catch {
    location.href = link.href
  }
}

// still shows the first frame of an animation that has no still picture, instead of a placeholder.
function still(picture) {
  const animation = new Image()
  animation.addEventListener('load', () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: animation.naturalWidth, height: animation.naturalHeight })
    canvas.getContext('2d').drawImage(animation, 0, 0)
    try {
      picture.src = canvas.toDataURL()
    } catch {} // it came from another host: the placeholder remains
  })
  animation.src = picture.closest('a').href
}

// Videos without a poster show their first frame, and animations theirs, when they come near the window.
const nearby = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue
    nearby.unobserve(target)
    if (target.matches('video')) target.preload = 'metadata'
    else still(target)
  }
}, { rootMargin: '200px' })

export const lateMedia = '.gallery video:not([poster]), .gallery img[data-still]'
export const showWhenNear = (element) => nearby.observe(element)

// One sound at a time.
function hush({ target }) {
  for (const other of document.querySelectorAll('audio, video')) if (other !== target) other.pause()
}

document.addEventListener('click', press)
document.addEventListener('play', hush, true)
