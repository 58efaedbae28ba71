package staff

import (
	"context"
	"slices"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// referenceAccountRoutes are the accounts of the reference API, for apps of moderators.
func (h *Handlers) referenceAccountRoutes() rest.Routes {
	read := rest.Privileged(config.UsersRead, "admin:read:accounts")
	activation := rest.Privileged(config.UsersActivation, "admin:write:accounts")
	approval := rest.Privileged(config.UsersInvites, "admin:write:accounts")
	tags := rest.Privileged(config.UsersTags, "admin:write:accounts")
	return rest.Routes{
		"GET /api/v1/admin/accounts":                  {read.Answers("[]ModeratedAccount"), h.listAccounts},
		"GET /api/v2/admin/accounts":                  {read.Answers("[]ModeratedAccount"), h.listAccountsV2},
		"GET /api/v1/admin/accounts/:id":              {read.Answers("ModeratedAccount"), h.showAccount},
		"POST /api/v1/admin/accounts/:id/approve":     {approval.Answers("ModeratedAccount"), h.accountAfter((*admin.Service).ApprovePending)},
		"POST /api/v1/admin/accounts/:id/reject":      {approval.Deletes().Answers("ModeratedAccount"), h.rejectAccount},
		"POST /api/v1/admin/accounts/:id/enable":      {activation.Deletes().Answers("ModeratedAccount"), h.accountAfter(enable)},
		"POST /api/v1/admin/accounts/:id/unsuspend":   {activation.Deletes().Answers("ModeratedAccount"), h.accountAfter((*admin.Service).EndSuspension)},
		"POST /api/v1/admin/accounts/:id/unsilence":   {tags.Deletes().Answers("ModeratedAccount"), h.accountAfter(endAccountAction(admin.SilenceAction))},
		"POST /api/v1/admin/accounts/:id/unsensitive": {tags.Deletes().Answers("ModeratedAccount"), h.accountAfter(endAccountAction(admin.SensitiveAction))},
		"DELETE /api/v1/admin/accounts/:id":           {rest.Privileged(config.UsersDelete, "admin:write:accounts").Answers("ModeratedAccount"), h.deleteAccount},

		// The handler checks the privilege of the action.
		"POST /api/v1/admin/accounts/:id/action": {rest.Staff("admin:write:accounts").Answers("empty"), h.takeAccountAction},
	}
}

// accountFilters are the parameters that both versions of the list have.
type accountFilters struct {
	Username    string `param:"username"`
	DisplayName string `param:"display_name"`
	ByDomain    string `param:"by_domain"`
	Email       string `param:"email"`
	IP          string `param:"ip"`
}

func (f *accountFilters) query() admin.AccountQuery {
	return admin.AccountQuery{Username: f.Username, DisplayName: f.DisplayName, Domain: f.ByDomain, Email: f.Email}
}

// listAccounts lists accounts, newest first.
func (h *Handlers) listAccounts(r *rest.Request) (any, error) {
	var p accountFilters
	var flags struct {
		Local      bool `param:"local"`
		Remote     bool `param:"remote"`
		Active     bool `param:"active"`
		Pending    bool `param:"pending"`
		Disabled   bool `param:"disabled"`
		Silenced   bool `param:"silenced"`
		Suspended  bool `param:"suspended"`
		Sensitized bool `param:"sensitized"`
		Staff      bool `param:"staff"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := r.Bind(&flags); err != nil {
		return nil, err
	}
	q := p.query()
	q.Local, q.Remote, q.Active, q.Pending, q.Disabled = flags.Local, flags.Remote, flags.Active, flags.Pending, flags.Disabled
	q.Silenced, q.Suspended, q.Sensitized, q.Staff = flags.Silenced, flags.Suspended, flags.Sensitized, flags.Staff
	return h.accountPage(r, q, p.IP)
}

// listAccountsV2 lists accounts, newest first. It has other parameters.
func (h *Handlers) listAccountsV2(r *rest.Request) (any, error) {
	var p accountFilters
	var more struct {
		Origin      string   `param:"origin,word"`
		Status      string   `param:"status,word"`
		Permissions string   `param:"permissions,word"`
		RoleIDs     []string `param:"role_ids"`
		InvitedBy   string   `param:"invited_by"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if err := r.Bind(&more); err != nil {
		return nil, err
	}
	q := p.query()
	for name, set := range map[string]*bool{"local": &q.Local, "remote": &q.Remote} {
		*set = more.Origin == name
	}
	states := map[string]*bool{
		"active": &q.Active, "pending": &q.Pending, "disabled": &q.Disabled, "silenced": &q.Silenced, "suspended": &q.Suspended, "sensitized": &q.Sensitized,
	}
	if set := states[more.Status]; set != nil {
		*set = true
	} else if more.Status != "" {
		return nil, errs.BadRequest("%s - Invalid value for enum.", more.Status)
	}
	q.Staff = more.Permissions == "staff" || len(more.RoleIDs) > 1
	q.Admins = slices.Equal(more.RoleIDs, []string{entity.AdminRoleID})
	q.Moderators = slices.Equal(more.RoleIDs, []string{entity.ModeratorRoleID})
	return h.accountPage(r, q, p.IP+more.InvitedBy)
}

// accountPage answers with a page of accounts. unknown is a condition on data that the server does not store, such as
// addresses of clients: no account meets it.
func (h *Handlers) accountPage(r *rest.Request, q admin.AccountQuery, unknown string) (any, error) {
	if unknown != "" || q.Local && q.Remote {
		return []any{}, nil
	}
	page := r.Page(100, 200)
	q.Page = page.Page
	part, err := h.Admin.AccountIDs(r.Context(), q)
	if err != nil {
		return nil, err
	}
	ids, next := part.Rows, ""
	if part.Next != 0 {
		next = store.AccountID(part.Next).String()
	}
	show := func(ids []store.AccountID) ([]*entity.ModeratedAccount, error) {
		return h.Entities.ModeratedAccounts(r.Context(), r.Viewer, ids)
	}
	return rest.List(r, page, ids, func(i int) string { return ids[i].String() }, next, show)
}

func moderatedID(r *rest.Request) store.AccountID {
	return store.ParseID[store.AccountID](r.Param("id"))
}

func (h *Handlers) showAccount(r *rest.Request) (any, error) {
	return h.Entities.ModeratedAccount(r.Context(), r.Viewer, moderatedID(r))
}

// recordNotFound replaces a 404, whose text is for commands.
func recordNotFound(err error) error {
	if errs.IsNotFound(err) {
		return errs.ErrRecordNotFound
	}
	return err
}

// accountOperation is an operation of admin.Service on one account.
type accountOperation = func(s *admin.Service, ctx context.Context, id string) error

// accountAfter returns a handler that runs an operation on the account of the path, and answers with the account as it is then.
func (h *Handlers) accountAfter(run accountOperation) rest.Handler {
	return func(r *rest.Request) (any, error) {
		if _, err := h.Entities.Account(r.Context(), moderatedID(r)); err != nil {
			return nil, err
		}
		if err := run(h.as(r), r.Context(), moderatedID(r).String()); err != nil {
			return nil, recordNotFound(err)
		}
		return h.showAccount(r)
	}
}

func enable(s *admin.Service, ctx context.Context, id string) error {
	_, err := s.ActivateUsers(ctx, []string{id})
	return err
}

func endAccountAction(action string) accountOperation {
	return func(s *admin.Service, ctx context.Context, id string) error {
		return s.EndAccountAction(ctx, id, action)
	}
}

// rejectAccount deletes an account that is pending approval, and answers with it as it was.
func (h *Handlers) rejectAccount(r *rest.Request) (any, error) {
	before, err := h.Entities.ModeratedAccount(r.Context(), r.Viewer, moderatedID(r))
	if err != nil {
		return nil, err
	}
	return before, recordNotFound(h.as(r).RejectPending(r.Context(), before.ID.String()))
}

// deleteAccount deletes a suspended account, and answers with it as it was.
func (h *Handlers) deleteAccount(r *rest.Request) (any, error) {
	before, err := h.Entities.ModeratedAccount(r.Context(), r.Viewer, moderatedID(r))
	if err != nil {
		return nil, err
	}
	return before, recordNotFound(h.as(r).DeleteSuspended(r.Context(), before.ID.String()))
}

// actionPrivileges are those that actions need. An action that names a report also needs that to manage reports.
var actionPrivileges = map[string]config.Privilege{
	admin.NoAction:        config.ReportsManage,
	admin.SensitiveAction: config.UsersTags,
	admin.SilenceAction:   config.UsersTags,
	admin.DisableAction:   config.UsersActivation,
	admin.SuspendAction:   config.UsersActivation,
}

// takeAccountAction takes an action against an account, and resolves the report that caused it. Staff who may manage reports also resolve all
// other open reports about the account.
func (h *Handlers) takeAccountAction(r *rest.Request) (any, error) {
	var p struct {
		Type     string `param:"type,word"`
		ReportID string `param:"report_id,word"`
		PresetID string `param:"warning_preset_id,word"`
		Text     string `param:"text"`
		Mail     bool   `param:"send_email_notification"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	managesReports := h.Entities.HasPrivilege(r.User, config.ReportsManage)
	needed, known := actionPrivileges[p.Type]
	switch {
	case known && !h.Entities.HasPrivilege(r.User, needed) || p.ReportID != "" && !managesReports:
		return nil, rest.ErrNotPrivileged
	case p.PresetID != "":
		return nil, errs.Invalid("Validation failed: Warning preset does not exist; write a text")
	}
	account, err := h.Entities.Account(r.Context(), moderatedID(r))
	if err != nil {
		return nil, err
	}
	err = h.as(r).TakeAccountAction(r.Context(), admin.AccountAction{
		Account: account.ID().String(), Type: p.Type, Report: p.ReportID, Text: p.Text, Resolve: managesReports, Mail: p.Mail,
	})
	return struct{}{}, recordNotFound(err)
}
