package server

import (
	"svc/internal/errs"
	"svc/server/rest"
)

// settingsRoutes are what front ends store for people, one object each: the same that an account shows as svc.settings_store.
func (h *profile) settingsRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/settings/:app":   {rest.User("read:accounts"), h.showSettings},
		"PATCH /api/v1/svc/settings/:app": {rest.User("write:accounts"), h.mergeSettings},
	}
}

// maxFrontendName is how long the name of a front end may be, in bytes.
const maxFrontendName = 100

// showSettings returns what a front end has stored for the viewer.
func (h *profile) showSettings(r *rest.Request) (any, error) {
	if stored, ok := r.User.SettingsStore.V[r.Param("app")]; ok {
		return stored, nil
	}
	return nil, nil
}

// mergeSettings merges an object into what a front end has stored for the viewer. The body is the object itself; of a form, all
// fields are text.
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
