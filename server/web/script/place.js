// Where things stand in the window.

// showAbove scrolls as little as needed so that an element is seen, or its beginning if it is higher than the window. What is fixed at the edges covers nothing of it.
export function showAbove(element) {
  const box = element.getBoundingClientRect()
  const top = (document.querySelector('.bar')?.offsetHeight ?? 0) + 8
  const bottom = innerHeight - (document.querySelector('.bottom')?.offsetHeight ?? 0) - 8
  if (box.top < top || box.bottom - box.top > bottom - top) scrollBy({ top: box.top - top, behavior: 'instant' })
  else if (box.bottom > bottom) scrollBy({ top: box.bottom - bottom, behavior: 'instant' })
}
