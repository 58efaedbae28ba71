package server

import (
	"context"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// lists serves the lists of accounts that users make. Their timelines are in timelines.go.
type lists struct{ *parts }

func (h *lists) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/lists":                 {rest.User("read:lists").Answers("[]List"), h.lists},
		"POST /api/v1/lists":                {rest.User("write:lists").Written().Answers("List"), h.createList},
		"GET /api/v1/lists/:id":             {rest.User("read:lists").Answers("List"), h.showList},
		"PUT /api/v1/lists/:id":             {rest.User("write:lists").Answers("List"), h.updateList},
		"DELETE /api/v1/lists/:id":          {rest.User("write:lists").Answers("empty"), operation(h.Social.DeleteList)},
		"GET /api/v1/lists/:id/accounts":    {rest.User("read:lists").Answers("[]Account"), h.listMembers},
		"POST /api/v1/lists/:id/accounts":   {rest.User("write:lists").Answers("empty"), h.changeMembers(h.Social.AddToList)},
		"DELETE /api/v1/lists/:id/accounts": {rest.User("write:lists").Answers("empty"), h.changeMembers(h.Social.RemoveFromList)},
	}
}

// lists returns the viewer's lists.
func (h *lists) lists(r *rest.Request) (any, error) {
	rows, err := h.DB.Lists(r.Context(), r.Viewer.ID)
	return answerList(rows, err, entity.NewUserList)
}

// listForm are the parameters of a list. Nil leaves a member unchanged.
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

// createList creates an empty list.
func (h *lists) createList(r *rest.Request) (any, error) {
	var p listForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	var l store.List
	p.apply(&l)
	if err := h.Social.CreateList(r.Context(), r.Viewer, &l); err != nil {
		return nil, err
	}
	return entity.NewUserList(&l), nil
}

// ownList returns the viewer's list of the path.
func (h *lists) ownList(r *rest.Request) (*store.List, error) {
	return h.DB.OwnList(r.Context(), r.Viewer.ID, listParam(r))
}

func listParam(r *rest.Request) store.ListID { return store.ParseID[store.ListID](r.Param("id")) }

// showList returns one of the viewer's lists.
func (h *lists) showList(r *rest.Request) (any, error) {
	l, err := h.ownList(r)
	return answer(l, err, entity.NewUserList)
}

// updateList changes the title and the policies of a list.
func (h *lists) updateList(r *rest.Request) (any, error) {
	var p listForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	l, err := h.Social.UpdateList(r.Context(), r.Viewer, listParam(r), p.apply)
	return answer(l, err, entity.NewUserList)
}

// maxUnpagedMembers is above the number of members that a list can have, because web front ends do not page them.
const maxUnpagedMembers = 1000

// listMembers lists the members of a list, all of them by default.
func (h *lists) listMembers(r *rest.Request) (any, error) {
	l, err := h.ownList(r)
	if err != nil {
		return nil, err
	}
	page := r.Page(maxUnpagedMembers, maxUnpagedMembers)
	part, err := h.DB.ListMembers(r.Context(), l.ID, page.Page)
	return h.render.accountPage(r, page, part, err)
}

// changeMembers returns a handler that adds accounts to a list or removes them.
func (h *lists) changeMembers(change func(context.Context, *store.Account, store.ListID, []store.AccountID) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		var p struct {
			IDs []store.AccountID `param:"account_ids"`
		}
		if err := r.Bind(&p); err != nil {
			return nil, err
		}
		return nil, change(r.Context(), r.Viewer, listParam(r), p.IDs)
	}
}
