// Helpers of the megalodon suites: clients in one of its modes, and the check of a registration.
import assert from 'node:assert/strict'
import generator from 'megalodon'
import { BASE_URL, check, isA, PASSWORD } from './lib.mjs'

export const scopes = ['read', 'write', 'follow', 'push']
export const refused = (status, call) => assert.rejects(call, (error) => error.response?.status === status)
export const inHours = (n) => new Date(Date.now() + n * 3_600_000).toISOString()

// clients returns functions for a mode: client makes a client of a token; signIn, given an app and a user, returns the client, the account
// and the token; checkRegistration registers dora.
export function clients(mode) {
  const client = (token) => generator(mode, BASE_URL, token)

  async function signIn({ client_id, client_secret }, username) {
    const grant = { grant_type: 'password', client_id, client_secret, username, password: PASSWORD, scope: scopes.join(' ') }
    const { data } = await client().client.post('/oauth/token', grant)
    const signedIn = client(data.access_token)
    return [signedIn, isA('account', (await signedIn.verifyAccountCredentials()).data), data]
  }

  const checkRegistration = ({ client_id, client_secret }) => check('registerAccount', async () => {
    const { data } = await client().client.post('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret, scope: 'read write' })
    const token = isA('token', (await client(data.access_token).registerAccount('dora', 'dora@example.org', PASSWORD, true, 'en')).data)
    assert.equal((await client(token.access_token).verifyAccountCredentials()).data.acct, 'dora')
  })

  return { client, signIn, checkRegistration }
}
