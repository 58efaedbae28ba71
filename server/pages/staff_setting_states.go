package pages

import (
	"net/url"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/web"
)

// settingState is a setting as the API has it.
type settingState struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Kind        config.Kind `json:"kind"`
	Size        bool        `json:"size"`
	Value       any         `json:"value"`
	Default     any         `json:"default"`
	Changed     bool        `json:"changed"`
	Restart     bool        `json:"restart"`
	FileOnly    bool        `json:"file_only"`
}

// settingStates are all settings.
type settingStates struct {
	Configurable bool           `json:"configurable_from_database"`
	Settings     []settingState `json:"settings"`
}

// settingStates returns the settings with their values and defaults.
func (p *page) settingStates() (s settingStates, err error) {
	return s, p.get("/api/v1/svc/admin/settings", nil, &s)
}

// named returns the setting with a name.
func (s *settingStates) named(name string) *settingState {
	for i := range s.Settings {
		if s.Settings[i].Name == name {
			return &s.Settings[i]
		}
	}
	return &settingState{Name: name}
}

// changeable returns true if a setting can be changed on the pages.
func (s *settingStates) changeable(state *settingState) bool {
	return s.Configurable && !state.FileOnly
}

// shownSetting returns a setting as the page with a path shows it.
func (p *page) shownSetting(all *settingStates, name, label, path string) web.ShownSetting {
	s := all.named(name)
	m := p.frame.Messages
	shown := web.ShownSetting{
		SettingName: name, Changed: s.Changed, Restart: s.Restart,
		Now:     m.SettingValue(web.SettingValue{Kind: s.Kind, Size: s.Size, Value: s.Value}),
		Default: m.SettingValue(web.SettingValue{Kind: s.Kind, Size: s.Size, Value: s.Default}),
	}
	shown.Label, shown.About = p.settingTexts(name, label, s.Description)
	if _, _, own := m.SettingText(name); !own && m.Language != web.StandardLanguage {
		shown.Lang = web.StandardLanguage // of the texts of the API
	}
	if s.Changed && all.changeable(s) {
		query := url.Values{methodParam: {"DELETE"}, doneParam: {"saved"}, backParam: {path + "#" + shown.Anchor()}}
		shown.Reset = "/web/do" + settingPath + url.PathEscape(name) + "?" + query.Encode()
	}
	return shown
}

// groupPath returns the path of the page of a group of settings.
func groupPath(id string) string { return "/web/admin/settings/" + url.PathEscape(id) }

// labelled is a setting with its label.
type labelled struct{ name, label string }

// labels returns the settings of a description with their labels. A part of a setting is labelled with both words.
func (d *settingDescription) labels() (list []labelled) {
	for _, name := range d.Settings {
		label := d.Label
		if len(d.Settings) > 1 {
			label += " (" + name[strings.LastIndexByte(name, '.')+1:] + ")"
		}
		list = append(list, labelled{name, label})
	}
	for _, child := range d.Children {
		for _, l := range child.labels() {
			list = append(list, labelled{l.name, d.Label + ": " + l.label})
		}
	}
	return list
}

// maxSettingQuery bounds a search of settings, in bytes.
const maxSettingQuery = 400

var errLongQuery = errs.Invalid("The search is too long.")

// findSettings returns the settings that have all words of a query in their name, label or description, or in the title of their group, in the
// language of the page.
func (p *page) findSettings(query string, groups []settingDescription, all *settingStates) (found []web.FoundSetting, err error) {
	if len(query) > maxSettingQuery {
		return nil, errLongQuery
	}
	words := strings.Fields(strings.ToLower(query))
	for _, g := range groups {
		title := p.groupTitle(g)
		for i := range g.Children {
			for _, l := range g.Children[i].labels() {
				s := p.shownSetting(all, l.name, l.label, groupPath(g.id()))
				text := strings.ToLower(strings.Join([]string{s.SettingName, s.Label, s.About, title}, "\n"))
				if !containsAll(text, words) {
					continue
				}
				s.URL = groupPath(g.id()) + "#" + s.Anchor()
				found = append(found, web.FoundSetting{ShownSetting: s, Group: title})
			}
		}
	}
	return found, nil
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
