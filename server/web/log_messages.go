package web

import (
	"regexp"
	"strings"
	"sync"
)

// logPrefix begins the keys of entries of the moderation log. Their English texts continue the name of the actor, as the API sends them.
const logPrefix = "log."

// commandLine is how the API names the actor of an entry that has no account.
const commandLine = "the command line "

var logEntries = sync.OnceValue(func() *sentences { return indexSentences(Languages()[0], logPrefix) })

// policyTag matches the tags that policies act on.
var policyTag = regexp.MustCompile(`mrf_tag:[a-z-]+`)

// LogMessage returns an entry of the moderation log in the language of the page, as it is if the catalogue does not have it. Tags of accounts are
// named by their effects.
func (m *Messages) LogMessage(text string) string {
	actor, what, ok := strings.Cut(text, " ")
	if rest, byCommand := strings.CutPrefix(text, commandLine); byCommand {
		actor, what = m.Text("log_actor.command_line"), rest
	} else if !ok || !strings.HasPrefix(actor, "@") {
		return text
	}
	translated, ok := logEntries().translate(m, what)
	if !ok {
		return text
	}
	return actor + " " + policyTag.ReplaceAllStringFunc(translated, m.tagEffect)
}

// tagEffect returns what a tag of an account does, the tag itself if it does nothing.
func (m *Messages) tagEffect(tag string) string {
	key := "admin.tags." + strings.ReplaceAll(strings.TrimPrefix(tag, "mrf_tag:"), "-", "_")
	if effect := m.Text(key); effect != key {
		return effect
	}
	return tag
}
