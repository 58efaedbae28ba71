package server

import (
	"strconv"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// renderer renders the answers that several resources have in common.
type renderer struct {
	db       *store.DB
	entities *entity.Builder
}

// account renders one account for the viewer.
func (h *renderer) account(r *rest.Request, id store.AccountID) (any, error) {
	accounts, err := h.accounts(r, []store.AccountID{id})
	if err != nil {
		return nil, err
	}
	if len(accounts) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return accounts[0], nil
}

// accounts renders accounts, with relationships if the request asks for them.
func (h *renderer) accounts(r *rest.Request, ids []store.AccountID) (entity.List[entity.Account], error) {
	if withRelationships(r) {
		return h.entities.AccountsWithRelationships(r.Context(), r.Viewer, ids)
	}
	return h.entities.Accounts(r.Context(), ids)
}

// accountPage renders a page of accounts with their ids as cursors.
func (h *renderer) accountPage(r *rest.Request, page rest.Page, ids []store.AccountID, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(ids), func(i int) string { return ids[i].String() })
	return h.accounts(r, ids)
}

// relationship returns the relationship of the viewer with one account.
func (h *renderer) relationship(r *rest.Request, id store.AccountID) (*entity.Relationship, error) {
	list, err := h.entities.Relationships(r.Context(), r.Viewer, []store.AccountID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return list[0], nil
}

// status renders the result of an operation on a status.
func (h *renderer) status(r *rest.Request, st *store.Status, err error) (*entity.Status, error) {
	if err != nil {
		return nil, err
	}
	return h.entities.Status(r.Context(), r.Viewer, st.ID)
}

// statusEntries renders a page of statuses with cursors other than their ids.
func (h *renderer) statusEntries(r *rest.Request, page rest.Page, rows []store.StatusEntry, err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) })
	ids := make([]store.StatusID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.StatusID)
	}
	return h.entities.Statuses(r.Context(), r.Viewer, ids)
}

// accountEntries renders a page of accounts with cursors other than their ids.
func (h *renderer) accountEntries(r *rest.Request, page rest.Page, rows []store.AccountEntry, err error) (entity.List[entity.Account], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(rows), func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) })
	ids := make([]store.AccountID, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.AccountID)
	}
	return h.accounts(r, ids)
}

// relationshipAfter answers an operation on the account of the path with its relationship.
func (h *renderer) relationshipAfter(r *rest.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return h.relationship(r, accountParam(r))
}

// credentialAccount renders an account for itself.
func (h *renderer) credentialAccount(r *rest.Request, a *store.Account, u *store.User, settings bool) (entity.Account, error) {
	counts, err := h.db.UnreadCounts(r.Context(), a.ID)
	if err != nil {
		return entity.Account{}, err
	}
	return h.entities.CredentialAccount(r.Context(), a, u, entity.CredentialDetails{UnreadCounts: counts, SettingsStore: settings})
}

// statusPage renders a page of statuses with their ids as cursors.
func (h *renderer) statusPage(r *rest.Request, page rest.Page, ids []store.StatusID, err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	r.LinkPage(page, len(ids), func(i int) string { return ids[i].String() })
	return h.entities.Statuses(r.Context(), r.Viewer, ids)
}
