package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/dbconfig"
	"svc/internal/errs"
	"svc/store"
)

// changeSettings makes changes of rows, all or none, and makes them take effect. record adds them to the moderation log. The caller holds the
// mutex.
func (s *Service) changeSettings(
	ctx context.Context, change func(*store.Tx, *settingUpdate) error, record func(context.Context, *store.Tx, *settingUpdate) error,
) (u *settingUpdate, err error) {
	st := s.stored
	before := st.live.Load()
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		stored, err := tx.SettingRows(ctx)
		if err != nil {
			return err
		}
		rows, changed, removed, err := st.parse(stored)
		if err != nil {
			return err
		}
		u = &settingUpdate{codec: st.codec, file: st.file(), rows: rows, updated: changed, removed: removed}
		if err := change(tx, u); err != nil {
			return err
		}
		if u.next, err = st.overlay(u.rows); err != nil {
			return errs.BadRequest("%s", err.Error())
		}
		if err := s.writeSettings(ctx, tx, u); err != nil {
			return err
		}
		if err := syncHostBlocks(ctx, tx, u.next); err != nil {
			return err
		}
		return record(ctx, tx, u)
	})
	if err != nil {
		return nil, err
	}
	now, restart := before.Reload(u.next)
	st.next = u.next
	st.waiting = st.waits(restart, u.rows)
	st.live.Store(now)
	st.changed(before, now)
	if !sameHostRules(before, now) {
		err = s.db.Update(ctx, func(tx *store.Tx) error { // after the settings are in effect, which the job reads
			return tx.EnqueueUnique(ctx, s.db.Now(), applyHostRulesKey, store.ApplyHostRules{})
		})
	}
	return u, err
}

// writeSettings stores the changed rows.
func (s *Service) writeSettings(ctx context.Context, tx *store.Tx, u *settingUpdate) error {
	for _, key := range u.removed {
		if err := tx.DeleteSettingRow(ctx, key.Group, key.Key); err != nil {
			return err
		}
	}
	for _, row := range u.rows {
		if !slices.Contains(u.updated, row.RowKey) {
			continue
		}
		value, err := dbconfig.Codec{}.Marshal(row.Value)
		if err == nil {
			err = tx.SetSettingRow(ctx, store.SettingRow{GroupName: row.Group, Key: row.Key, Value: string(value)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordSettings adds changes to the moderation log, without their values, which may be secrets.
func (s *Service) recordSettings(ctx context.Context, tx *store.Tx, u *settingUpdate) error {
	if len(u.log) == 0 {
		return nil
	}
	const maxLogged = 20
	names := slices.Compact(slices.Sorted(slices.Values(u.log)))
	what := strings.Join(names[:min(len(names), maxLogged)], ", ")
	if more := len(names) - maxLogged; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return s.record(ctx, tx, "config_update", "changed settings: "+what, map[string]any{"settings": names})
}

// settingUpdate collects changes of rows.
type settingUpdate struct {
	codec            dbconfig.Codec
	file             *config.Config // the settings without rows
	rows             []dbconfig.Row
	updated, removed []dbconfig.RowKey
	log              []string          // names of the changed settings
	restart          []dbconfig.RowKey // rows with changed settings that need a restart
	next             *config.Config
}

// add makes one change of the rows.
func (u *settingUpdate) add(c SettingChange) error {
	key, err := u.key(c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(u.rows, func(r dbconfig.Row) bool { return r.RowKey == key })
	var old, value dbconfig.Value
	if i >= 0 {
		old = u.rows[i].Value
	}
	switch {
	case c.Delete && i < 0:
		return nil
	case c.Delete:
		left := false
		if len(c.Subkeys) > 0 {
			var subkeys []dbconfig.Value
			for _, name := range c.Subkeys {
				subkeys = append(subkeys, u.codec.ParseText(name))
			}
			value, left = dbconfig.Without(old, subkeys)
		}
		if !left {
			u.rows = slices.Delete(u.rows, i, i+1)
			u.removed = append(u.removed, key)
			u.updated = slices.DeleteFunc(u.updated, func(k dbconfig.RowKey) bool { return k == key })
			u.record(key, old, nil)
			return nil
		}
	case len(c.Value) == 0 || string(c.Value) == "null":
		return errs.BadRequest("Missing field: value.")
	default:
		sent, err := u.codec.Parse(c.Value)
		if err != nil {
			return errs.BadRequest("%s %s: the value %v", c.Group, c.Key, err)
		}
		value = dbconfig.Unmasked(key, sent, old)
		if len(dbconfig.Subkeys(value)) == 0 && len(dbconfig.Subkeys(sent)) > 0 {
			return nil // only masks of secrets, which are not here
		}
		if i >= 0 {
			value = dbconfig.Merge(key, old, value)
		}
	}
	if i < 0 {
		if len(u.rows) >= store.MaxSettingRows {
			return errs.BadRequest("There are %d settings in the database already: delete some", store.MaxSettingRows)
		}
		u.rows = append(u.rows, dbconfig.Row{RowKey: key})
		i = len(u.rows) - 1
	}
	u.rows[i].Value = value
	u.updated = append(u.updated, key)
	u.removed = slices.DeleteFunc(u.removed, func(k dbconfig.RowKey) bool { return k == key })
	u.record(key, old, value)
	return nil
}

// key returns the row of a change.
func (u *settingUpdate) key(c SettingChange) (dbconfig.RowKey, error) {
	switch {
	case strings.TrimSpace(c.Group) == "":
		return dbconfig.RowKey{}, errs.BadRequest("Missing field: group.")
	case strings.TrimSpace(c.Key) == "":
		return dbconfig.RowKey{}, errs.BadRequest("Missing field: key.")
	}
	standard := func(name string) string {
		text, _ := dbconfig.Codec{}.JSON(u.codec.ParseText(name)).(string)
		return text
	}
	key := dbconfig.RowKey{Group: standard(c.Group), Key: standard(c.Key)}
	if err := dbconfig.Settable(key); err != nil {
		return key, errs.BadRequest("%s", err.Error())
	}
	return key, nil
}

// record remembers which subkeys of a row were changed.
func (u *settingUpdate) record(key dbconfig.RowKey, old, value dbconfig.Value) {
	subkeys, changed := dbconfig.Changed(old, value)
	if !changed {
		return
	}
	name := key.Group + " " + key.Key
	for _, subkey := range subkeys {
		u.log = append(u.log, name+" "+subkey)
	}
	if len(subkeys) == 0 {
		u.log = append(u.log, name)
	}
	if dbconfig.NeedsRestart(u.file, key, old, value) {
		u.restart = append(u.restart, key)
	}
}
