// The steps of an admin in the walk through the forms, see pages-forms.mjs. The two walks change the same server at the same time, so each
// names what it makes after itself.
import { picture } from './lib.mjs'

const saved = 'Saved.'
const button = (name) => `button:text-is("${name}")`

// asked presses a button that asks first, and the button with the question.
const asked = (press, question, more) => [
  { press, see: button(question), ...more },
  { press: question, see: 'h1' },
]

// row adds a row to a table, changes it, and removes it. text is part of the row.
function row({ at, add, fields, confirm, text, change, remove = 'Delete', question = 'Delete it?' }) {
  const within = (u) => `tr:has-text("${text(u)}")`
  return [
    { at, open: [add], more: fields, press: add, see: confirm ? button(confirm) : within },
    ...(confirm ? [{ press: confirm, see: within }] : []),
    ...(change ? [{ within, press: 'Change', see: button('Save') }, { set: change, press: 'Save', see: saved }] : []),
    ...(question ? asked(remove, question, { within }) : [{ within, press: remove, see: 'h1' }]),
    { at, gone: within },
  ]
}

const host = (name) => (u) => `${name}${u.i}.example`
const account = (u) => `/web/admin/accounts/${u.third.id}`
const action = (type, question, undo) => [
  { at: account, set: { type, text: 'Cups' }, press: 'Act on the account', see: button(question) },
  { press: question, see: button(undo) },
  { press: undo, gone: button(undo) },
]
const documentOf = (u) => `/web/admin/documents/${['terms-of-service', 'privacy-policy'][u.i]}`

const applicants = '/web/admin/accounts?status=pending'
const applicant = (u) => `/web/admin/accounts/${u.applicant}`
const listed = (u) => `article.account:has(a[href="${applicant(u)}"])`

// What the steps of a user need, and the answers to registrations.
export const staffBefore = [
  { at: applicants, before: (u) => u.applies('anna'), within: listed, press: 'Approve', gone: listed },
  { at: applicant, before: (u) => u.applies('bea'), press: 'Approve', gone: button('Approve') },
  ...asked('Reject', 'Reject the account?', { at: applicants, before: (u) => u.applies('cleo'), within: listed }),
  { at: applicants, gone: listed },
  ...asked('Reject', 'Reject the account?', { at: applicant, before: (u) => u.applies('dora') }),
  { at: applicants, gone: listed },
  { at: '/web/admin/emoji', set: { name: (u) => `drinks${u.i}` }, press: 'Make a pack', see: saved },
  { at: (u) => `/web/admin/emoji/drinks${u.i}`, set: { file: picture, shortcode: (u) => `tea${u.i}` }, press: 'Add an emoji', see: saved },
]

// After the steps of a user, who sent a report.
export const staffAfter = [
  { at: '/web/admin/reports', press: (u, o) => `@${o.nickname}: Spam`, see: 'Too many cups' },
  { press: 'Take it', see: button('Give it back') },
  { press: 'Give it back', see: button('Take it') },
  { set: { content: 'Looked at it' }, press: 'Add the note', see: 'Looked at it' },
  { within: 'article.panel', press: 'Delete', gone: 'text="Looked at it"' },
  { press: 'Resolve', see: button('Open again') },
  { press: 'Open again', see: button('Resolve') },
  ...asked('Act on the account', 'Limit the account?', { set: { type: 'silence' } }),

  { at: account, before: (u) => u.third('POST', '/api/v1/statuses', { status: 'Cups of the third' }), press: 'Mark as sensitive', see: button('End the sensitive mark') },
  { press: 'End the sensitive mark', see: button('Mark as sensitive') },
  ...asked('Delete the post', 'Delete the post?', { at: account }),
  ...action('sensitive', 'Mark its media as sensitive?', 'End the sensitive mark'),
  ...action('silence', 'Limit the account?', 'End the limit'),
  ...action('suspend', 'Suspend the account?', 'Activate'),
  ...action('disable', 'Deactivate the account?', 'Activate'),
  ...[
    ['Turn off two-factor authentication', 'Turn off two-factor authentication?'], ['Require a new password', 'Require a new password?'],
    ['Make a moderator', 'Make the account a moderator?'], ['End the moderator role', 'End the moderator role?'], ['Make an admin', 'Make the account an admin?'], ['End the admin role', 'End the admin role?'],
  ].flatMap(([press, question]) => asked(press, question, { at: account })),
  ...asked('Act on the account', 'Deactivate the account?', { at: account, set: { type: 'disable' } }),
  ...asked('Delete the account', 'Delete the account?'),

  ...row({ at: '/web/admin/rules', add: 'Add a rule', fields: { text: (u) => `Rule ${u.i}`, hint: 'Be kind' }, text: (u) => `Rule ${u.i}`, change: { priority: '3' } }),
  ...row({ at: '/web/admin/announcements', add: 'Publish an announcement', fields: { content: (u) => `Tea at ${u.i}` }, text: (u) => `Tea at ${u.i}`, change: { ends_at: '2099-01-01T12:00' } }),
  ...row({
    at: '/web/admin/domains', add: 'Block a server', fields: { domain: host('loud'), severity: 'silence', public_comment: 'Noise' }, confirm: 'Block a server',
    text: host('loud'), change: { reject_media: true, private_comment: 'Asked twice' },
  }),
  ...row({ at: '/web/admin/email_domains', add: 'Refuse a domain', fields: { domain: host('mail') }, text: host('mail') }),
  ...row({
    at: '/web/admin/networks', add: 'Block a network', fields: { ip: (u) => `192.0.2.${u.i + 10}`, severity: 'sign_up_requires_approval' }, text: (u) => `192.0.2.${u.i + 10}`,
    change: { comment: 'A network' },
  }),
  ...row({ at: '/web/admin/apps', add: 'Make an app', fields: { name: (u) => `Tray ${u.i}` }, text: (u) => `Tray ${u.i}`, change: { website: 'https://example.org/tray' }, question: 'Delete the app?' }),
  ...row({
    at: '/web/admin/media', add: 'Remove a file', fields: { urls: (u) => `https://far.example/${u.i}.png`, ban: true }, text: (u) => `far.example/${u.i}.png`, remove: 'End the ban', question: '',
  }),
  { at: documentOf, set: { content: '<p>Be kind.</p>' }, press: 'Save', see: saved },
  ...asked('Back to the text of the program', 'Delete your text?'),
  { at: '/web/admin/deliveries', open: ['Find out'], more: { address: 'noisy.example' }, press: 'Find out', see: '[role=alert]', refused: 404 },
  { at: '/web/admin/storage', press: 'Remove unused files now', see: 'The clean-up has begun.' },

  ...asked('Delete', 'Delete the emoji?', { at: (u) => `/web/admin/emoji/drinks${u.i}` }),
  ...asked('Delete the pack', 'Delete the pack?', { at: (u) => `/web/admin/emoji/drinks${u.i}` }),
]
