package admin

import (
	"context"

	"svc/internal/config"
	"svc/internal/dbconfig"
	"svc/internal/errs"
	"svc/internal/frontend"
	"svc/store"
)

// FrontendUse chooses the front end that is shown.
type FrontendUse struct {
	Version string `json:"version"` // NAME/REF; "": the pages of this program
	Admin   bool   `json:"admin"`   // the one for administrators instead of the primary one
}

// FrontendChoice is the front end that is shown, and the one before. "" is none.
type FrontendChoice struct {
	Version string `json:"version"`
	Former  string `json:"former"`
}

// frontendRow is the row of the chosen front ends. It takes effect even if instance.configurable_from_database is off.
var frontendRow = dbconfig.RowKey{Group: ":svc", Key: ":frontends"}

// onlyChosenFrontends returns the subkeys of frontendRow that select versions.
func onlyChosenFrontends(v dbconfig.Value) dbconfig.Value {
	return dbconfig.Only(v, ":primary", ":admin")
}

// Use shows an installed version from now on, to visitors or to administrators. It changes the setting in the database, or removes it there
// if the settings file names the same version.
func (f *Frontends) Use(ctx context.Context, use FrontendUse) (*FrontendChoice, error) {
	if v, ok := frontend.ParseVersion(use.Version); use.Version != "" && !ok {
		return nil, errs.BadRequest("%q is not NAME/REF, such as pleroma-fe/develop", use.Version)
	} else if use.Version != "" && !f.dir.Has(v) {
		return nil, errs.NotFound("%s is not installed", use.Version)
	}
	key, place := "primary", "shown to visitors"
	if use.Admin {
		key, place = "admin", "shown to administrators"
	}
	st := f.staff.stored
	st.mu.Lock()
	defer st.mu.Unlock()
	choice := &FrontendChoice{Version: use.Version, Former: chosenFrontend(st.next, use.Admin)}
	if choice.Former == choice.Version {
		return choice, nil
	}
	_, err := f.staff.changeSettings(ctx, func(_ *store.Tx, u *settingUpdate) error {
		if use.Version == chosenFrontend(st.file(), use.Admin) {
			row := SettingChange{Group: st.text(frontendRow.Group), Key: st.text(frontendRow.Key), Delete: true, Subkeys: []string{":" + key}}
			return u.add(row)
		}
		next := *st.next
		if err := next.Set("frontends", key, use.Version); err != nil {
			return errs.BadRequest("%s", err.Error())
		}
		u.set(&next, "frontends", key)
		return nil
	}, func(ctx context.Context, tx *store.Tx, _ *settingUpdate) error {
		what := "chose the pages of the server to be " + place
		if use.Version != "" {
			what = "chose front end " + use.Version + " to be " + place
		}
		return f.staff.record(ctx, tx, "frontend_use", what, map[string]any{"version": choice.Version, "former": choice.Former, "setting": "frontends." + key})
	})
	return choice, err
}

func chosenFrontend(c *config.Config, admin bool) string {
	if admin {
		return c.Frontends.Admin
	}
	return c.Frontends.Primary
}
