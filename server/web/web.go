// Package web renders the pages that people see in a browser: signing in and consent for apps, the first account, a new password, and
// the web interface of server/pages. They are HTML that works without scripts, on small screens, in the dark and with screen readers.
// All have one frame, one style and the texts of the catalogues below messages. The handlers of packages server, server/oauth and
// server/pages decide their content.
package web
