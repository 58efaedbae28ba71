package pages

import (
	"net/http"
	"net/url"
	"strings"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) filterRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/filters":           {rest.SignedIn, h.page((*page).filters)},
		"GET /web/filters/new":       {rest.SignedIn, h.page((*page).newFilter)},
		"POST /web/filters/new":      {rest.SignedIn, h.page((*page).saveFilter)},
		"GET /web/filters/edit/:id":  {rest.SignedIn, h.page((*page).editFilter)},
		"POST /web/filters/edit/:id": {rest.SignedIn, h.page((*page).saveFilter)},
	}
}

// filters shows the viewer's filters.
func (p *page) filters() (any, error) {
	var content web.Filters
	if err := p.get("/api/v2/filters", nil, &content.Filters); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, content)
}

func (p *page) newFilter() (any, error) {
	return p.show(http.StatusOK, web.EditFilter{Filter: web.Filter{Action: "warn", Context: []string{"home", "notifications"}}, Durations: filterDurations()})
}

func (p *page) editFilter() (any, error) {
	var f web.Filter
	if err := p.get(filterPath(p.Param("id")), nil, &f); err != nil {
		return nil, err
	}
	return p.show(http.StatusOK, web.EditFilter{Filter: f, Durations: filterDurations()})
}

func filterPath(id string) string { return "/api/v2/filters/" + url.PathEscape(id) }

func filterDurations() []web.Choice {
	return durations(standardDurations[1], standardDurations[len(standardDurations)-1])
}

// filterForm is what the form for a filter sends. The keywords are rows: those with an id exist, and are removed if their text is empty.
type filterForm struct {
	Title      string   `param:"title"`
	Context    []string `param:"context"`
	Action     string   `param:"filter_action"`
	ExpiresIn  string   `param:"expires_in"`
	KeywordIDs []string `param:"keyword_ids"`
	Keywords   []string `param:"keywords"`
	Whole      []string `param:"whole_words"` // yes or no
}

// saveFilter stores a filter, or shows the form again with what is wrong.
func (p *page) saveFilter() (any, error) {
	var f filterForm
	if err := p.Bind(&f); err != nil {
		return nil, err
	}
	body := map[string]any{"title": f.Title, "context": append([]string{}, f.Context...), "filter_action": f.Action}
	switch f.ExpiresIn {
	case "": // unchanged
	case "never":
		body["expires_in"] = nil
	default:
		body["expires_in"] = f.ExpiresIn
	}
	shown := web.Filter{ID: p.Param("id"), Title: f.Title, Context: f.Context, Action: f.Action}
	var rows []map[string]any
	for i, text := range f.Keywords {
		if i >= len(f.KeywordIDs) || i >= len(f.Whole) {
			break
		}
		id, text, whole := f.KeywordIDs[i], strings.TrimSpace(text), f.Whole[i] == "yes"
		row := map[string]any{"keyword": text, "whole_word": whole}
		switch {
		case id == "" && text == "":
			continue
		case id != "" && text == "":
			row = map[string]any{"id": id, "_destroy": true}
		case id != "":
			row["id"] = id
		}
		rows = append(rows, row)
		shown.Keywords = append(shown.Keywords, web.FilterKeyword{ID: id, Keyword: text, WholeWord: whole})
	}
	body["keywords_attributes"] = append([]map[string]any{}, rows...)
	method, path := http.MethodPost, "/api/v2/filters"
	if shown.ID != "" {
		method, path = http.MethodPut, filterPath(shown.ID)
	}
	_, err := p.CallJSON(method, path, body)
	if e := forUser(err); e != nil && e.Status != http.StatusNotFound {
		return p.show(e.Status, web.EditFilter{Filter: shown, Error: e.Message, ExpiresIn: f.ExpiresIn, Durations: filterDurations()})
	}
	if err != nil {
		return nil, err
	}
	return p.leave("/web/filters", "saved", ""), nil
}
