package server

import (
	"encoding/json"

	"svc/internal/errs"
)

// settingsRoutes are what front ends store for people, one object each: the same that an account shows as svc.settings_store.
var settingsRoutes = routes{
	"GET /api/v1/svc/settings/:app":   {user("read:accounts"), (*Server).showSettings},
	"PATCH /api/v1/svc/settings/:app": {user("write:accounts"), (*Server).mergeSettings},
}

// maxFrontendName is how long the name of a front end may be, in bytes.
const maxFrontendName = 100

// showSettings returns what a front end has stored for the viewer.
func (s *Server) showSettings(r *Request) (any, error) {
	if stored, ok := r.User.SettingsStore.V[r.Param("app")]; ok {
		return stored, nil
	}
	return nil, nil
}

// mergeSettings merges an object into what a front end has stored for the viewer. The body is the object itself; of a form, all
// fields are text.
func (s *Server) mergeSettings(r *Request) (any, error) {
	app := r.Param("app")
	if len(app) > maxFrontendName {
		return nil, errs.Invalid("Validation failed: App is too long (maximum is %d bytes)", maxFrontendName)
	}
	p, err := r.parameters()
	if err != nil {
		return nil, err
	}
	patch := make(map[string]json.RawMessage)
	if p.doc != nil { // p.fields may have other names, and what came in the query
		err = json.Unmarshal(p.doc, &patch)
	} else {
		for name, v := range p.fields {
			patch[name] = v.appendJSON(nil)
		}
	}
	if err != nil {
		return nil, err
	}
	delete(patch, tokenParam)
	return s.social.MergeFrontendSettings(r.Context(), r.Viewer.ID, app, patch)
}
