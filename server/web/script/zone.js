// Tells the server the browser's time zone, for times that it writes into pages and reads from forms.

const name = 'tz'
const year = 365 * 24 * 60 * 60

// rememberZone stores the time zone in a cookie. A user's own choice in the settings has precedence on the server.
export function rememberZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!zone || !/^[A-Za-z0-9_+/-]{1,64}$/.test(zone)) {
    return
  }
  const cookie = `${name}=${zone}`
  if (document.cookie.split('; ').includes(cookie)) {
    return
  }
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  document.cookie = `${cookie}; Path=/; Max-Age=${year}; SameSite=Lax${secure}`
}
