package staff

import (
	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/rest"
)

// inviteRoutes are invites, with which people register while registration is closed.
func (h *Handlers) inviteRoutes() rest.Routes {
	write := rest.Privileged(config.UsersInvites, "admin:write:invites")
	return rest.Routes{
		"GET /api/v1/svc/admin/users/invites":        {rest.Privileged(config.UsersInvites, "admin:read:invites").Secret().Answers("Invites"), h.listInvites},
		"POST /api/v1/svc/admin/users/invite_token":  {write.Written().Secret().Answers("Invite"), h.createInvite},
		"POST /api/v1/svc/admin/users/revoke_invite": {write.Deletes().Secret().Answers("Invite"), h.revokeInvite},
		"POST /api/v1/svc/admin/users/email_invite":  {write.Answers("204 nothing"), h.mailInvite},
	}
}

// listInvites lists all invites, oldest first.
func (h *Handlers) listInvites(r *rest.Request) (any, error) {
	list, err := h.Admin.Invites(r.Context(), struct{}{})
	return map[string]any{"invites": list}, err
}

// createInvite creates an invite.
func (h *Handlers) createInvite(r *rest.Request) (any, error) {
	var p struct {
		MaxUse    *int   `param:"max_use"`
		ExpiresAt string `param:"expires_at"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	n := admin.NewInvite{ExpiresAt: p.ExpiresAt}
	if p.MaxUse != nil {
		if n.MaxUse = *p.MaxUse; n.MaxUse < 1 {
			return nil, errs.BadRequest("max_use - %d is smaller than inclusive minimum 1.", n.MaxUse)
		}
	}
	return h.as(r).CreateInvite(r.Context(), n)
}

// revokeInvite makes an invite unusable.
func (h *Handlers) revokeInvite(r *rest.Request) (any, error) {
	var p struct {
		Token string `param:"token,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	i, err := h.as(r).RevokeInvite(r.Context(), p.Token)
	return i, notFound(err)
}

// mailInvite creates an invite and sends it by mail.
func (h *Handlers) mailInvite(r *rest.Request) (any, error) {
	var p struct {
		Email string `param:"email,required"`
		Name  string `param:"name"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if _, err := h.as(r).MailInvite(r.Context(), admin.InviteMail{Email: p.Email, Name: p.Name}); err != nil {
		return asList(r, err)
	}
	return rest.NoContent, nil
}
