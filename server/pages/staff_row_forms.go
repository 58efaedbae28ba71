package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"svc/server/rest"
	"svc/server/web"
)

// rowChange is the page that changes a row of a resource. Its form has the fields of the form that adds a row.
type rowChange struct {
	title   string   // key of the messages
	key     string   // member of the row that is the last part of the page's path
	row     string   // endpoint with the row, or with a list that has it, as by fillPath with the key
	method  string   // of the endpoint that changes the row
	path    string   // of that endpoint, as by fillPath
	about   string   // member of the row that is shown above the form; "": none
	without []string // fields that only the form that adds a row has

	preview func(p *page, row any) (web.Content, error) // asks before a row is changed, its answer is nil if there is nothing to ask; nil: never
}

// changeRoutes are the routes of the page that changes a row.
func (s *resource) changeRoutes(h *Handlers) rest.Routes {
	path := s.path + "/:key"
	return rest.Routes{
		"GET " + path:  {rest.SignedIn, h.page(s.showChange)},
		"POST " + path: {rest.SignedIn, h.page(s.saveChange)},
	}
}

// url returns the path of the page that changes a row.
func (c *rowChange) url(s *resource, row any) string {
	return s.path + "/" + url.PathEscape(textOf(member(row, c.key)))
}

// find returns the row that the path of the page names.
func (s *resource) find(p *page) (any, error) {
	c, key := s.change, p.Param("key")
	path, query, _ := strings.Cut(fillPath(c.row, map[string]any{c.key: key}), "?")
	arguments, err := url.ParseQuery(query)
	if err != nil {
		return nil, errNoPage
	}
	var answer any
	if err := p.get(path, arguments, &answer); err != nil {
		return nil, err
	}
	if s.member != "" {
		answer = member(answer, s.member)
	}
	rows, isList := answer.([]any)
	if !isList {
		return answer, nil
	}
	i := slices.IndexFunc(rows, func(row any) bool { return textOf(member(row, c.key)) == key })
	if i < 0 {
		return nil, errNoPage
	}
	return rows[i], nil
}

// showChange shows the form with the present values of the row.
func (s *resource) showChange(p *page) (any, error) {
	row, err := s.find(p)
	if err != nil {
		return nil, err
	}
	return s.changeForm(p, http.StatusOK, "", row)
}

// changeForm shows the form. After a failure, it has the entered values in place of those of the row.
func (s *resource) changeForm(p *page, status int, message string, row any) (any, error) {
	c := s.change
	content := web.RowForm{Title: c.title, BackURL: s.path, BackTitle: s.Title, Error: message, Action: c.url(s, row)}
	if c.about != "" {
		content.About = textOf(member(row, c.about))
	}
	for _, i := range s.inputs(p) {
		if slices.Contains(c.without, i.Name) {
			continue
		}
		value := member(row, cmp.Or(i.From, i.Name))
		i.Value, i.Checked = p.enteredAs(i, value), value == true
		content.Inputs = append(content.Inputs, i)
	}
	if message != "" {
		p.refill(content.Inputs)
	}
	return p.show(status, content)
}

// enteredAs returns a value as a field has it: times as browsers write them, in the zone of the user, and words of a list with spaces between
// them.
func (p *page) enteredAs(i web.Input, value any) string {
	if words, ok := value.([]any); ok {
		var texts []string
		for _, word := range words {
			texts = append(texts, textOf(word))
		}
		return strings.Join(texts, " ")
	}
	if i.Zone == "" {
		return textOf(value)
	}
	at, err := time.Parse(time.RFC3339, textOf(value))
	if err != nil {
		return ""
	}
	return web.LocalInput(at, p.frame.Zone)
}

// saveChange calls the endpoint that changes the row. If it refuses the values, the form is shown again.
func (s *resource) saveChange(p *page) (any, error) {
	row, err := s.find(p)
	if err != nil {
		return nil, err
	}
	if _, confirmed := p.Entered(confirmedParam); s.change.preview != nil && !confirmed {
		if content, err := s.change.preview(p, row); err != nil {
			return nil, err
		} else if content != nil {
			return p.show(http.StatusOK, content)
		}
	}
	err = p.send(s.change.method, fillPath(s.change.path, row), s.inputs(p))
	if e := forUser(err); e != nil && e.Status != http.StatusForbidden && e.Status != http.StatusNotFound {
		return s.changeForm(p, e.Status, e.Message, row)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(s.path, "saved", ""), nil
}
