package entity

import (
	"context"

	"svc/internal/config"
	"svc/store"
)

// StaffAccounts returns the accounts of the ids that exist with what staff are shown: the members of AdminUser that Account does not have.
// Addresses and reasons of registrations are for viewers who may read the list of users.
func (b *Builder) StaffAccounts(ctx context.Context, viewer *store.Account, ids []store.AccountID) (map[store.AccountID]Account, error) {
	ids = unique(ids)
	found, err := b.loadAccounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows, err := b.db.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	users, err := b.db.Users(ctx, unique(append(ids, idOf(viewer))))
	if err != nil {
		return nil, err
	}
	userOf := byID(users, func(u *store.User) store.AccountID { return u.AccountID })
	all := b.HasPrivilege(userOf[idOf(viewer)], config.UsersRead)
	accounts := make(map[store.AccountID]Account, len(rows))
	for _, row := range rows {
		a, ok := found[row.ID]
		if !ok || row.DeletedAt != nil {
			continue
		}
		members := newStaffMembers(row, userOf[row.ID])
		if !all {
			members.Email, members.RegistrationReason = nil, nil
		}
		a.forStaff, a.staff = true, &members
		accounts[row.ID] = a
	}
	return accounts, nil
}

// HasPrivilege returns true if a user has a privilege of staff.
func (r *renderer) HasPrivilege(u *store.User, p config.Privilege) bool {
	return u != nil && r.Settings.Load().Instance.HasPrivilege(u.IsAdmin, u.IsModerator, p)
}

// StaffStatuses is Statuses with authors for staff.
func (b *Builder) StaffStatuses(ctx context.Context, viewer *store.Account, ids []store.StatusID) (List[*Status], error) {
	statuses, err := b.Statuses(ctx, viewer, ids)
	if err != nil {
		return nil, err
	}
	var authors []store.AccountID
	for _, s := range statuses {
		authors = append(authors, s.accountID, s.original().accountID)
	}
	accounts, err := b.StaffAccounts(ctx, viewer, authors)
	if err != nil {
		return nil, err
	}
	for _, s := range statuses {
		s.account = accounts[s.accountID]
		s.original().account = accounts[s.original().accountID]
	}
	return statuses, nil
}

// StaffStatus is StaffStatuses of one.
func (b *Builder) StaffStatus(ctx context.Context, viewer *store.Account, id store.StatusID) (*Status, error) {
	list, err := b.StaffStatuses(ctx, viewer, []store.StatusID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, notFound
	}
	return list[0], nil
}
