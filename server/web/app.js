// What the pages gain from JavaScript. Everything works without it.
'use strict'

// Times are shown in the reader's own time zone.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime)
  if (Number.isNaN(at.getTime())) continue
  time.title = at.toLocaleString(document.documentElement.lang)
}
