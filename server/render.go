package server

import (
	"context"
	"encoding"
	"strconv"

	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// renderer renders the answers that several resources have in common.
type renderer struct{ *parts }

// account renders one account for the viewer.
func (h *renderer) account(r *rest.Request, id store.AccountID) (any, error) {
	return only(h.accounts(r, []store.AccountID{id}))
}

// accounts renders accounts, with relationships if the request asks for them.
func (h *renderer) accounts(r *rest.Request, ids []store.AccountID) (list entity.List[entity.Account], err error) {
	if withRelationships(r) {
		list, err = h.Entities.AccountsWithRelationships(r.Context(), r.Viewer, ids)
	} else {
		list, err = h.Entities.Accounts(r.Context(), ids)
	}
	if r.User != nil && r.User.Staff() {
		for i := range list {
			list[i] = list[i].ForStaff()
		}
	}
	return list, err
}

// accountPage renders a page of accounts with their ids as cursors.
func (h *renderer) accountPage(r *rest.Request, page rest.Page, part store.Part[store.AccountID], err error) (entity.List[entity.Account], error) {
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	return rest.List(r, page, ids, func(i int) string { return ids[i].String() }, flakeCursor(part.Next), h.showAccounts(r))
}

// showAccounts returns accounts for the renderer of a list.
func (h *renderer) showAccounts(r *rest.Request) func([]store.AccountID) (entity.List[entity.Account], error) {
	return func(ids []store.AccountID) (entity.List[entity.Account], error) { return h.accounts(r, ids) }
}

// firstAccounts renders accounts of a list without pages, as many as an answer may have.
func (h *renderer) firstAccounts(r *rest.Request, ids []store.AccountID) (entity.List[entity.Account], error) {
	list, _, err := rest.Fit(r, ids, false, h.showAccounts(r))
	return list, err
}

// firstStatuses is firstAccounts for statuses.
func (h *renderer) firstStatuses(r *rest.Request, ids []store.StatusID) (entity.List[*entity.Status], error) {
	list, _, err := rest.Fit(r, ids, false, h.showStatuses(r))
	return list, err
}

// showStatuses is showAccounts for statuses.
func (h *renderer) showStatuses(r *rest.Request) func([]store.StatusID) (entity.List[*entity.Status], error) {
	return func(ids []store.StatusID) (entity.List[*entity.Status], error) {
		return h.Entities.Statuses(r.Context(), r.Viewer, ids)
	}
}

func (h *renderer) relationship(r *rest.Request, id store.AccountID) (*entity.Relationship, error) {
	return only(h.Entities.Relationships(r.Context(), r.Viewer, []store.AccountID{id}))
}

// answer renders the result of an operation, unless it failed.
func answer[R, E any](row R, err error, render func(R) E) (any, error) {
	if err != nil {
		return nil, err
	}
	return render(row), nil
}

// answerList renders a list that was read, unless that failed.
func answerList[R, E any](rows []R, err error, render func(R) E) (any, error) {
	if err != nil {
		return nil, err
	}
	return entity.Map(rows, render), nil
}

// only returns the one element of a list that was rendered.
func only[E any](list []E, err error) (element E, _ error) {
	if err == nil && len(list) == 0 {
		err = errs.ErrRecordNotFound
	}
	if err != nil {
		return element, err
	}
	return list[0], nil
}

// operation returns a handler that runs an operation on the row of the path, and answers with {}.
func operation[ID any, P interface {
	*ID
	encoding.TextUnmarshaler
}](run func(context.Context, *store.Account, ID) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return nil, run(r.Context(), r.Viewer, store.ParseID[ID, P](r.Param("id")))
	}
}

// statusAction returns a handler that runs an operation on the status of the path, and answers with the status.
func (h *renderer) statusAction(run func(context.Context, *store.Account, store.StatusID) (*store.Status, error)) rest.Handler {
	return func(r *rest.Request) (any, error) {
		st, err := run(r.Context(), r.Viewer, statusParam(r))
		return h.status(r, st, err)
	}
}

// accountAction returns a handler that runs an operation on the account of the path, and answers with its relationship.
func (h *renderer) accountAction(run func(context.Context, *store.Account, store.AccountID) error) rest.Handler {
	return func(r *rest.Request) (any, error) {
		return h.relationshipAfter(r, run(r.Context(), r.Viewer, accountParam(r)))
	}
}

// status renders the result of an operation on a status.
func (h *renderer) status(r *rest.Request, st *store.Status, err error) (*entity.Status, error) {
	if err != nil {
		return nil, err
	}
	return h.Entities.Status(r.Context(), r.Viewer, st.ID)
}

// statusEntries renders a page of statuses with cursors other than their ids.
func (h *renderer) statusEntries(r *rest.Request, page rest.Page, part store.Part[store.StatusEntry], err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	rows := part.Rows
	ids := entity.Map(rows, func(row store.StatusEntry) store.StatusID { return row.StatusID })
	return rest.List(r, page, ids, func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) }, decimalCursor(part.Next), h.showStatuses(r))
}

// accountEntries renders a page of accounts with cursors other than their ids.
func (h *renderer) accountEntries(r *rest.Request, page rest.Page, part store.Part[store.AccountEntry], err error) (entity.List[entity.Account], error) {
	if err != nil {
		return nil, err
	}
	rows := part.Rows
	ids := entity.Map(rows, func(row store.AccountEntry) store.AccountID { return row.AccountID })
	return rest.List(r, page, ids, func(i int) string { return strconv.FormatInt(rows[i].Cursor, 10) }, decimalCursor(part.Next), h.showAccounts(r))
}

// relationshipAfter answers an operation on the account of the path with its relationship.
func (h *renderer) relationshipAfter(r *rest.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return h.relationship(r, accountParam(r))
}

// credentialAccount renders an account for itself. UnreadCounts of details are filled in.
func (h *renderer) credentialAccount(r *rest.Request, a *store.Account, u *store.User, details entity.CredentialDetails) (account entity.Account, err error) {
	if details.UnreadCounts, err = h.DB.UnreadCounts(r.Context(), a.ID); err != nil {
		return account, err
	}
	if account, err = h.Entities.CredentialAccount(r.Context(), a, u, details); err == nil && u.Staff() {
		account = account.ForStaff()
	}
	return account, err
}

// statusPage renders a page of statuses with their ids as cursors.
func (h *renderer) statusPage(r *rest.Request, page rest.Page, part store.Part[store.StatusID], err error) (entity.List[*entity.Status], error) {
	if err != nil {
		return nil, err
	}
	ids := part.Rows
	return rest.List(r, page, ids, func(i int) string { return ids[i].String() }, flakeCursor(part.Next), h.showStatuses(r))
}

// flakeCursor returns the cursor of a position in a list whose cursors are flakes, "" for 0.
func flakeCursor(position int64) string {
	if position == 0 {
		return ""
	}
	return store.StatusID(position).String()
}

// decimalCursor is flakeCursor for lists with decimal cursors.
func decimalCursor(position int64) string {
	if position == 0 {
		return ""
	}
	return strconv.FormatInt(position, 10)
}
