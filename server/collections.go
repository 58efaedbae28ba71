package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// collections serves collections of accounts ("starter packs", FEP-7aa9): those of local accounts, and the remote ones that local accounts are in.
type collections struct{ *parts }

func (h *collections) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/accounts/:id/collections":                     {rest.Content("read:collections").Answers("Collections"), h.listOfAccount},
		"GET /api/v1/accounts/:id/in_collections":                  {rest.User("read:collections").Answers("Collections"), h.listInCollections},
		"POST /api/v1/collections":                                 {rest.User("write:collections").Written().Answers("WrappedCollection|WrittenCollection"), h.create},
		"GET /api/v1/collections/:id":                              {rest.Content("read:collections").Answers("CollectionWithAccounts"), h.show},
		"PATCH /api/v1/collections/:id":                            {rest.User("write:collections").Written().Answers("WrappedCollection|WrittenCollection"), h.update},
		"DELETE /api/v1/collections/:id":                           {rest.User("write:collections").Answers("empty"), operation(h.Social.DeleteCollection)},
		"POST /api/v1/collections/:collection_id/items":            {rest.User("write:collections").Written().Answers("WrappedCollectionItem"), h.add},
		"DELETE /api/v1/collections/:collection_id/items/:id":      {rest.User("write:collections").Answers("empty"), h.remove},
		"POST /api/v1/collections/:collection_id/items/:id/revoke": {rest.User("write:collections").Deletes().Answers("empty"), h.revoke},
	}
}

// listOfAccount lists the collections of an account, the newest first. Only the account itself sees those that are not discoverable.
func (h *collections) listOfAccount(r *rest.Request) (any, error) {
	a, err := h.lookup.visibleAccount(r, accountParam(r))
	if err != nil {
		return nil, err
	}
	if err := h.checkUnblocked(r, a.ID); err != nil {
		return nil, err
	}
	page := r.Page(40, 80)
	rows, err := h.DB.CollectionsOf(r.Context(), a.ID, r.Viewer != nil && r.Viewer.ID == a.ID, page.Offset, page.Page)
	if err != nil {
		return nil, err
	}
	list, err := rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", func(rows []*store.Collection) ([]entity.RenderedCollection, error) {
		return h.Entities.Collections(r.Context(), r.Viewer, rows)
	})
	return entity.Collections{Collections: list}, err
}

// listInCollections lists the collections that the viewer is in, the newest first. Those of other accounts are not shown.
func (h *collections) listInCollections(r *rest.Request) (any, error) {
	if accountParam(r) != r.Viewer.ID {
		return nil, errs.Forbidden("This action is not allowed")
	}
	page := r.Page(40, 80)
	rows, err := h.DB.InCollections(r.Context(), r.Viewer.ID, page.Offset, page.Page)
	if err != nil {
		return nil, err
	}
	list, err := rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", func(rows []*store.CollectionItem) ([]entity.RenderedCollection, error) {
		return h.Entities.CollectionsOfItems(r.Context(), r.Viewer, rows)
	})
	return entity.Collections{Collections: list}, err
}

func collectionParam(r *rest.Request, name string) store.CollectionID {
	return store.ParseID[store.CollectionID](r.Param(name))
}

func itemParam(r *rest.Request) store.CollectionItemID {
	return store.ParseID[store.CollectionItemID](r.Param("id"))
}

// show returns a collection with its accounts. One that is not discoverable is shown to who knows its id.
func (h *collections) show(r *rest.Request) (any, error) {
	row, err := h.visible(r, collectionParam(r, "id"))
	if err != nil {
		return nil, err
	}
	return h.Entities.CollectionWithAccounts(r.Context(), r.Viewer, row)
}

// visible returns a collection whose owner the viewer may see.
func (h *collections) visible(r *rest.Request, id store.CollectionID) (*store.Collection, error) {
	row, err := h.DB.Collection(r.Context(), id)
	if err != nil {
		return nil, err
	}
	if _, err = h.lookup.visibleAccount(r, row.AccountID); err != nil {
		return nil, err
	}
	return row, h.checkUnblocked(r, row.AccountID)
}

// checkUnblocked returns an error if the owner of collections blocks the viewer.
func (h *collections) checkUnblocked(r *rest.Request, owner store.AccountID) error {
	if r.Viewer == nil || r.Viewer.ID == owner {
		return nil
	}
	blocked, err := h.DB.Blocks(r.Context(), owner, r.Viewer.ID)
	if err == nil && blocked {
		err = errs.ErrRecordNotFound
	}
	return err
}

// collectionForm are the parameters of a collection. Nil leaves a member unchanged.
type collectionForm struct {
	Name         *string `param:"name"`
	Description  *string `param:"description"`
	Language     *string `param:"language,word"`
	TagName      *string `param:"tag_name"`
	Sensitive    *bool   `param:"sensitive"`
	Discoverable *bool   `param:"discoverable"`
}

func (f *collectionForm) apply(c *store.Collection) {
	for _, member := range []struct{ to, from *string }{
		{&c.Name, f.Name}, {&c.Description, f.Description}, {&c.Language, f.Language}, {&c.Tag, f.TagName},
	} {
		if member.from != nil {
			*member.to = *member.from
		}
	}
	if f.Sensitive != nil {
		c.Sensitive = *f.Sensitive
	}
	if f.Discoverable != nil {
		c.Discoverable = *f.Discoverable
	}
}

// create makes a collection, with accounts if some are given.
func (h *collections) create(r *rest.Request) (any, error) {
	var p struct {
		collectionForm
		AccountIDs []store.AccountID `param:"account_ids"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	c, err := h.Social.CreateCollection(r.Context(), r.Viewer, p.apply, p.AccountIDs)
	return h.written(r, c, err)
}

// update changes the description of a collection.
func (h *collections) update(r *rest.Request) (any, error) {
	var p collectionForm
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	c, err := h.Social.UpdateCollection(r.Context(), r.Viewer, collectionParam(r, "id"), p.apply)
	return h.written(r, c, err)
}

// written returns the collection that a request has written, and only its id if the token may not read it.
func (h *collections) written(r *rest.Request, c *store.Collection, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case !r.MayRead("read:collections"):
		return entity.WrittenCollection{Collection: entity.CollectionReference{ID: c.ID}}, nil
	}
	return h.Entities.Collection(r.Context(), r.Viewer, c)
}

// add adds an account to a collection.
func (h *collections) add(r *rest.Request) (any, error) {
	var p struct {
		AccountID store.AccountID `param:"account_id,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	item, err := h.Social.AddToCollection(r.Context(), r.Viewer, collectionParam(r, "collection_id"), p.AccountID)
	if err != nil {
		return nil, err
	}
	return entity.WrappedCollectionItem{CollectionItem: entity.NewCollectionItem(item)}, nil
}

// remove removes an account from a collection.
func (h *collections) remove(r *rest.Request) (any, error) {
	return nil, h.Social.RemoveFromCollection(r.Context(), r.Viewer, collectionParam(r, "collection_id"), itemParam(r))
}

// revoke removes the viewer from a collection.
func (h *collections) revoke(r *rest.Request) (any, error) {
	return nil, h.Social.RevokeCollectionItem(r.Context(), r.Viewer, collectionParam(r, "collection_id"), itemParam(r))
}
