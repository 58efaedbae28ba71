package entity

import (
	"context"
	"slices"

	"svc/policy"
	"svc/store"
)

// ModeratedAccount is an account as the admin endpoints of the reference API show it.
type ModeratedAccount struct {
	ID            store.AccountID `json:"id"`
	Username      string          `json:"username"`
	Domain        *string         `json:"domain"` // nil: local
	CreatedAt     store.Time      `json:"created_at"`
	Email         string          `json:"email"`
	IP            *string         `json:"ip"`  // always nil: addresses of clients are not stored
	IPs           []any           `json:"ips"` // always empty
	Locale        string          `json:"locale"`
	InviteRequest *string         `json:"invite_request"` // why the user wants an account
	Role          *Role           `json:"role"`
	Confirmed     bool            `json:"confirmed"`
	Approved      bool            `json:"approved"`
	Disabled      bool            `json:"disabled"`  // a local account that is deactivated
	Suspended     bool            `json:"suspended"` // likewise, or a remote account that is suspended
	Silenced      bool            `json:"silenced"`
	Sensitized    bool            `json:"sensitized"`
	Account       Account         `json:"account"`
}

// ModeratedAccounts returns the accounts of the ids that exist, in the order of the ids.
func (b *Builder) ModeratedAccounts(ctx context.Context, viewer *store.Account, ids []store.AccountID) ([]*ModeratedAccount, error) {
	of, err := b.moderatedAccounts(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*ModeratedAccount, 0, len(ids))
	for _, id := range ids {
		if a := of[id]; a != nil {
			list = append(list, a)
		}
	}
	return list, nil
}

// ModeratedAccount is ModeratedAccounts of one.
func (b *Builder) ModeratedAccount(ctx context.Context, viewer *store.Account, id store.AccountID) (*ModeratedAccount, error) {
	of, err := b.moderatedAccounts(ctx, viewer, []store.AccountID{id})
	if err == nil && of[id] == nil {
		err = notFound
	}
	return of[id], err
}

func (b *Builder) moderatedAccounts(ctx context.Context, viewer *store.Account, ids []store.AccountID) (map[store.AccountID]*ModeratedAccount, error) {
	rendered, err := b.StaffAccounts(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	rows, err := b.db.Accounts(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	users, err := b.db.Users(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	userOf := byID(users, func(u *store.User) store.AccountID { return u.AccountID })
	of := make(map[store.AccountID]*ModeratedAccount, len(rows))
	for _, row := range rows {
		if account, ok := rendered[row.ID]; ok {
			of[row.ID] = b.newModeratedAccount(row, userOf[row.ID], account)
		}
	}
	return of, nil
}

func (b *Builder) newModeratedAccount(row *store.Account, u *store.User, account Account) *ModeratedAccount {
	a := &ModeratedAccount{
		ID: row.ID, Username: row.Nickname, CreatedAt: row.CreatedAt, IPs: []any{}, Confirmed: true, Approved: true,
		Suspended: account.staff.Deactivated, Silenced: slices.Contains(row.Tags.V, policy.TagUnlisted),
		Sensitized: slices.Contains(row.Tags.V, policy.TagSensitive),
	}
	a.InviteRequest = account.staff.RegistrationReason
	if account.staff.Email != nil {
		a.Email = *account.staff.Email
	}
	account.staff = nil // the members are here already
	a.Account = account
	if !row.Local() {
		a.Domain = &row.Domain
	}
	if u != nil {
		a.Locale, a.Role, a.Disabled = u.Locale, b.roleOf(u), a.Suspended
		a.Confirmed, a.Approved = u.ConfirmedAt != nil, u.ApprovedAt != nil
	}
	return a
}
