package admin

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"svc/internal/config"
	"svc/internal/dbconfig"
	"svc/internal/errs"
)

// NamedSetting is a setting by the names of the settings file. Value has the form of config.Config.Get.
type NamedSetting struct {
	Group string `json:"group"`
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// SettingsText returns the settings as they are in effect, or will be after a restart, as the text of a settings file; or the value of the
// one that n names. Secrets are masked.
func (s *Service) SettingsText(_ context.Context, n NamedSetting) (string, error) {
	s.stored.mu.Lock()
	defer s.stored.mu.Unlock()
	if n.Key == "" {
		return config.Show(s.stored.next), nil
	}
	text, err := config.ShowValue(s.stored.next, n.Group, n.Key)
	if err != nil {
		return "", errs.BadRequest("%s", err.Error())
	}
	return text + "\n", nil
}

// SetSetting changes one setting in the database. It returns true if that needs a restart.
func (s *Service) SetSetting(ctx context.Context, n NamedSetting) (bool, error) {
	s.stored.mu.Lock()
	next := *s.stored.next
	s.stored.mu.Unlock()
	if err := next.Set(n.Group, n.Key, n.Value); err != nil {
		return false, errs.BadRequest("%s", err.Error())
	}
	row, value := dbconfig.Named(&next, n.Group, n.Key)
	return s.saveNamed(ctx, SettingChange{Group: row.Group, Key: row.Key}, value)
}

// SettingText is a setting by the name that the settings file has for it, group.key. Value is the text of its value there, masked if it is a
// secret.
type SettingText struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Value       string `json:"value"`
	Restart     bool   `json:"restart"` // a change takes effect after a restart
}

// named returns the setting with a name.
func named(name string) (config.Setting, error) {
	for _, s := range config.Settings() {
		if s.Name() == name {
			return s, nil
		}
	}
	return config.Setting{}, errs.NotFound("There is no setting %q", name)
}

// ShowSetting returns a setting as it is in effect, or will be after a restart.
func (s *Service) ShowSetting(ctx context.Context, name string) (*SettingText, error) {
	setting, err := named(name)
	if err != nil {
		return nil, err
	}
	text, err := s.SettingsText(ctx, NamedSetting{Group: setting.Group, Key: setting.Key})
	return &SettingText{Name: name, Description: setting.Description, Value: strings.TrimSuffix(text, "\n"), Restart: setting.Restart}, err
}

// SettingState is a setting with its value and its default, in the form of config.Config.Get. Secrets are masked.
type SettingState struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Kind        string `json:"kind"`
	Size        bool   `json:"size"` // a number of bytes
	Value       any    `json:"value"`
	Default     any    `json:"default"`
	Changed     bool   `json:"changed"` // it differs from the default
	Restart     bool   `json:"restart"` // a change takes effect after a restart
	FileOnly    bool   `json:"file_only"`
}

// SettingStates are all settings.
type SettingStates struct {
	Configurable bool           `json:"configurable_from_database"` // false: only the settings file can change them
	Settings     []SettingState `json:"settings"`
}

// SettingStates returns all settings as they are in effect, or will be after a restart.
func (s *Service) SettingStates() *SettingStates {
	s.stored.mu.Lock()
	values := s.stored.next.Values()
	s.stored.mu.Unlock()
	states := &SettingStates{s.stored.file().Instance.ConfigurableFromDatabase, make([]SettingState, len(values))}
	for i, v := range values {
		states.Settings[i] = SettingState{
			Name: v.Name(), Description: v.Description, Kind: string(v.Kind), Size: v.Size, Value: v.Value, Default: v.Default, Changed: v.Changed,
			Restart: v.Restart, FileOnly: dbconfig.FileOnly(v.Group, v.Key),
		}
	}
	return states
}

// ResetSetting changes a setting back to its default. It is removed from the database; if the settings file has another value, the default is
// stored there in its place.
func (s *Service) ResetSetting(ctx context.Context, name string) (*SettingText, error) {
	setting, err := named(name)
	if err != nil {
		return nil, err
	}
	inFile, err := s.stored.file().Get(setting.Group, setting.Key)
	if err != nil {
		return nil, err
	}
	n := NamedSetting{Group: setting.Group, Key: setting.Key, Value: setting.Default}
	switch {
	case dbconfig.FileOnly(setting.Group, setting.Key):
		return nil, errs.BadRequest("%s can only be set in the settings file", name)
	case reflect.DeepEqual(inFile, setting.Default):
		_, err = s.UnsetSetting(ctx, n)
	default:
		_, err = s.SetSetting(ctx, n)
	}
	if err != nil {
		return nil, err
	}
	return s.ShowSetting(ctx, name)
}

// SaveSettingText changes a setting in the database to the value that a text has in the settings file. The mask of a secret is refused.
func (s *Service) SaveSettingText(ctx context.Context, name, text string) (*SettingText, error) {
	setting, err := named(name)
	if err != nil {
		return nil, err
	}
	n := NamedSetting{Group: setting.Group, Key: setting.Key}
	if n.Value, err = config.ParseValue(n.Group, n.Key, text); err != nil {
		return nil, errs.BadRequest("%s", err.Error())
	}
	if setting.Secret && n.Value == config.SecretMask {
		return nil, errs.BadRequest("%s: this is the mask, not a value", name)
	}
	if _, err := s.SetSetting(ctx, n); err != nil {
		return nil, err
	}
	return s.ShowSetting(ctx, name)
}

// UnsetSetting removes a setting from the database, so that the settings file decides. It returns true if that needs a restart.
func (s *Service) UnsetSetting(ctx context.Context, n NamedSetting) (bool, error) {
	if _, err := config.Default().Get(n.Group, n.Key); err != nil {
		return false, errs.BadRequest("%s", err.Error())
	}
	row, value := dbconfig.Named(config.Default(), n.Group, n.Key)
	return s.saveNamed(ctx, SettingChange{Group: row.Group, Key: row.Key, Delete: true, Subkeys: dbconfig.Subkeys(value)}, nil)
}

// saveNamed makes one change whose names are the standard ones.
func (s *Service) saveNamed(ctx context.Context, c SettingChange, value dbconfig.Value) (bool, error) {
	c.Group, c.Key = s.stored.text(c.Group), s.stored.text(c.Key)
	if !c.Delete {
		var err error
		if c.Value, err = s.stored.codec.Marshal(value); err != nil {
			return false, err
		}
	}
	_, restart, err := s.saveSettings(ctx, []SettingChange{c})
	return restart, err
}

// ExportSettings returns the settings in the database as the admin API has them. Secrets are masked: an import leaves them as they are.
func (s *Service) ExportSettings(ctx context.Context, _ struct{}) (*SettingList, error) {
	return s.StoredSettings(ctx, false)
}

// ImportSettings changes settings as POST config does. NeedReboot of the result is about these changes only.
func (s *Service) ImportSettings(ctx context.Context, file json.RawMessage) (*SettingList, error) {
	var list struct {
		Configs []SettingChange `json:"configs"`
	}
	if err := json.Unmarshal(file, &list); err != nil || list.Configs == nil {
		return nil, errs.BadRequest("The file is not JSON with a list \"configs\", as svc config export writes it")
	}
	saved, restart, err := s.saveSettings(ctx, list.Configs)
	if err == nil {
		saved.NeedReboot = restart
	}
	return saved, err
}
