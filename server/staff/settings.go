package staff

import (
	"encoding/json"

	"svc/admin"
	"svc/server/rest"
)

// settingRoutes are the settings in the database.
func (h *Handlers) settingRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/config":              {rest.Admin("admin:read").Answers("object"), h.listSettings},
		"POST /api/v1/svc/admin/config":             {rest.Admin("admin:write").Answers("object"), h.saveSettings},
		"GET /api/v1/svc/admin/config/descriptions": {rest.Admin("admin:read").Answers("[]object"), h.describeSettings},
		"GET /api/v1/svc/admin/settings":            {rest.Admin("admin:read").Answers("object"), h.listSettingStates},
		"GET /api/v1/svc/admin/settings/:name":      {rest.Admin("admin:read").Answers("object"), h.showSetting},
		"PUT /api/v1/svc/admin/settings/:name":      {rest.Admin("admin:write").Answers("object"), h.saveSetting},
		"DELETE /api/v1/svc/admin/settings/:name":   {rest.Admin("admin:write").Answers("object"), h.resetSetting},
		"GET /api/v1/svc/admin/need_reboot":         {rest.Admin("admin:read").Answers("object"), h.needsRestart},
		"GET /api/v1/svc/admin/restart":             {rest.Admin("admin:write").Changing().Answers("empty"), h.restart},
		"POST /api/v1/svc/admin/restart":            {rest.Admin("admin:write").Answers("empty"), h.restart},
	}
}

// listSettings lists all settings, or with only_db those in the database.
func (h *Handlers) listSettings(r *rest.Request) (any, error) {
	var p struct {
		OnlyDB bool `param:"only_db"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.Admin.StoredSettings(r.Context(), !p.OnlyDB)
}

// saveSettings changes settings, all or none.
func (h *Handlers) saveSettings(r *rest.Request) (any, error) {
	var p struct {
		Configs []struct {
			Group   string          `param:"group"`
			Key     string          `param:"key"`
			Value   json.RawMessage `param:"value"`
			Delete  bool            `param:"delete"`
			Subkeys []string        `param:"subkeys"`
		} `param:"configs,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	changes := make([]admin.SettingChange, len(p.Configs))
	for i, c := range p.Configs {
		changes[i] = admin.SettingChange(c)
	}
	return h.Admin.As(r.Viewer).SaveSettings(r.Context(), changes)
}

// describeSettings describes all settings, whether or not they can be changed in the database: front ends show no screen without.
func (h *Handlers) describeSettings(*rest.Request) (any, error) {
	return h.Admin.SettingDescriptions(), nil
}

// listSettingStates lists all settings by their names in the settings file, with their values and defaults.
func (h *Handlers) listSettingStates(*rest.Request) (any, error) {
	return h.Admin.SettingStates(), nil
}

// showSetting shows one setting as the settings file has it.
func (h *Handlers) showSetting(r *rest.Request) (any, error) {
	return h.Admin.ShowSetting(r.Context(), r.Param("name"))
}

// saveSetting changes one setting to the text of its value in the settings file.
func (h *Handlers) saveSetting(r *rest.Request) (any, error) {
	var p struct {
		Value string `param:"value,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.as(r).SaveSettingText(r.Context(), r.Param("name"), p.Value)
}

// resetSetting changes one setting back to its default.
func (h *Handlers) resetSetting(r *rest.Request) (any, error) {
	return h.as(r).ResetSetting(r.Context(), r.Param("name"))
}

// needsRestart says whether changes of settings wait for a restart.
func (h *Handlers) needsRestart(*rest.Request) (any, error) {
	return map[string]bool{"need_reboot": h.Admin.NeedsRestart()}, nil
}

// restart restarts the server after this answer.
func (h *Handlers) restart(r *rest.Request) (any, error) {
	return struct{}{}, h.Admin.As(r.Viewer).Restart(r.Context())
}
