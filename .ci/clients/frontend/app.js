// A small front end in the manner of this API family: routes of its own beside the API, an app of its own, sign-in by password or by
// code, the home timeline with updates from a socket, and posts. It finds everything under the name of its family.
const main = document.querySelector('#main')
const family = (await (await fetch('/static/family.json')).json()).name

// api calls an endpoint as the user who has signed in and returns its answer.
async function api(path, body, method = body ? 'POST' : 'GET') {
  const token = sessionStorage.token
  const response = await fetch(path, {
    method,
    headers: { ...(body && { 'Content-Type': 'application/json' }), ...(token && { Authorization: `Bearer ${token}` }) },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error_description ?? answer.error)
  return answer
}

// element returns an element with attributes and children. Texts are never parsed.
function element(name, attributes = {}, ...children) {
  const e = Object.assign(document.createElement(name), attributes)
  e.append(...children)
  return e
}

const field = (label, input) => element('label', {}, label, input)

const redirectURI = `${location.origin}/oauth-callback`

// app returns the registration of this front end, which the browser keeps.
async function app() {
  localStorage.app ??= JSON.stringify(await api('/api/v1/apps', {
    client_name: 'Trial front end', redirect_uris: redirectURI, scopes: 'read write follow push admin', website: location.origin,
  }))
  return JSON.parse(localStorage.app)
}

async function token(grant) {
  const { client_id, client_secret } = await app()
  sessionStorage.token = (await api('/oauth/token', { client_id, client_secret, redirect_uri: redirectURI, ...grant })).access_token
}

async function signIn() {
  const { client_id } = await app()
  const nickname = element('input', { name: 'nickname', autocomplete: 'username', required: true })
  const password = element('input', { name: 'password', type: 'password', autocomplete: 'current-password', required: true })
  const fault = element('p', { id: 'fault' })
  fault.setAttribute('role', 'alert')
  const form = element('form', {}, element('h2', {}, 'Sign in'), field('Name', nickname), field('Password', password), element('button', {}, 'Sign in'), fault)
  form.onsubmit = async (event) => {
    event.preventDefault()
    try {
      await token({ grant_type: 'password', username: nickname.value, password: password.value, scope: 'read write follow push admin' })
      go('/main/friends')
    } catch (error) {
      fault.textContent = error.message
    }
  }
  const query = new URLSearchParams({ response_type: 'code', client_id, redirect_uri: redirectURI, scope: 'read write follow push admin' })
  main.replaceChildren(form, element('p', {}, element('a', { href: `/oauth/authorize?${query}` }, 'Sign in on the page of the server')))
}

async function takeCode() {
  await token({ grant_type: 'authorization_code', code: new URLSearchParams(location.search).get('code') })
  history.replaceState(null, '', '/main/friends')
  await home()
}

// post returns a status as an article. Its content is HTML that the server has sanitized.
function post(status) {
  const content = element('div')
  content.setHTMLUnsafe(status.content)
  const favourite = element('button', {}, 'Favourite')
  favourite.onclick = async () => {
    const { favourites_count } = await api(`/api/v1/statuses/${status.id}/favourite`, {})
    favourite.textContent = `Favourite (${favourites_count})`
  }
  const link = element('a', { href: `/notice/${status.id}` }, new Date(status.created_at).toISOString())
  return element('article', { id: status.id }, element('strong', {}, `@${status.account.acct}`), ' ', link, content, favourite)
}

async function home() {
  const account = await api('/api/v1/accounts/verify_credentials')
  const text = element('textarea', { name: 'status', required: true })
  const list = element('section')
  list.setAttribute('aria-label', 'Home timeline')
  const form = element('form', {}, field('New post', text), element('button', {}, 'Post'))
  form.onsubmit = async (event) => {
    event.preventDefault()
    await api('/api/v1/statuses', { status: text.value, visibility: 'public', content_type: 'text/plain' })
    text.value = ''
  }
  const out = element('button', {}, 'Sign out')
  out.onclick = async () => {
    const { client_id, client_secret } = await app()
    await api('/oauth/revoke', { client_id, client_secret, token: sessionStorage.token })
    delete sessionStorage.token
    go('/')
  }
  const avatar = element('img', { src: account.avatar, alt: `Picture of ${account.acct}` })
  const role = element('p', { id: 'role' }, account[family].is_admin ? 'Administrator' : 'User')
  main.replaceChildren(element('h2', {}, `Home of @${account.acct}`), avatar, role, form, list, out)
  list.append(...(await api('/api/v1/timelines/home')).map(post))
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/v1/streaming?stream=user&access_token=${sessionStorage.token}`)
  socket.onopen = () => { main.dataset.streaming = 'yes' }
  socket.onmessage = ({ data }) => {
    const { event, payload } = JSON.parse(data)
    if (event === 'update') list.prepend(post(JSON.parse(payload)))
  }
}

async function notice(id) {
  main.replaceChildren(element('h2', {}, 'Post'), post(await api(`/api/v1/statuses/${id}`)))
}

function go(path) {
  history.pushState(null, '', path)
  show()
}

async function show() {
  delete main.dataset.streaming
  const [, first, second] = location.pathname.split('/')
  if (first === 'oauth-callback') await takeCode()
  else if (first === 'notice') await notice(second)
  else if (sessionStorage.token) await home()
  else await signIn()
}

const [instance, nodeInfo, configurations] = await Promise.all(
  ['/api/v1/instance', '/nodeinfo/2.0.json', `/api/${family}/frontend_configurations`].map((path) => api(path)))
const { features } = instance[family].metadata
document.querySelector('#server').textContent = `${nodeInfo.software.name}: ${instance.title}, ${features.length} features, ` +
  `theme ${configurations[`${family}_fe`]?.theme ?? 'none'}`
window.onpopstate = show
await show()
document.documentElement.dataset.ready = 'yes'
