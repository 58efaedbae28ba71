package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) settingGroupRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/admin/settings":        {rest.SignedIn, h.page((*page).settingGroups)},
		"GET /web/admin/settings/:key":   {rest.SignedIn, h.page((*page).settingGroup)},
		"POST /web/admin/settings/:key":  {rest.SignedIn, h.page((*page).saveSettingGroup)},
		"GET /web/admin/setting/:name":   {rest.SignedIn, h.page((*page).setting)},
		"POST /web/admin/setting/:name":  {rest.SignedIn, h.page((*page).saveSetting)},
		"POST /web/admin/server/restart": {rest.SignedIn, h.page((*page).restartServer)},
	}
}

const configPath = "/api/v1/svc/admin/config"

// settingDescription describes a group of settings or a setting.
type settingDescription struct {
	Group       string               `json:"group"`
	Key         string               `json:"key"`
	Label       string               `json:"label"`
	Type        any                  `json:"type"`
	Description string               `json:"description"`
	Children    []settingDescription `json:"children"`
	Settings    []string             `json:"settings"`
}

// id returns the key of a group in paths.
func (d *settingDescription) id() string { return strings.TrimPrefix(d.Key, ":") }

// groupTitle and groupAbout return the title and the description of a group.
func (p *page) groupTitle(g settingDescription) string {
	return p.text("admin.setting_groups." + g.word())
}

func (p *page) groupAbout(g settingDescription) string {
	return p.text("admin.setting_about." + g.word())
}

// word returns the name of a group in the messages. Its key is such as :server_tls or, with the name of the API, Svc.User.Backup.
func (g *settingDescription) word() string {
	name, module, isModule := strings.Cut(g.id(), ".")
	if isModule {
		name = strings.ToLower(strings.ReplaceAll(module, ".", "_"))
	}
	return name
}

// settingGroups lists the groups of the server's settings, or with q the settings that match a search.
func (p *page) settingGroups() (any, error) {
	var groups []settingDescription
	if err := p.get(configPath+"/descriptions", nil, &groups); err != nil {
		return nil, err
	}
	all, err := p.settingStates()
	if err != nil {
		return nil, err
	}
	var state struct {
		NeedReboot bool `json:"need_reboot"`
	}
	if err := p.get("/api/v1/svc/admin/need_reboot", nil, &state); err != nil {
		return nil, err
	}
	content := web.SettingGroups{
		Title: "admin.settings.title", Restart: state.NeedReboot && all.Configurable, Searchable: true, FileOnly: !all.Configurable,
		Query: strings.TrimSpace(p.URL.Query().Get("q")),
	}
	if content.Query != "" {
		if content.Found, err = p.findSettings(content.Query, groups, &all); err != nil {
			return nil, err
		}
	}
	for _, g := range groups {
		content.Groups = append(content.Groups, web.PlainLink{Title: p.groupTitle(g), Hint: p.groupAbout(g), URL: groupPath(g.id())})
	}
	return p.show(http.StatusOK, content)
}

// settingsOfGroup is a group of settings with what its page shows of them.
type settingsOfGroup struct {
	settingDescription
	values map[string]any // of the form, by subkey; nil: only the settings file can change settings
	all    settingStates
}

// describedGroup returns the group that the path names.
func (p *page) describedGroup() (*settingsOfGroup, error) {
	var groups []settingDescription
	if err := p.get(configPath+"/descriptions", nil, &groups); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(groups, func(g settingDescription) bool { return g.id() == p.Param("key") })
	if i < 0 {
		return nil, errNoPage
	}
	g := &settingsOfGroup{settingDescription: groups[i]}
	var err error
	if g.all, err = p.settingStates(); err == nil && g.all.Configurable {
		g.values, err = p.groupValues(g.Key)
	}
	return g, err
}

// groupValues returns the values of the settings of a group as the endpoint for front ends has them, by subkey.
func (p *page) groupValues(key string) (map[string]any, error) {
	var stored struct {
		Configs []struct {
			Key   string `json:"key"`
			Value any    `json:"value"`
		} `json:"configs"`
	}
	if err := p.get(configPath, nil, &stored); err != nil {
		return nil, err
	}
	values := make(map[string]any)
	for _, c := range stored.Configs {
		list, ok := c.Value.([]any)
		if c.Key != key || !ok {
			continue
		}
		for _, pair := range list {
			if name := textOf(member(pair, "tuple.0")); name != "" {
				values[name] = member(pair, "tuple.1")
			}
		}
	}
	return values, nil
}

func (p *page) settingGroup() (any, error) {
	group, err := p.describedGroup()
	if err != nil {
		return nil, err
	}
	return p.groupForm(http.StatusOK, group, "")
}

// groupForm shows the settings of a group. Those with several parts have a page of their own.
func (p *page) groupForm(status int, group *settingsOfGroup, message string) (any, error) {
	content := web.SettingGroup{
		Title: p.groupTitle(group.settingDescription), Intro: p.groupAbout(group.settingDescription), Error: message, Action: p.URL.EscapedPath(),
		FileOnly: !group.all.Configurable,
	}
	for _, d := range group.Children {
		for _, l := range d.labels() {
			s := p.shownSetting(&group.all, l.name, l.label, groupPath(group.id()))
			changeable := group.all.changeable(group.all.named(l.name))
			kind := inputKind(d.Type)
			if kind == "" || !changeable {
				if changeable {
					s.URL = "/web/admin/setting/" + url.PathEscape(l.name)
				}
				content.Others = append(content.Others, s)
				continue
			}
			s.Input = web.Input{Name: d.id(), Kind: kind, Plain: true, Label: s.Label, Hint: s.About, Value: settingText(group.values[d.Key]), Checked: group.values[d.Key] == true}
			if text, ok := p.Entered(d.id()); ok && message != "" {
				s.Input.Value, s.Input.Checked = text, text == "true"
			}
			content.Fields = append(content.Fields, s)
		}
	}
	return p.show(status, content)
}

// setting shows a setting as the settings file has it.
func (p *page) setting() (any, error) { return p.settingForm(http.StatusOK, "") }

const settingPath = "/api/v1/svc/admin/settings/"

func (p *page) settingForm(status int, message string) (any, error) {
	var setting struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := p.get(settingPath+url.PathEscape(p.Param("name")), nil, &setting); err != nil {
		return nil, err
	}
	all, err := p.settingStates()
	if err != nil {
		return nil, err
	}
	content := web.ServerSetting{
		Error: message, SettingName: setting.Name, Value: setting.Value, Action: p.URL.EscapedPath(), FileOnly: !all.changeable(all.named(setting.Name)),
		State: p.shownSetting(&all, setting.Name, setting.Name, p.URL.EscapedPath()),
	}
	if text, ok := p.Entered("value"); ok && message != "" {
		content.Value = text
	}
	return p.show(status, content)
}

// saveSetting stores a setting.
func (p *page) saveSetting() (any, error) {
	_, err := p.Forward("PUT", settingPath+url.PathEscape(p.Param("name")), ownParams...)
	if e := forUser(err); e != nil && e.Status == http.StatusBadRequest {
		return p.settingForm(e.Status, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(p.URL.EscapedPath(), "saved", ""), nil
}

// inputKind returns the kind of field for a type of setting, "" if there is none.
func inputKind(kind any) string {
	switch kind {
	case "string":
		return "text"
	case "integer":
		return "number"
	case "float":
		return "text"
	case "boolean":
		return "checkbox"
	}
	if list, ok := kind.([]any); ok && len(list) == 2 && list[0] == "list" && (list[1] == "string" || list[1] == "atom") {
		return "textarea"
	}
	return ""
}

// settingText returns a value as it stands in its field: a list has a line for each element.
func settingText(value any) string {
	list, ok := value.([]any)
	if !ok {
		return textOf(value)
	}
	var lines []string
	for _, element := range list {
		lines = append(lines, textOf(element))
	}
	return strings.Join(lines, "\n")
}

// settingValue is the reverse of settingText.
func settingValue(kind, text string) (any, error) {
	switch kind {
	case "checkbox":
		return text == "true", nil
	case "number":
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, errs.Invalid("%q is not a whole number.", text)
		}
		return n, nil
	case "textarea":
		list := []string{}
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		return list, nil
	}
	return text, nil
}

// saveSettingGroup stores the settings of a group that were changed, all or none.
func (p *page) saveSettingGroup() (any, error) {
	group, err := p.describedGroup()
	if err != nil {
		return nil, err
	}
	var changed []any
	for _, s := range group.Children {
		text, sent := p.Entered(s.id())
		text = strings.ReplaceAll(text, "\r\n", "\n")
		kind := inputKind(s.Type)
		if !sent || kind == "" || text == settingText(group.values[s.Key]) {
			continue
		}
		value, err := settingValue(kind, text)
		if err != nil {
			label := s.labels()[0] // a setting with a field has one part
			name, _ := p.settingTexts(label.name, label.label, "")
			return p.groupForm(http.StatusUnprocessableEntity, group, p.text("admin.settings.not_whole", name, text))
		}
		if number, err := strconv.ParseFloat(text, 64); err == nil && s.Type == "float" {
			value = number
		}
		changed = append(changed, map[string]any{"tuple": []any{s.Key, value}})
	}
	if len(changed) > 0 {
		_, err = p.CallJSON("POST", configPath, map[string]any{
			"configs": []any{map[string]any{"group": group.Group, "key": group.Key, "value": changed}},
		})
	}
	if e := forUser(err); e != nil && e.Status != http.StatusForbidden {
		return p.groupForm(e.Status, group, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(p.URL.EscapedPath(), "saved", ""), nil
}

// restartServer restarts the server after this answer.
func (p *page) restartServer() (any, error) {
	if _, err := p.Call("POST", "/api/v1/svc/admin/restart", nil); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, web.Notice{Title: p.text("admin.settings.restarting"), Paragraphs: []string{p.text("admin.settings.wait")}, Back: "/web/admin/settings"})
}
