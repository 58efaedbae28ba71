package entity

import "svc/admin"

// AdminApp is an OAuth app for the staff (spec 2.20).
type AdminApp struct {
	*admin.App
	VAPIDKey string `json:"vapid_key,omitempty"`
}

// AdminApp renders an app.
func (r *renderer) AdminApp(a *admin.App) *AdminApp { return &AdminApp{a, r.VAPIDPublicKey} }
