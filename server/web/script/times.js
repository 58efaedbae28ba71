// Times are shown as the time that has passed, and exactly in the reader's zone on request.
const units = [['minute', 60], ['hour', 3600], ['day', 86400]]

// zone returns the time zone that the reader has chosen in the settings, undefined for that of the browser, also if the browser does not know it.
function zone() {
  const timeZone = document.documentElement.dataset.zone
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return timeZone
  } catch {
    return undefined
  }
}

export function showTimes(within) {
  const language = document.documentElement.lang
  const timeZone = zone()
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  for (const time of within.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    const seconds = (at - Date.now()) / 1000
    if (Number.isNaN(seconds)) continue
    time.title = at.toLocaleString(language, { timeZone })
    if (!time.dateTime.includes('T') || !/:/.test(time.textContent)) continue // it shows a day
    const [unit, length] = units.findLast(([, length]) => Math.abs(seconds) >= length) ?? units[0]
    time.textContent = Math.abs(seconds) < 7 * 86400
      ? relative.format(Math.trunc(seconds / length), unit)
      : at.toLocaleDateString(language, { year: 'numeric', month: 'short', day: 'numeric', timeZone })
  }
}
