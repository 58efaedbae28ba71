package server

import (
	"strings"

	"svc/internal/text"
	"svc/server/entity"
	"svc/store"
)

// searchRoutes look for accounts, hashtags and posts at once.
var searchRoutes = routes{
	"GET /api/v2/search": {content("read:search").limit("search"), (*Server).search},
}

// results is what a search finds. All three lists are always there.
type results struct {
	Accounts entity.List[entity.Account] `json:"accounts"`
	Statuses entity.List[*entity.Status] `json:"statuses"`
	Hashtags []entity.Tag                `json:"hashtags"`
}

// search finds accounts by handle and name, hashtags by their beginning, and a post by its address.
func (s *Server) search(r *Request) (any, error) {
	var p struct {
		Q         string `param:"q,required"`
		Type      string `param:"type"`
		Following bool   `param:"following"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	q := strings.TrimSpace(p.Q)
	page := r.Page(20, 40)
	found := results{Accounts: entity.List[entity.Account]{}, Statuses: entity.List[*entity.Status]{}, Hashtags: []entity.Tag{}}
	if q == "" {
		return found, nil
	}
	wanted := func(kind string) bool {
		return p.Type == kind || p.Type != "accounts" && p.Type != "hashtags" && p.Type != "statuses"
	}
	if wanted("statuses") && page.Offset == 0 {
		st, err := s.statusOfAddress(r, q)
		if err != nil {
			return nil, err
		}
		if st != nil { // an address names one thing
			found.Statuses = append(found.Statuses, st)
			return found, nil
		}
	}
	if wanted("accounts") && !strings.HasPrefix(q, "#") {
		ids, err := s.db.SearchAccounts(r.Context(), store.AccountSearch{
			Text: q, Host: s.settings.Host(), Viewer: viewerID(r), Following: p.Following, Offset: page.Offset, Limit: page.Limit,
		})
		if err != nil {
			return nil, err
		}
		if found.Accounts, err = s.renderAccounts(r, ids); err != nil {
			return nil, err
		}
	}
	if name := text.TagName(q); wanted("hashtags") && name != "" {
		names, err := s.db.SearchTags(r.Context(), name, page.Limit+page.Offset)
		if err != nil {
			return nil, err
		}
		for _, n := range names[min(page.Offset, len(names)):] {
			found.Hashtags = append(found.Hashtags, entity.Tag{Name: n, URL: text.TagURL(s.baseURL, n)})
		}
	}
	return found, nil
}

// statusOfAddress returns the post that an address names, nil if it names none that the viewer may see.
func (s *Server) statusOfAddress(r *Request, q string) (*entity.Status, error) {
	if !strings.HasPrefix(q, "https://") && !strings.HasPrefix(q, "http://") {
		return nil, nil
	}
	st, err := s.db.StatusByURI(r.Context(), q)
	if err != nil {
		return nil, err
	}
	if st == nil && strings.HasPrefix(q, s.baseURL+"/") {
		var id store.StatusID
		id.UnmarshalText([]byte(q[strings.LastIndexByte(q, '/')+1:]))
		st = &store.Status{ID: id}
	}
	if st == nil {
		return nil, nil
	}
	rows, err := s.db.VisibleStatuses(r.Context(), viewerID(r), []store.StatusID{st.ID})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return s.entities.Status(r.Context(), r.Viewer, st.ID)
}
