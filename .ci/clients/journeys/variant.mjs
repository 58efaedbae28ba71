// The variants of the journeys: how the browser of a person is set up.
import assert from 'node:assert/strict'

const desktop = { viewport: { width: 1280, height: 800 }, locale: 'en-US', timezoneId: 'Europe/Berlin' }
const variants = {
  desktop,
  phone: { ...desktop, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  'no-script': { ...desktop, javaScriptEnabled: false },
  german: { ...desktop, locale: 'de-DE' },
  zone: { ...desktop, locale: 'fr-CA', timezoneId: 'America/St_Johns' }, // half an hour beside the others; pages in English
}

export const variant = process.env.JOURNEYS || 'desktop'
export const options = variants[variant]
assert(options, `no such variant: ${variant}`)

// scripts is false in the variant without JavaScript; touch is true where fingers press.
export const scripts = options.javaScriptEnabled !== false
export const touch = options.hasTouch === true
export const language = options.locale.startsWith('de') ? 'de' : 'en'
