package server

import (
	"svc/server/rest"
	"svc/store"
)

// listRoutes are the lists that people make of accounts. What their members post is in timelines.go.
func (s *Server) listRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/lists":                 {rest.User("read:lists"), s.lists},
		"POST /api/v1/lists":                {rest.User("write:lists"), s.createList},
		"GET /api/v1/lists/:id":             {rest.User("read:lists"), s.showList},
		"PUT /api/v1/lists/:id":             {rest.User("write:lists"), s.updateList},
		"DELETE /api/v1/lists/:id":          {rest.User("write:lists"), s.deleteList},
		"GET /api/v1/lists/:id/accounts":    {rest.User("read:lists"), s.listMembers},
		"POST /api/v1/lists/:id/accounts":   {rest.User("write:lists"), s.addToList},
		"DELETE /api/v1/lists/:id/accounts": {rest.User("write:lists"), s.removeFromList},
	}
}

// lists returns the viewer's lists.
func (s *Server) lists(r *rest.Request) (any, error) {
	rows, err := s.db.Lists(r.Context(), r.Viewer.ID)
	if err != nil {
		return nil, err
	}
	return s.entities.UserLists(rows), nil
}

// listForm is what people choose of a list. What is nil stays as it is.
type listForm struct {
	Title         *string              `param:"title"`
	RepliesPolicy *store.RepliesPolicy `param:"replies_policy"`
	Exclusive     *bool                `param:"exclusive"`
}

func (f *listForm) apply(l *store.List) {
	if f.Title != nil {
		l.Title = *f.Title
	}
	if f.RepliesPolicy != nil {
		l.RepliesPolicy = *f.RepliesPolicy
	}
	if f.Exclusive != nil {
		l.Exclusive = *f.Exclusive
	}
}

// createList makes a list without members.
func (s *Server) createList(r *rest.Request) (any, error) {
	var p listForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var l store.List
	p.apply(&l)
	if err := s.social.CreateList(r.Context(), r.Viewer, &l); err != nil {
		return nil, err
	}
	return s.entities.UserList(&l), nil
}

// ownList returns the list of the path, which has to be the viewer's.
func (s *Server) ownList(r *rest.Request) (*store.List, error) {
	return s.db.OwnList(r.Context(), r.Viewer.ID, listParam(r))
}

func listParam(r *rest.Request) store.ListID {
	var id store.ListID
	id.UnmarshalText([]byte(r.Param("id")))
	return id
}

// showList returns one list.
func (s *Server) showList(r *rest.Request) (any, error) {
	l, err := s.ownList(r)
	if err != nil {
		return nil, err
	}
	return s.entities.UserList(l), nil
}

// updateList changes title and policies of a list.
func (s *Server) updateList(r *rest.Request) (any, error) {
	var p listForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	l, err := s.social.UpdateList(r.Context(), r.Viewer, listParam(r), p.apply)
	if err != nil {
		return nil, err
	}
	return s.entities.UserList(l), nil
}

// deleteList removes a list.
func (s *Server) deleteList(r *rest.Request) (any, error) {
	return nil, s.social.DeleteList(r.Context(), r.Viewer, listParam(r))
}

// maxUnpagedMembers is more than a list can have: web front ends do not turn pages here.
const maxUnpagedMembers = 1000

// listMembers returns the members of a list, all at once unless a limit is given.
func (s *Server) listMembers(r *rest.Request) (any, error) {
	l, err := s.ownList(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(maxUnpagedMembers, maxUnpagedMembers)
	ids, err := s.db.ListMembers(r.Context(), l.ID, page.Page)
	return s.accountPage(r, page, ids, err)
}

// addToList makes accounts members of a list.
func (s *Server) addToList(r *rest.Request) (any, error) {
	ids, err := accountIDs(r)
	if err != nil {
		return nil, err
	}
	return nil, s.social.AddToList(r.Context(), r.Viewer, listParam(r), ids)
}

// removeFromList ends memberships.
func (s *Server) removeFromList(r *rest.Request) (any, error) {
	ids, err := accountIDs(r)
	if err != nil {
		return nil, err
	}
	return nil, s.social.RemoveFromList(r.Context(), r.Viewer, listParam(r), ids)
}

func accountIDs(r *rest.Request) ([]store.AccountID, error) {
	var p struct {
		IDs []store.AccountID `param:"account_ids"`
	}
	err := r.Bind(&p)
	return p.IDs, err
}
