package admin

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// User is an account as staff see it. Some members have a meaning for local accounts only.
type User struct {
	ID           int64     `json:"id"`        // the integer id of the admin API
	PublicID     string    `json:"public_id"` // the id that apps and the log show
	Nickname     string    `json:"nickname"`  // of a remote account, with its domain
	Email        string    `json:"email"`
	DisplayName  string    `json:"display_name"`
	URL          string    `json:"url"`
	Local        bool      `json:"local"`
	ActorType    string    `json:"actor_type"`
	Tags         []string  `json:"tags"`
	MFA          bool      `json:"mfa"`
	Suggested    bool      `json:"suggested"`
	Admin        bool      `json:"admin"`
	Moderator    bool      `json:"moderator"`
	Locked       bool      `json:"locked"`
	Confirmed    bool      `json:"confirmed"`
	Approved     bool      `json:"approved"`
	Deactivated  bool      `json:"deactivated"` // of a remote account: suspended
	Reason       string    `json:"reason"`      // of the registration
	CreatedAt    time.Time `json:"created_at"`
	LastActiveAt time.Time `json:"last_active_at"` // zero: never
	Followers    int       `json:"followers"`
	Following    int       `json:"following"`
	Statuses     int       `json:"statuses"`
}

// newUser returns an account for staff. u is nil if it is remote.
func newUser(a *store.Account, u *store.User) *User {
	user := &User{
		ID:          int64(a.ID),
		PublicID:    a.ID.String(),
		Nickname:    a.Acct(),
		DisplayName: a.DisplayName,
		URL:         a.URL,
		Local:       a.Local(),
		ActorType:   a.ActorType,
		Tags:        append([]string{}, a.Tags.V...),
		Suggested:   a.Suggested,
		Locked:      a.Locked,
		Confirmed:   true,
		Approved:    true,
		Deactivated: a.Unavailable,
		CreatedAt:   a.CreatedAt.Time(),
		Followers:   a.FollowersCount,
		Following:   a.FollowingCount,
		Statuses:    a.StatusesCount,
	}
	if u == nil {
		return user
	}
	user.Email, user.Admin, user.Moderator, user.MFA, user.Reason = u.Email, u.IsAdmin, u.IsModerator, u.HasMFA(), u.RegistrationReason
	user.Confirmed, user.Approved, user.Deactivated = u.ConfirmedAt != nil, u.ApprovedAt != nil, u.DeactivatedAt != nil
	if u.LastActiveAt != 0 {
		user.LastActiveAt = u.LastActiveAt.Time()
	}
	return user
}

// maxUserPage bounds a page of the list of accounts.
const maxUserPage = 500

// UserQuery selects a page of the list of accounts.
type UserQuery struct {
	Filters    []string `json:"filters"` // local, external, active, deactivated, need_approval, unconfirmed, is_admin, is_moderator; all must hold
	Query      string   `json:"query"`   // a part of nickname or nickname@domain
	Name       string   `json:"name"`    // a part of the display name
	Email      string   `json:"email"`   // the whole address
	Tags       []string `json:"tags"`    // any of them
	ActorTypes []string `json:"actor_types"`
	Limit      int      `json:"limit"`
	Offset     int      `json:"offset"`
}

// UserPage is a page of the list of accounts, and how many there are on all pages.
type UserPage struct {
	Users []*User `json:"users"`
	Count int     `json:"count"`
}

// Users returns a page of accounts, newest first. Unknown filters are ignored (admin API 4.1).
func (s *Service) Users(ctx context.Context, q UserQuery) (*UserPage, error) {
	page := &UserPage{Users: []*User{}}
	f, err := s.staffFilter(ctx, q)
	if f == nil || err != nil {
		return page, err
	}
	if page.Count, err = s.db.CountStaffAccounts(ctx, *f); err != nil {
		return nil, err
	}
	part, err := s.db.StaffAccounts(ctx, *f, min(max(q.Limit, 1), maxUserPage), max(q.Offset, 0))
	if err != nil {
		return nil, err
	}
	accounts, err := s.db.Accounts(ctx, part.Rows)
	if err != nil {
		return nil, err
	}
	rows, err := s.db.Users(ctx, part.Rows)
	if err != nil {
		return nil, err
	}
	userOf := make(map[store.AccountID]*store.User, len(rows))
	for _, u := range rows {
		userOf[u.AccountID] = u
	}
	for _, a := range accounts {
		page.Users = append(page.Users, newUser(a, userOf[a.ID]))
	}
	slices.SortFunc(page.Users, func(a, b *User) int { return cmp.Compare(b.ID, a.ID) })
	return page, nil
}

// staffFilter returns the conditions of a query, nil if nothing can meet them.
func (s *Service) staffFilter(ctx context.Context, q UserQuery) (*store.StaffFilter, error) {
	f := &store.StaffFilter{Name: strings.TrimSpace(q.Name), Tags: lowerCase(q.Tags), ActorTypes: q.ActorTypes}
	flags := map[string]*bool{
		"local": &f.Local, "external": &f.External, "active": &f.Active, "deactivated": &f.Deactivated, "need_approval": &f.NeedApproval,
		"unconfirmed": &f.Unconfirmed, "is_admin": &f.Admins, "is_moderator": &f.Moderators,
	}
	for _, name := range q.Filters {
		if flag := flags[strings.TrimSpace(name)]; flag != nil {
			*flag = true
		}
	}
	f.Handle = strings.TrimPrefix(strings.TrimSpace(q.Query), "@")
	if nick, domain, ok := strings.Cut(f.Handle, "@"); ok && s.social.Settings.IsOwnHost(domain) {
		f.Handle, f.Local = nick, true // local accounts are stored without a domain
	}
	if email := strings.TrimSpace(q.Email); email != "" {
		user, err := s.db.UserByEmail(ctx, email)
		if err != nil {
			return nil, errs.IgnoreNotFound(err)
		}
		f.ID = user.AccountID
	}
	return f, nil
}

func lowerCase(texts []string) []string {
	var list []string
	for _, t := range texts {
		if t = strings.ToLower(strings.TrimSpace(t)); t != "" && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// ShowUser returns one account, local or remote.
func (s *Service) ShowUser(ctx context.Context, name string) (*User, error) {
	account, err := s.findAccount(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	user, err := s.db.User(ctx, account.ID)
	if err := errs.IgnoreNotFound(err); err != nil {
		return nil, err
	}
	return newUser(account, user), nil
}

// RebuildHome rebuilds the home timeline of an account.
func (s *Service) RebuildHome(ctx context.Context, name string) (*ChangedUser, error) {
	account, user, err := s.findUser(ctx, s.db, name)
	if err != nil {
		return nil, err
	}
	return &ChangedUser{User: newUser(account, user), Changed: true}, s.social.RebuildHome(ctx, account.ID, s.social.Settings.Load().Timelines.HomeLength)
}
