package store

import "context"

// AppFilter selects apps in the list of the staff. All conditions must hold.
type AppFilter struct {
	Name     string // ""; any
	ClientID string // "": any
	Trusted  *bool  // nil: any
}

// Conditions of the list of apps. The newest come first.
const (
	appConditions = `
		AND (?1 = '' OR name = ?1)
		AND (?2 = '' OR client_id = ?2)
		AND (?3 IS NULL OR trusted = ?3)`
	appsOfAll     = `FROM oauth_apps WHERE id > 0` + appConditions
	appsOfName    = `FROM oauth_apps INDEXED BY oauth_apps_name WHERE name = ?1` + appConditions
	appsOfClient  = `FROM oauth_apps WHERE client_id = ?2` + appConditions
	appsOfTrusted = `FROM oauth_apps INDEXED BY oauth_apps_trusted WHERE id > 0 AND trusted = 1` + appConditions

	appsPage  = ` ORDER BY id DESC LIMIT ?4 OFFSET ?5`
	appsCount = ` LIMIT ?4)`
)

// maxStaffApps bounds the offsets and totals of lists of apps. Few apps are trusted, so that few rows do not match.
const maxStaffApps = 100_000

func (f *AppFilter) source() string {
	switch {
	case f.ClientID != "":
		return appsOfClient
	case f.Name != "":
		return appsOfName
	case f.Trusted != nil && *f.Trusted:
		return appsOfTrusted
	}
	return appsOfAll
}

// StaffApps returns a page of the apps that a filter selects, newest first. Offsets above maxStaffApps are that one.
func (r reader) StaffApps(ctx context.Context, f AppFilter, limit, offset int) ([]*App, error) {
	return list[*App](ctx, r, "apps for staff", `SELECT * `+f.source()+appsPage, f.Name, f.ClientID, f.Trusted, limit, min(offset, maxStaffApps))
}

// CountStaffApps counts the apps that a filter selects, up to maxStaffApps.
func (r reader) CountStaffApps(ctx context.Context, f AppFilter) (int, error) {
	return value[int](ctx, r, "count apps for staff", `SELECT count(*) FROM (SELECT 1 `+f.source()+appsCount, f.Name, f.ClientID, f.Trusted, maxStaffApps)
}

// SaveApp stores what staff may change of an app.
func (tx *Tx) SaveApp(ctx context.Context, a *App) error {
	tx.invalidateAll() // posts show the name of their app
	return tx.exec(ctx, "save app", updateApp.text, updateApp.args(a)...)
}

// DetachApp removes an app from up to limit posts and scheduled posts, and returns true if it may be on more of them.
func (tx *Tx) DetachApp(ctx context.Context, id AppID, limit int) (bool, error) {
	var more bool
	for _, query := range []string{
		`UPDATE statuses SET app_id = NULL WHERE id IN (SELECT id FROM statuses INDEXED BY statuses_app WHERE app_id = ? LIMIT ?)`,
		`UPDATE scheduled_statuses SET app_id = NULL WHERE id IN (SELECT id FROM scheduled_statuses INDEXED BY scheduled_statuses_app WHERE app_id = ? LIMIT ?)`,
	} {
		n, err := tx.execRows(ctx, "detach app", query, id, limit)
		if err != nil {
			return false, err
		}
		more = more || n == int64(limit)
	}
	return more, nil
}

// DeleteApp deletes an app with its tokens, codes and challenges.
func (tx *Tx) DeleteApp(ctx context.Context, id AppID) error {
	tokens, err := ids[TokenID](ctx, tx.reader, "tokens of an app", `DELETE FROM oauth_tokens WHERE app_id = ? RETURNING id`, id)
	if err != nil {
		return err
	}
	tx.Emit(TokensRevoked{Tokens: tokens})
	tx.invalidateAll() // posts show the name of their app
	return tx.exec(ctx, "delete app", `DELETE FROM oauth_apps WHERE id = ?`, id)
}
