package entity

import (
	"context"

	"svc/store"
)

// loadAccounts returns the accounts of the ids that exist, from the cache or rendered from their rows.
func (b *Builder) loadAccounts(ctx context.Context, ids []store.AccountID) (map[store.AccountID]Account, error) {
	found := make(map[store.AccountID]Account, len(ids))
	missing, generation := b.accounts.GetAll(ids, found)
	if len(missing) == 0 {
		return found, nil
	}
	rows, err := b.db.Accounts(ctx, missing)
	if err != nil {
		return nil, err
	}
	users, err := b.db.Users(ctx, missing)
	if err != nil {
		return nil, err
	}
	userOf := byID(users, func(u *store.User) store.AccountID { return u.AccountID })
	moved, err := b.movedTo(ctx, rows...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		members, extension := b.accountMembers(row, userOf[row.ID])
		members.Moved = moved[row.ID]
		a, err := b.renderAccount(row, members, extension)
		if err != nil {
			return nil, err
		}
		if u := userOf[row.ID]; u != nil {
			a.noRichText, a.deactivated = u.NoRichText, u.DeactivatedAt != nil
		}
		found[row.ID] = a.withCounters(rowCounters(row))
		if !a.hasMoved {
			b.accounts.Put(row.ID, found[row.ID], generation)
		}
	}
	return found, nil
}

func rowCounters(row *store.Account) store.AccountCounters {
	return store.AccountCounters{
		Followers: row.FollowersCount, Following: row.FollowingCount, Statuses: row.StatusesCount, LastStatusAt: row.LastStatusAt,
	}
}

// movedTo renders the accounts that some of the rows have moved to, by the ids of the rows. It follows one move only, and leaves out
// unavailable accounts.
func (b *Builder) movedTo(ctx context.Context, rows ...*store.Account) (map[store.AccountID]*object, error) {
	var ids []store.AccountID
	for _, row := range rows {
		if row.MovedToID != nil {
			ids = append(ids, *row.MovedToID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	targets, err := b.db.Accounts(ctx, unique(ids))
	if err != nil {
		return nil, err
	}
	rendered := make(map[store.AccountID]*object, len(targets))
	for _, target := range targets {
		if target.Unavailable {
			continue
		}
		members, extension := b.accountMembers(target, nil)
		a, err := b.renderAccount(target, members, extension)
		if err != nil {
			return nil, err
		}
		o := object(a.withCounters(rowCounters(target)).AppendJSON(nil))
		rendered[target.ID] = &o
	}
	moved := make(map[store.AccountID]*object, len(ids))
	for _, row := range rows {
		if row.MovedToID != nil {
			moved[row.ID] = rendered[*row.MovedToID]
		}
	}
	return moved, nil
}

func (r *renderer) renderAccount(row *store.Account, members *accountMembers, extension *accountExtension) (*accountDocument, error) {
	json, err := r.extended(members, extension)
	if err != nil {
		return nil, err
	}
	if json, err = r.fitAccount(row, members, extension, json); err != nil {
		return nil, err
	}
	d, err := newDocument(json, accountSlots, nil)
	return &accountDocument{
		document: d, id: row.ID, name: members.DisplayName, url: members.URL, attributionDomains: row.AttributionDomains.V, approval: row.ApprovalOf(), unavailable: row.Unavailable, deactivated: row.Unavailable, hasMoved: row.MovedToID != nil,
		hideFollowersCount: row.HideFollowers && row.HideFollowersCount, hideFollowingCount: row.HideFollows && row.HideFollowsCount,
	}, err
}

// accountMembers returns the members that are the same for every viewer. user is nil for remote accounts.
func (r *renderer) accountMembers(row *store.Account, user *store.User) (*accountMembers, *accountExtension) {
	row = r.withAllowedPictures(cutAccount(row))
	m := &accountMembers{
		ID:           row.ID,
		Username:     row.Nickname,
		Acct:         row.Acct(),
		FQN:          row.Nickname + "@" + row.Domain,
		DisplayName:  row.DisplayName,
		Locked:       row.Locked,
		Bot:          isBot(row),
		Group:        row.ActorType == "Group",
		Discoverable: row.Discoverable, Indexable: row.ConsentsToSearch(), HideLists: row.HideFollowers && row.HideFollows,
		CreatedAt: row.CreatedAt,
		Note:      row.Note,
		URL:       row.URL,
		URI:       row.URI,
		Avatar:    r.picture(row.Avatar, standardAvatar),
		Header:    r.picture(row.Header, standardBanner),
		Fields:    row.Fields.V,
	}
	if row.Local() {
		m.FQN = row.Nickname + "@" + r.Settings.Host
		m.Roles = publicRoles(user)
	}
	m.AvatarStatic, m.HeaderStatic = m.Avatar, m.Header
	m.AvatarDescription, m.HeaderDescription = row.AvatarDescription, row.HeaderDescription
	m.ShowMedia, m.ShowMediaReplies, m.ShowFeatured = !row.HideMedia, !row.HideMediaReplies, !row.HideFeatured
	if row.AvatarStatic != "" {
		m.AvatarStatic = r.picture(row.AvatarStatic, "")
	}
	if row.HeaderStatic != "" {
		m.HeaderStatic = r.picture(row.HeaderStatic, "")
	}
	if m.Fields == nil {
		m.Fields = []store.Field{}
	}
	texts := []string{row.DisplayName, row.Note}
	for _, f := range row.Fields.V {
		texts = append(texts, f.Name, f.Value)
	}
	m.Emojis = r.emojisFor(row.Local(), row.Emojis.V, texts...)
	if !row.Local() {
		m.Emojis = maxEmojis(m.Emojis, store.MaxRemoteEmojis)
	}

	x := &accountExtension{
		APID:                row.URI,
		AlsoKnownAs:         row.AlsoKnownAs.V,
		Tags:                row.Tags.V,
		IsConfirmed:         true,
		IsActive:            true,
		HideFavorites:       row.HideFavorites,
		HideFollowers:       row.HideFollowers,
		HideFollows:         row.HideFollows,
		HideFollowersCount:  row.HideFollowersCount,
		HideFollowsCount:    row.HideFollowsCount,
		AcceptsChatMessages: row.AcceptsChatMessages,
	}
	if row.ShowBirthday {
		x.Birthday = row.Birthday
	}
	x.BackgroundImage = r.Picture(row.Background)
	m.Source = r.source(row, user)
	if user != nil {
		x.IsConfirmed, x.ConfirmationPending = user.ConfirmedAt != nil, user.ConfirmedAt == nil
		x.IsActive = user.DeactivatedAt == nil
		x.SkipContainment = user.SkipThreadContainment
		if user.ShowRole {
			x.IsAdmin, x.IsModerator, x.Privileges = &user.IsAdmin, &user.IsModerator, r.privileges(user)
		}
	}
	return m, x
}

// isBot returns true for the types of actors that act by themselves.
func isBot(row *store.Account) bool {
	return row.ActorType == "Service" || row.ActorType == "Application"
}

// withAllowedPictures returns an account without the pictures that policies remove.
func (r *renderer) withAllowedPictures(row *store.Account) *store.Account {
	limits := r.restrictionsOf(row.Domain, row.URI)
	if !limits.RemoveAvatar && !limits.RemoveBanner {
		return row
	}
	allowed := *row
	if limits.RemoveAvatar {
		allowed.Avatar, allowed.AvatarStatic, allowed.AvatarDescription = "", "", ""
	}
	if limits.RemoveBanner {
		allowed.Header, allowed.HeaderStatic, allowed.HeaderDescription = "", "", ""
	}
	return &allowed
}

const (
	standardAvatar = "/images/avi.png"
	standardBanner = "/images/banner.png"
)

// picture returns the URL of a profile picture: of a local file, of the proxy for a remote one, or of the standard one for "".
func (r *renderer) picture(name, standard string) string {
	switch {
	case name == "":
		return r.Settings.BaseURL + standard
	case len(name) > 8 && (name[:7] == "http://" || name[:8] == "https://"):
		return r.proxied(name)
	}
	return r.Settings.BaseURL + "/media/" + name
}

// Avatar returns the URL of an account's avatar that is not animated.
func (r *renderer) Avatar(a *store.Account) string {
	a = r.withAllowedPictures(a)
	if a.AvatarStatic != "" {
		return r.picture(a.AvatarStatic, "")
	}
	return r.picture(a.Avatar, standardAvatar)
}

// Picture returns the URL of a profile picture, nil if the account has none.
func (r *renderer) Picture(name string) *string {
	if name == "" {
		return nil
	}
	url := r.picture(name, "")
	return &url
}
