package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"svc/internal/config"
	"svc/internal/dbconfig"
	"svc/internal/errs"
	"svc/store"
)

// maxSettingChanges bounds the changes of one request.
const maxSettingChanges = 500

// ErrSettingsFileOnly is the error if settings cannot be changed in the database.
var ErrSettingsFileOnly = errs.BadRequest("You must enable configurable_from_database in your config file.")

// Settings is the settings of a running server, those of the file overlaid with those in the database.
type Settings struct {
	inFile  atomic.Pointer[config.Config]
	live    *config.Live
	codec   dbconfig.Codec
	restart func()
	changed func(before, now *config.Config) // is called after each change

	mu      sync.Mutex // held while they change
	next    *config.Config
	started []dbconfig.Row // the rows at the start
	waiting pending
	later   []string // settings that have changed in the file since the start, and take effect after a restart
}

// file returns the settings of the file.
func (s *Settings) file() *config.Config { return s.inFile.Load() }

// pending are the changes since the start that take effect after a restart.
type pending struct {
	settings []string // names
	rows     []dbconfig.RowKey
}

func (p pending) any() bool { return len(p.settings)+len(p.rows) > 0 }

// NewSettings returns the settings of the file. restart restarts the server. changed is called after a change, for what cannot read the
// settings at each use.
func NewSettings(file *config.Config, live *config.Live, restart func(), changed func(before, now *config.Config)) *Settings {
	s := &Settings{live: live, codec: dbconfig.Codec{Name: file.API.Name}, restart: restart, changed: changed, next: file}
	s.inFile.Store(file)
	return s
}

// SettingRows are the settings in a database, which a server has open or a command only reads.
type SettingRows interface {
	SettingRows(ctx context.Context) ([]*store.SettingRow, error)
}

// Load overlays the settings with those in the database, if they may be there, and with the lists of blocked hosts, which always are. Rows
// with an error are ignored; it is returned as invalid.
func (s *Settings) Load(ctx context.Context, db SettingRows) (invalid, err error) {
	stored, err := db.SettingRows(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, _, err := s.parse(stored)
	if err != nil {
		return nil, err
	}
	next, invalid := s.overlay(rows)
	if invalid != nil && next.Validate() != nil {
		next = s.file()
	}
	s.next, s.started = next, rows
	s.live.Store(next)
	return invalid, nil
}

// parse returns stored rows in the form of this version. changed and removed are those that had another one.
func (s *Settings) parse(stored []*store.SettingRow) (rows []dbconfig.Row, changed, removed []dbconfig.RowKey, err error) {
	rows = make([]dbconfig.Row, len(stored))
	standard := dbconfig.Codec{} // rows are stored with the standard name
	for i, row := range stored {
		value, err := standard.Parse([]byte(row.Value))
		if err != nil {
			return nil, nil, nil, fmt.Errorf("setting %s %s: %w", row.GroupName, row.Key, err)
		}
		rows[i] = dbconfig.Row{RowKey: dbconfig.RowKey{Group: row.GroupName, Key: row.Key}, Value: value}
	}
	rows, changed, removed = dbconfig.Upgrade(rows)
	return rows, changed, removed, nil
}

// SettingEntry is a setting as admin front ends see it.
type SettingEntry struct {
	Group string   `json:"group"`
	Key   string   `json:"key"`
	Value any      `json:"value"`
	DB    []string `json:"db,omitempty"` // subkeys that are in the database
}

// SettingList is a list of settings.
type SettingList struct {
	Configs    []SettingEntry `json:"configs"`
	NeedReboot bool           `json:"need_reboot"` // some changes take effect after a restart
}

// SettingChange is a setting that an admin front end sends. With Delete, the row is removed, or just its Subkeys.
type SettingChange struct {
	Group   string          `json:"group"`
	Key     string          `json:"key"`
	Value   json.RawMessage `json:"value,omitempty"`
	Delete  bool            `json:"delete,omitempty"`
	Subkeys []string        `json:"subkeys,omitempty"`
}

// NeedsRestart returns true if some changes of settings take effect after a restart.
func (s *Service) NeedsRestart() bool {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	return s.stored.waiting.any()
}

// Restart restarts the server. It returns before that.
func (s *Service) Restart(ctx context.Context) error {
	if !s.stored.file().Instance.ConfigurableFromDatabase {
		return ErrSettingsFileOnly
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error { return s.record(ctx, tx, "restart", "restarted the server", nil) })
	if err == nil {
		s.stored.restart()
	}
	return err
}

// StoredSettings lists the settings in the database, or with all, all settings as they are in effect, or will be after a restart.
// Secrets are masked.
func (s *Service) StoredSettings(ctx context.Context, all bool) (*SettingList, error) {
	if !s.stored.file().Instance.ConfigurableFromDatabase {
		return nil, ErrSettingsFileOnly
	}
	stored, err := s.db.SettingRows(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, _, err := s.stored.parse(stored)
	if err != nil {
		return nil, err
	}
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	list := &SettingList{Configs: []SettingEntry{}, NeedReboot: s.stored.waiting.any()}
	if !all {
		for _, row := range rows {
			e := s.stored.entry(dbconfig.Entry{RowKey: row.RowKey, Value: dbconfig.Masked(row.RowKey, row.Value)})
			list.Configs = append(list.Configs, e)
		}
		return list, nil
	}
	for _, e := range dbconfig.Entries(s.stored.next, rows) {
		list.Configs = append(list.Configs, s.stored.entry(e))
	}
	return list, nil
}

// entry renders a row with the name of the service.
func (s *Settings) entry(e dbconfig.Entry) SettingEntry {
	return SettingEntry{Group: s.text(e.Group), Key: s.text(e.Key), Value: s.codec.JSON(e.Value), DB: e.Stored}
}

func (s *Settings) text(name string) string {
	shown, _ := s.codec.JSON(dbconfig.Codec{}.ParseText(name)).(string)
	return shown
}

// SettingDescriptions describes all settings to admin front ends.
func (s *Service) SettingDescriptions() []dbconfig.Description { return s.stored.codec.Describe() }

// SaveSettings changes settings in the database, all or none. Those that can take effect at once do. It returns the rows that were
// changed and are left.
func (s *Service) SaveSettings(ctx context.Context, changes []SettingChange) (*SettingList, error) {
	list, _, err := s.saveSettings(ctx, changes)
	return list, err
}

// saveSettings is SaveSettings. restart: one of these changes takes effect after a restart.
func (s *Service) saveSettings(ctx context.Context, changes []SettingChange) (list *SettingList, restart bool, err error) {
	st := s.stored
	switch {
	case !st.file().Instance.ConfigurableFromDatabase:
		return nil, false, ErrSettingsFileOnly
	case len(changes) > maxSettingChanges:
		return nil, false, errs.BadRequest("A request can change %d settings at most", maxSettingChanges)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	before := st.next
	u, err := s.changeSettings(ctx, func(_ *store.Tx, u *settingUpdate) error {
		for _, c := range changes {
			if err := u.add(c); err != nil {
				return err
			}
		}
		return nil
	}, s.recordSettings)
	if err != nil {
		return nil, false, err
	}
	list = &SettingList{Configs: []SettingEntry{}, NeedReboot: st.waiting.any()}
	for _, row := range u.rows {
		if slices.Contains(u.updated, row.RowKey) {
			keys := dbconfig.Subkeys(row.Value)
			if keys == nil {
				keys = []string{row.Key}
			}
			list.Configs = append(list.Configs, st.entry(dbconfig.Entry{RowKey: row.RowKey, Value: dbconfig.Masked(row.RowKey, row.Value), Stored: keys}))
		}
	}
	_, changed := before.Reload(u.next)
	restart = slices.ContainsFunc(st.waiting.settings, func(name string) bool { return slices.Contains(changed, name) }) ||
		slices.ContainsFunc(st.waiting.rows, func(row dbconfig.RowKey) bool { return slices.Contains(u.restart, row) })
	return list, restart, nil
}

// waits returns which of the changes since the start take effect after a restart. restart are settings that differ from those in force.
func (s *Settings) waits(restart []string, rows []dbconfig.Row) pending {
	p := pending{settings: slices.Concat(s.later, restart)}
	for _, row := range rows {
		if dbconfig.NeedsRestart(s.file(), row.RowKey, valueOf(s.started, row.RowKey), row.Value) {
			p.rows = append(p.rows, row.RowKey)
		}
	}
	for _, row := range s.started {
		if valueOf(rows, row.RowKey) == nil && dbconfig.NeedsRestart(s.file(), row.RowKey, row.Value, nil) {
			p.rows = append(p.rows, row.RowKey)
		}
	}
	return p
}

// valueOf returns the value of a row, nil without one.
func valueOf(rows []dbconfig.Row, key dbconfig.RowKey) dbconfig.Value {
	for _, row := range rows {
		if row.RowKey == key {
			return row.Value
		}
	}
	return nil
}
