package server

import (
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// collections serves the collections of remote accounts that the viewer is in ("starter packs", FEP-7aa9).
type collections struct{ *parts }

func (h *collections) routes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/accounts/:id/in_collections":                  {rest.User("read:collections"), h.listInCollections},
		"GET /api/v1/collections/:id":                              {rest.User("read:collections"), h.show},
		"POST /api/v1/collections/:collection_id/items/:id/revoke": {rest.User("write:collections").Deletes(), h.revoke},
	}
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
	show := func(rows []*store.CollectionItem) ([]entity.RenderedCollection, error) {
		return h.Entities.Collections(r.Context(), rows)
	}
	list, err := rest.List(r, page, rows, func(i int) string { return rows[i].ID.String() }, "", show)
	return entity.Collections{Collections: list}, err
}

// show returns a collection that the viewer is in.
func (h *collections) show(r *rest.Request) (any, error) {
	row, err := h.DB.CollectionItem(r.Context(), store.ParseID[store.CollectionItemID](r.Param("id")))
	if err == nil && (row.TargetID != r.Viewer.ID || row.RevokedAt != nil) {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return nil, err
	}
	return h.Entities.CollectionWithAccounts(r.Context(), row)
}

// revoke removes the viewer from a collection.
func (h *collections) revoke(r *rest.Request) (any, error) {
	if r.Param("id") != r.Param("collection_id") {
		return nil, errs.ErrRecordNotFound
	}
	return nil, h.Social.RevokeCollectionItem(r.Context(), r.Viewer, store.ParseID[store.CollectionItemID](r.Param("id")))
}
