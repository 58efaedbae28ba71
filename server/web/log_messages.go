package web

import "strings"

// logPrefix begins the keys of entries of the moderation log. Their English texts continue the name of the actor, as the API sends them.
const logPrefix = "log."

// commandLine is how the API names the actor of an entry that has no account.
const commandLine = "the command line "

var logEntries = indexSentences(languages[0], logPrefix)

// LogMessage returns an entry of the moderation log in the language of the page, as it is if the catalogue does not have it.
func (m *Messages) LogMessage(text string) string {
	actor, what, ok := strings.Cut(text, " ")
	if rest, byCommand := strings.CutPrefix(text, commandLine); byCommand {
		actor, what = m.Text("log_actor.command_line"), rest
	} else if !ok || !strings.HasPrefix(actor, "@") {
		return text
	}
	translated, ok := logEntries.translate(m, what)
	if !ok {
		return text
	}
	return actor + " " + translated
}
