package dbconfig

import (
	"slices"
	"strings"
	"unicode/utf8"

	"svc/internal/config"
)

// Description describes a row or a subkey to front ends.
type Description struct {
	Group         string        `json:"group,omitempty"`
	Key           string        `json:"key,omitempty"`
	Label         string        `json:"label"`
	Type          any           `json:"type"`
	Description   string        `json:"description"`
	Tab           string        `json:"tab,omitempty"`
	RelatedPolicy string        `json:"related_policy,omitempty"`
	Suggestions   []any         `json:"suggestions"`
	Children      []Description `json:"children"`
	Settings      []string      `json:"settings,omitempty"` // names in the settings file; none if the children have them
}

// policyGroups are the policies whose settings are not named after them.
var policyGroups = map[string]string{
	"mrf_simple": "SimplePolicy", "mrf_subchain": "SubchainPolicy", "mrf_rejectnonpublic": "RejectNonPublic",
	"mrf_antimentionspam": "AntiMentionSpamPolicy", "mrf_mention": "MentionPolicy", "mrf_vocabulary": "VocabularyPolicy",
	"mrf_object_age": "ObjectAgePolicy", "mrf_hellthread": "HellthreadPolicy", "mrf_keyword": "KeywordPolicy", "mrf_hashtag": "HashtagPolicy",
	"mrf_emoji": "EmojiPolicy", "mrf_normalize_markup": "NormalizeMarkup", "mrf_activity_expiration": "ActivityExpirationPolicy",
	"mrf_follow_bot": "FollowBotPolicy", "mrf_user_allowlist": "UserAllowListPolicy", "mrf_steal_emoji": "StealEmojiPolicy",
	"mrf_force_mention": "ForceMention", "mrf_inline_quote": "InlineQuotePolicy", "mrf_remote_report": "RemoteReportPolicy",
	"mrf_dnsrbl": "DNSRBLPolicy", "mrf_nsfw_api": "NsfwApiPolicy",
}

// Sentences that end the description of a setting: it cannot be changed in the database, or a change waits for a restart.
const (
	onlyInFile   = "Only the settings file can change this."
	afterRestart = "A change takes effect after a restart."
)

// Describe returns the descriptions of all settings.
func (c Codec) Describe() []Description {
	var list []Description
	for _, r := range catalog().rows {
		first := r.settings[0]
		d := Description{
			Group: c.fromStandard(r.key.Group), Key: c.fromStandard(r.key.Key), Label: label(r.key.Key), Type: "group", Description: first.About,
			Suggestions: []any{}, Children: []Description{},
		}
		if strings.HasPrefix(first.Group, "mrf") {
			d.Tab = "mrf"
			if policy := policyGroups[first.Group]; policy != "" {
				d.RelatedPolicy = c.fromStandard(policyPrefix + policy)
			}
		}
		for _, s := range r.settings {
			d.Children = c.describe(d.Children, s)
		}
		list = append(list, d)
	}
	return list
}

// describe adds a setting to the children of its row. Settings that are members of an object are children of their subkey.
func (c Codec) describe(children []Description, s placed) []Description {
	about := s.Setting.Description
	switch {
	case FileOnly(s.Group, s.Setting.Key):
		about += " " + onlyInFile
	case s.Restart || s.row.Key == ":rate_limit":
		about += " " + afterRestart
	}
	d := Description{Key: s.subkey, Label: label(s.subkey), Type: s.form.kind, Description: about, Suggestions: c.suggestions(s), Children: []Description{}, Settings: []string{s.Setting.Name()}}
	if s.subkey == "" {
		d.Key, d.Label = s.row.Key, label(s.row.Key)
	}
	i := slices.IndexFunc(children, func(child Description) bool { return child.Key == d.Key })
	switch {
	case s.member == "":
		return append(children, d)
	case s.member == anonymous || s.member == signedIn:
		d.Type = []any{"tuple", []any{"list", "tuple"}}
		if i < 0 {
			d.Description = "Two limits, " + anonymous + " and " + signedIn + ", or one for both. " + about
			return append(children, d)
		}
		children[i].Settings = append(children[i].Settings, d.Settings...)
		return children
	}
	if i < 0 {
		children = append(children, Description{Key: s.subkey, Label: label(s.subkey), Type: "map", Description: s.About, Suggestions: []any{}})
		i = len(children) - 1
	}
	d.Key, d.Label = s.member, label(s.member)
	children[i].Children = append(children[i].Children, d)
	return children
}

// suggestions returns example values of a setting. Booleans are texts.
func (c Codec) suggestions(s placed) []any {
	list := []any{}
	for _, v := range s.Suggestions {
		switch s.Kind {
		case config.List:
			l, _ := s.form.show([]string{v.(string)}).(List)
			list = append(list, c.jsonAll(l)...)
		case config.Number:
			if _, ok := v.(string); ok { // a size such as "200MiB"
				list = append(list, v)
				continue
			}
			fallthrough
		default:
			list = append(list, c.JSON(s.form.show(v)))
		}
	}
	if s.Kind == config.Boolean {
		list = append(list, "true", "false")
	}
	if len(list) == 0 && !s.Secret && s.Default != "" {
		if s.Kind == config.Number || s.Kind == config.Duration || s.Kind == config.Text {
			list = append(list, c.JSON(s.form.show(s.Default)))
		}
	}
	return list
}

// label returns the words of a key: "Upload limit" of ":upload_limit". Modules keep their name.
func label(key string) string {
	name, atom := strings.CutPrefix(key, ":")
	if !atom {
		return key
	}
	name = strings.ReplaceAll(name, "_", " ")
	_, n := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:n]) + name[n:]
}
