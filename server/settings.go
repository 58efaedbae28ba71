package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// settingsRoutes are the objects that front ends store for a user, also found in svc.settings_store of the account.
func (h *profile) settingsRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/settings/:app":   {rest.User("read:accounts"), h.showSettings},
		"PATCH /api/v1/svc/settings/:app": {rest.User("write:accounts"), h.mergeSettings},
	}
}

// maxFrontendName bounds the name of a front end, in bytes.
const maxFrontendName = 100

// showSettings returns the object of a front end.
func (h *profile) showSettings(r *rest.Request) (any, error) {
	if stored, ok := r.User.SettingsStore.V[r.Param("app")]; ok {
		return stored, nil
	}
	return nil, nil
}

// mergeSettings merges an object into that of a front end. The body is the object; the fields of a form are texts.
func (h *profile) mergeSettings(r *rest.Request) (any, error) {
	app := r.Param("app")
	if len(app) > maxFrontendName {
		return nil, errs.Invalid("Validation failed: App is too long (maximum is %d bytes)", maxFrontendName)
	}
	patch, err := r.Object()
	if err != nil {
		return nil, err
	}
	return h.social.MergeFrontendSettings(r.Context(), r.Viewer.ID, app, patch)
}
