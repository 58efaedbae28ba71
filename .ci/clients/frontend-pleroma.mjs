#!/usr/bin/env node
// frontend.mjs with a front end of the Pleroma family, against a server with that name.
process.env.API_NAME = 'pleroma'
await import('./frontend.mjs')
