package pages

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc/server/rest"
	"svc/server/web"
)

// resource is a page of staff with the rows of an endpoint, a form that adds one, and actions on each.
type resource struct {
	web.Resource
	path     string // of the page
	list     string // endpoint with the rows
	member   string // of its answer that has the rows; "": the answer is the list
	paged    bool   // by cursors
	numbered bool   // paged by number
	selects  string // parameter of the page and of the endpoint that selects rows; "": none
	create   string // endpoint that adds a row; "": none
	method   string // of it; "": POST
	done     string // what the page says afterwards; "": saved
	inputs   func(*page) []web.Input
	change   *rowChange // nil: rows cannot be changed
	actions  []rowAction
	buttons  func(row any) []web.RowButton    // further ones; nil: none
	preview  func(*page) (web.Content, error) // asks before a row is added; nil: it does not
	more     []moreForm
}

// moreForm is a further form of a resource.
type moreForm struct {
	name   string // in its path, below that of the page
	form   web.StaffForm
	create string // endpoint
	done   string // what the page says afterwards
	inputs func(*page) []web.Input
}

// path returns where the form is sent.
func (f *moreForm) path(s *resource) string { return s.path + "/" + f.name }

// rowAction is an action on a row.
type rowAction struct {
	label  string
	method string
	path   string // of the endpoint, with a query; {id} stands for a member of the row
	ask    string // the question before it, as askParam; "": none
	unless string // member of the row that must not be true
	only   string // member of the row that must be true
}

func (h *Handlers) resourceRoutes() rest.Routes {
	routes := make(rest.Routes)
	for _, s := range resources {
		access := rest.SignedIn
		if s.Files {
			access = access.Uploads()
		}
		routes["GET "+s.path] = rest.Route{Access: rest.SignedIn, Handle: h.page(func(p *page) (any, error) { return s.show(p, http.StatusOK, "") })}
		if s.create != "" {
			routes["POST "+s.path] = rest.Route{Access: access, Handle: h.page(s.add)}
		}
		if s.change != nil {
			maps.Copy(routes, s.changeRoutes(h))
		}
		for _, f := range s.more {
			access := rest.SignedIn
			if f.form.Files {
				access = access.Uploads()
			}
			routes["POST "+f.path(s)] = rest.Route{Access: access, Handle: h.page(func(p *page) (any, error) { return s.addMore(p, f) })}
		}
	}
	return routes
}

// show shows the rows.
func (s *resource) show(p *page, status int, message string) (any, error) {
	content := s.Resource
	content.Action, content.Error = s.path, message
	var answer any
	var arguments url.Values
	number, _ := strconv.Atoi(p.URL.Query().Get("page"))
	number = max(number, 1)
	switch {
	case s.paged:
		arguments = p.cursors(staffPerPage)
	case s.numbered:
		arguments = url.Values{"page": {strconv.Itoa(number)}, "page_size": {staffPerPage}}
	}
	paging := s.path + "?page="
	if selected := p.URL.Query().Get(s.selects); s.selects != "" && selected != "" {
		arguments.Set(s.selects, selected)
		paging = s.path + "?" + url.Values{s.selects: {selected}}.Encode() + "&page="
	}
	a, err := p.list(s.list, arguments, &answer)
	if err != nil {
		return nil, err
	}
	if s.paged {
		content.Newer, content.Older = p.links(a)
	}
	if _, isList := answer.([]any); !isList {
		answer = member(answer, s.member)
	}
	rows, _ := answer.([]any)
	for _, row := range rows {
		content.Rows = append(content.Rows, s.row(p, row))
	}
	if s.numbered && number > 1 {
		content.Newer = paging + strconv.Itoa(number-1)
	}
	if s.numbered && strconv.Itoa(len(rows)) == staffPerPage {
		content.Older = paging + strconv.Itoa(number+1)
	}
	if s.inputs != nil {
		content.Inputs = s.inputs(p)
		if p.URL.Path == s.path && message != "" {
			p.refill(content.Inputs)
		}
	}
	for _, f := range s.more {
		form := f.form
		form.Action, form.Inputs = f.path(s), f.inputs(p)
		if p.URL.Path == form.Action && message != "" {
			p.refill(form.Inputs)
			form.Open = true
		}
		content.Forms = append(content.Forms, form)
	}
	return p.show(status, content)
}

// refill puts the entered values into the fields of a form that is shown again.
func (p *page) refill(inputs []web.Input) {
	for i := range inputs {
		if text, ok := p.Entered(inputs[i].Name); ok {
			inputs[i].Value, inputs[i].Checked = text, text == "true"
		}
		if inputs[i].Zone == "" {
			continue
		}
		if zone, err := web.Zone(p.Query(inputs[i].ZoneName())); err == nil {
			inputs[i].Zone = zone.String() // the entered time is in it
		}
	}
}

// staffPerPage is the length of a list of staff.
const staffPerPage = "40"

func (s *resource) row(p *page, row any) (r web.Row) {
	for _, c := range s.Columns {
		r.Cells = append(r.Cells, p.cell(c, member(row, c.From)))
	}
	if s.change != nil {
		r.URL = s.change.url(s, row)
	}
	for _, a := range s.actions {
		if a.unless != "" && member(row, a.unless) == true || a.only != "" && member(row, a.only) != true {
			continue
		}
		action := "/web/do" + fillPath(a.path, row)
		separator := "?"
		if strings.Contains(action, "?") {
			separator = "&"
		}
		action += separator + methodParam + "=" + a.method
		if a.ask != "" {
			action += "&" + url.Values{askParam: {a.ask}, namedParam: {r.Cells[0]}, doneParam: {"deleted"}}.Encode()
		}
		r.Buttons = append(r.Buttons, web.RowButton{Label: a.label, Action: action, Danger: a.ask != ""})
	}
	if s.buttons != nil {
		r.Buttons = append(r.Buttons, s.buttons(row)...)
	}
	return r
}

// cell returns a value as it stands in a table.
func (p *page) cell(c web.Column, value any) string {
	switch c.Kind {
	case "date":
		if at, err := time.Parse(time.RFC3339, textOf(value)); err == nil {
			return p.frame.Messages.DateTime(at, p.frame.Zone)
		}
	case "unix":
		if seconds, ok := value.(float64); ok {
			return p.frame.Messages.DateTime(time.Unix(int64(seconds), 0), p.frame.Zone)
		}
	case "yes":
		if value == true {
			return p.text("admin.yes")
		}
		return p.text("admin.no")
	case "severity":
		name, _, _ := strings.Cut(p.text("admin.severity_"+textOf(value)), ":")
		return name
	case "log":
		return p.frame.Messages.LogMessage(textOf(value))
	case "names":
		list, _ := value.([]any)
		var names []string
		for _, v := range list {
			names = append(names, textOf(v))
		}
		return strings.Join(names, ", ")
	}
	return textOf(value)
}

// add calls the endpoint that adds a row.
func (s *resource) add(p *page) (any, error) {
	method := s.method
	if method == "" {
		method = http.MethodPost
	}
	if _, confirmed := p.Entered(confirmedParam); s.preview != nil && !confirmed {
		content, err := s.preview(p)
		if e := forUser(err); e != nil && e.Status != http.StatusForbidden {
			return s.show(p, e.Status, e.Message)
		}
		if err != nil {
			return nil, err
		}
		return p.show(http.StatusOK, content)
	}
	err := p.send(method, s.create, s.inputs(p))
	if e := forUser(err); e != nil && e.Status != http.StatusForbidden {
		return s.show(p, e.Status, e.Message)
	}
	if err != nil {
		return nil, err
	}
	done := s.done
	if done == "" {
		done = "saved"
	}
	return p.leave(s.path, done, ""), nil
}

// timeInput returns a field for a time in the zone of the user.
func (p *page) timeInput(name, label, hint string) web.Input {
	zone := p.frame.Zone
	if zone == nil {
		zone = time.UTC
	}
	return web.Input{Name: name, Kind: "datetime-local", Label: "admin." + label, Hint: hint, Zone: zone.String()}
}

// send calls an endpoint with what a form sent. Its times are those of the zones that it names.
func (p *page) send(method, path string, inputs []web.Input) error {
	times, without := make(url.Values), append([]string{confirmedParam}, ownParams...)
	for _, i := range inputs {
		text, ok := p.Entered(i.Name)
		if i.Zone == "" || !ok {
			continue
		}
		at, err := p.enteredTime(text, p.Query(i.ZoneName()))
		if err != nil {
			return err
		}
		times.Set(i.Name, at)
		without = append(without, i.ZoneName())
	}
	a, err := p.ForwardWith(method, path, times, without...)
	if err != nil {
		return err
	}
	return failure(a)
}

// confirmedParam says that what a preview shows was confirmed.
const confirmedParam = "confirmed"

// addMore calls the endpoint of a further form.
func (s *resource) addMore(p *page, f moreForm) (any, error) {
	a, err := p.Forward(http.MethodPost, f.create, ownParams...)
	if err == nil {
		err = failure(a)
	}
	if e := forUser(err); e != nil && e.Status != http.StatusForbidden {
		return s.show(p, e.Status, e.Message)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(s.path, f.done, ""), nil
}

var pathField = regexp.MustCompile(`\{([a-z_.]+)\}`)

// fillPath replaces {member} in a path and its query by members of a row.
func fillPath(path string, row any) string {
	path, query, has := strings.Cut(path, "?")
	fill := func(text string, escape func(string) string) string {
		return pathField.ReplaceAllStringFunc(text, func(name string) string { return escape(textOf(member(row, name[1:len(name)-1]))) })
	}
	path = fill(path, url.PathEscape)
	if has {
		path += "?" + fill(query, url.QueryEscape)
	}
	return path
}
