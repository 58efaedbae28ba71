package pages

import (
	"net/http"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// settingsForm is a page of settings with one form, whose fields are the parameters of an endpoint.
type settingsForm struct {
	web.SettingsForm
	path     string // of the page
	endpoint string // that the form calls
	present  string // endpoint whose answer has the present values; "": the fields begin empty
	done     string // what the page says afterwards
	leaveTo  string // path to go to afterwards; "": the page itself
	groups   func(*page) []web.InputGroup
	check    func(*page) error // fails for values that the endpoint would accept; nil: none
	push     bool              // the page has a button for push messages of the browser
}

func (h *Handlers) settingsRoutes() rest.Routes {
	routes := rest.Routes{
		"GET /web/settings": {rest.SignedIn, h.page((*page).settingsIndex)},
	}
	for _, f := range settingsForms {
		access := rest.SignedIn
		if f.Files {
			access = access.Uploads()
		}
		routes["GET "+f.path] = rest.Route{Access: rest.SignedIn, Handle: h.page(f.show)}
		routes["POST "+f.path] = rest.Route{Access: access, Handle: h.page(f.save)}
	}
	return routes
}

// settingsIndex lists the pages of settings.
func (p *page) settingsIndex() (any, error) {
	list := web.LinkList{Title: "settings.title"}
	for _, name := range []string{
		"profile", "featured_tags", "privacy", "interactions", "notifications", "appearance", "reading", "password", "email", "two_factor", "sessions", "hidden", "moving", "data", "closing",
	} {
		list.Links = append(list.Links, web.Link{Title: "settings." + name + ".title", Hint: "settings." + name + ".about", URL: "/web/settings/" + name})
	}
	return p.show(http.StatusOK, list)
}

// show shows the form with the present values.
func (f *settingsForm) show(p *page) (any, error) {
	present := make(map[string]any)
	if f.present != "" {
		if err := p.get(f.present, nil, &present); err != nil {
			return nil, err
		}
	}
	return f.render(p, http.StatusOK, "", func(i *web.Input) {
		if i.From == "" {
			return
		}
		value := member(present, i.From)
		i.Value, i.Checked = textOf(value), value == true
	})
}

// save calls the endpoint with the fields of the form. If it refuses them, the form is shown again with the entered values.
func (f *settingsForm) save(p *page) (any, error) {
	err := f.send(p)
	if e := forUser(err); e != nil {
		return f.render(p, e.Status, e.Message, func(i *web.Input) {
			if text, ok := p.Entered(i.Name); ok && i.Kind != "password" {
				i.Value, i.Checked = text, text == "true"
			}
		})
	}
	if err != nil {
		return nil, err
	}
	to := f.path
	if f.leaveTo != "" {
		to = f.leaveTo
		if to == "/" { // the account is gone
			p.forget()
		}
	}
	return p.leave(to, f.done, ""), nil
}

// send calls the endpoint, unless the form has a check of its own that fails.
func (f *settingsForm) send(p *page) error {
	if f.check != nil {
		if err := f.check(p); err != nil {
			return err
		}
	}
	a, err := p.Forward(f.Method, f.endpoint, ownParams...)
	if err != nil {
		return err
	}
	return failure(a)
}

func (f *settingsForm) render(p *page, status int, message string, fill func(*web.Input)) (any, error) {
	content := f.SettingsForm
	content.Action, content.Error = f.path, message
	content.Groups = f.groups(p)
	if f.push {
		var instance any
		if err := p.get("/api/v2/instance", nil, &instance); err != nil {
			return nil, err
		}
		content.Push = textOf(member(instance, "configuration.vapid.public_key"))
	}
	for _, g := range content.Groups {
		for i := range g.Inputs {
			fill(&g.Inputs[i])
		}
	}
	return p.show(status, content)
}

// failure returns the error that an endpoint returned as its answer, some of the extension API with status 200; nil if there is none.
func failure(a *rest.Answer) error {
	if result, ok := a.Value.(entity.Result); ok && result.Error != "" {
		return errs.New(http.StatusUnprocessableEntity, "%s", result.Error)
	}
	if a.Status < http.StatusBadRequest {
		return nil
	}
	switch value := a.Value.(type) {
	case string:
		return errs.New(a.Status, "%s", value)
	case map[string]any:
		return errs.New(a.Status, "%s", textOf(value["error"]))
	case []map[string]string:
		if len(value) > 0 {
			return errs.New(a.Status, "%s", value[0]["error"])
		}
	}
	return errs.New(a.Status, "%s", http.StatusText(a.Status))
}

// member returns the value at a path such as source.fields.0.name, nil if there is none; "." is the value itself.
func member(value any, path string) any {
	if path == "." {
		return value
	}
	for _, key := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// textOf returns a value of JSON as it stands in a field.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case []any: // a line each
		lines := make([]string, 0, len(value))
		for _, v := range value {
			lines = append(lines, textOf(v))
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// choices returns the options of a select whose labels are messages with a prefix.
func (p *page) choices(prefix string, values ...string) []web.Choice {
	list := make([]web.Choice, 0, len(values))
	for _, v := range values {
		key := v
		if key == "" {
			key = "none"
		}
		list = append(list, web.Choice{Value: v, Label: p.text(prefix + key)})
	}
	return list
}

// one returns a single group without a heading.
func one(inputs ...web.Input) []web.InputGroup { return []web.InputGroup{{Inputs: inputs}} }

// checkbox and secret return inputs whose label is a message of the settings.
func checkbox(name, from, label string) web.Input {
	return web.Input{Name: name, Kind: "checkbox", From: from, Label: "settings." + label}
}

func secret(name, label, autocomplete string) web.Input {
	return web.Input{Name: name, Kind: "password", Label: "settings." + label, Required: true, MaxLength: 256, Autocomplete: autocomplete}
}

// languageChoices returns the languages of the pages.
func languageChoices() []web.Choice {
	var list []web.Choice
	for _, m := range web.Languages() {
		list = append(list, web.Choice{Value: m.Language, Label: m.Name})
	}
	return list
}
