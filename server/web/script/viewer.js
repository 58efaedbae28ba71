// The viewer of the pictures of a post: zoom, swipe, keys; Back closes it.
import PhotoSwipe from './library/photoswipe.js'

const near = (name) => new URL(name, import.meta.url).href

// ready resolves when the style and the texts have loaded.
const ready = Promise.all([
  new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: near('library/photoswipe.css'), onload: resolve, onerror: reject })
    document.head.append(link)
  }),
  import(near(`viewer-${document.documentElement.lang}.js`)).then((m) => m.default),
])

// slide returns what PhotoSwipe wants to know of a picture. If its size is unknown, it has the shape of its preview until it has loaded.
function slide(link) {
  const preview = link.querySelector('img')
  const [width, height] = link.dataset.size?.split('x').map(Number) ?? [preview.naturalWidth || 800, preview.naturalHeight || 600]
  return { src: link.href, msrc: preview.currentSrc, width, height, alt: preview.alt, element: link, guessed: !link.dataset.size, description: descriptionOf(link) }
}

const descriptionOf = (link) => link.parentElement.querySelector('.description p')?.textContent ?? ''

// caption shows the description of the present picture.
function caption(viewer) {
  viewer.on('uiRegister', () => viewer.ui.registerElement({
    name: 'caption', order: 9, isButton: false, appendTo: 'root', className: 'viewer-caption',
    onInit: (element) => {
      element.dir = 'auto'
      element.setAttribute('aria-live', 'polite')
      viewer.on('change', () => {
        element.textContent = viewer.currSlide.data.description
        element.hidden = !element.textContent
        element.tabIndex = element.scrollHeight > element.clientHeight ? 0 : -1
      })
    },
  }))
}

// closeByBack adds an entry to the history, which Back leaves, and every other way of closing, too.
function closeByBack(viewer) {
  let closed = false
  const back = () => { closed = true; viewer.close() }
  history.pushState({ ...history.state, viewer: true }, '')
  addEventListener('popstate', back, { once: true })
  viewer.on('destroy', () => {
    removeEventListener('popstate', back)
    if (!closed) history.back()
  })
}

// view shows the pictures of a post, beginning with that of a link.
export async function view(link) {
  const [, texts] = await ready
  const gallery = link.closest('.rest')?.parentElement ?? link.closest('.gallery')
  const links = [...gallery.querySelectorAll('a.picture')]
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches
  const viewer = new PhotoSwipe({
    dataSource: links.map(slide), index: links.indexOf(link), loop: false, bgOpacity: 0.95, returnFocus: false, // it would return it to the button of the mouse
    showHideAnimationType: 'none', zoomAnimationDuration: still ? 0 : 250,
    closeTitle: texts.close, zoomTitle: texts.zoom, arrowPrevTitle: texts.previous, arrowNextTitle: texts.next, errorMsg: texts.failed,
  })
  caption(viewer)
  viewer.on('loadComplete', ({ content, slide }) => {
    if (!content.data.guessed || !content.element?.naturalWidth) return
    Object.assign(content.data, { width: content.element.naturalWidth, height: content.element.naturalHeight, guessed: false })
    if (slide) viewer.refreshSlideContent(slide.index)
  })
  viewer.on('destroy', () => link.focus({ preventScroll: true }))
  viewer.init()
  viewer.element.setAttribute('aria-label', texts.title)
  viewer.element.setAttribute('aria-modal', 'true')
  closeByBack(viewer)
}
