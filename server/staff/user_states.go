package staff

import (
	"context"
	"errors"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Operations of admin.Service that several endpoints have in common.
type (
	stateOperation  = func(*admin.Service, context.Context, []string) ([]*admin.ChangedUser, error)
	tagOperation    = func(*admin.Service, context.Context, admin.Tagging) ([]*admin.ChangedUser, error)
	roleOperation   = func(*admin.Service, context.Context, admin.RoleChange) ([]*admin.ChangedUser, error)
	followOperation = func(*admin.Service, context.Context, admin.FollowChange) (bool, error)
)

// userStateRoutes change the state of accounts.
func (h *Handlers) userStateRoutes() rest.Routes {
	activation := rest.Privileged(config.UsersActivation, "admin:write:accounts")
	credentials := rest.Privileged(config.UsersCredentials, "admin:write")
	return rest.Routes{
		"PATCH /api/v1/svc/admin/users/:nickname/toggle_activation": {activation.Answers("AdminUser"), h.toggleActivation},
		"PATCH /api/v1/svc/admin/users/activate":                    {activation.Answers("AdminUserList"), h.usersAfter((*admin.Service).ActivateUsers)},
		"PATCH /api/v1/svc/admin/users/deactivate":                  {activation.Deletes().Answers("AdminUserList"), h.usersAfter((*admin.Service).DeactivateUsers)},
		"PATCH /api/v1/svc/admin/users/approve": {
			rest.Privileged(config.UsersInvites, "admin:write:accounts").Answers("AdminUserList"), h.usersAfter((*admin.Service).ApproveUsers)},
		"PATCH /api/v1/svc/admin/users/suggest":                   {rest.Admin("admin:write:accounts").Answers("AdminUserList"), h.usersAfter((*admin.Service).SuggestUsers)},
		"PATCH /api/v1/svc/admin/users/unsuggest":                 {rest.Admin("admin:write:accounts").Deletes().Answers("AdminUserList"), h.usersAfter((*admin.Service).UnsuggestUsers)},
		"PATCH /api/v1/svc/admin/users/confirm_email":             {credentials.Answers("any"), h.namesAfter((*admin.Service).ConfirmUsers)},
		"PATCH /api/v1/svc/admin/users/resend_confirmation_email": {credentials.Answers("204 nothing"), h.namesAfter((*admin.Service).ResendConfirmations)},
	}
}

func bindNicknames(r *rest.Request) ([]string, error) {
	var p struct {
		Nicknames []string `param:"nicknames,required"`
	}
	err := r.Bind(&p)
	return p.Nicknames, err
}

// toggleActivation inverts whether an account is deactivated.
func (h *Handlers) toggleActivation(r *rest.Request) (any, error) {
	u, err := h.as(r).ToggleActivation(r.Context(), r.Param("nickname"))
	if err != nil {
		return nil, notFound(err)
	}
	return h.Entities.AdminUser(r.Context(), store.AccountID(u.ID))
}

// usersAfter returns a handler that runs an operation and answers with the accounts as they are then.
func (h *Handlers) usersAfter(run stateOperation) rest.Handler {
	return func(r *rest.Request) (any, error) {
		names, err := bindNicknames(r)
		if err != nil {
			return nil, err
		}
		changed, err := run(h.as(r), r.Context(), names)
		if err != nil {
			return nil, notFound(err)
		}
		users, err := h.changedUsers(r, changed)
		return map[string]any{"users": users}, err
	}
}

func (h *Handlers) changedUsers(r *rest.Request, changed []*admin.ChangedUser) ([]*entity.AdminUser, error) {
	users := make([]*admin.User, len(changed))
	for i, c := range changed {
		users[i] = c.User
	}
	return h.entitiesOf(r, users)
}

// namesAfter returns a handler that runs an operation and answers with the names that it was given.
func (h *Handlers) namesAfter(run stateOperation) rest.Handler {
	return func(r *rest.Request) (any, error) {
		names, err := bindNicknames(r)
		if err != nil {
			return nil, err
		}
		_, err = run(h.as(r), r.Context(), names)
		return names, notFound(err)
	}
}

// roleRoutes are the permission groups. The forms with one nickname are deprecated.
func (h *Handlers) roleRoutes() rest.Routes {
	read, write := rest.Admin("admin:read:accounts"), rest.Admin("admin:write:accounts")
	return rest.Routes{
		"GET /api/v1/svc/admin/users/:nickname/permission_group":                      {read.Answers("PermissionGroups"), h.showRoles},
		"GET /api/v1/svc/admin/users/:nickname/permission_group/:permission_group":    {read.Answers("PermissionGroups"), h.showRoles},
		"POST /api/v1/svc/admin/users/:nickname/permission_group/:permission_group":   {write.Answers("PermissionGroups|object"), h.grantRole},
		"DELETE /api/v1/svc/admin/users/:nickname/permission_group/:permission_group": {write.Answers("PermissionGroups|object"), h.revokeRole},
		"POST /api/v1/svc/admin/users/permission_group/:permission_group":             {write.Answers("PermissionGroups|object"), h.grantRoles},
		"DELETE /api/v1/svc/admin/users/permission_group/:permission_group":           {write.Answers("PermissionGroups|object"), h.revokeRoles},
	}
}

// showRoles returns the roles of an account.
func (h *Handlers) showRoles(r *rest.Request) (any, error) {
	if role := admin.Role(r.Param("permission_group")); role != "" && !role.Valid() {
		return nil, admin.ErrUnknownRole
	}
	u, err := h.Admin.ShowUser(r.Context(), r.Param("nickname"))
	if err != nil {
		return nil, notFound(err)
	}
	return map[string]bool{"is_admin": u.Admin, "is_moderator": u.Moderator}, nil
}

// grantRole makes a user an admin or a moderator.
func (h *Handlers) grantRole(r *rest.Request) (any, error) {
	return h.changeRole(r, (*admin.Service).GrantRole)
}

// revokeRole takes a role from a user.
func (h *Handlers) revokeRole(r *rest.Request) (any, error) {
	answer, err := h.changeRole(r, (*admin.Service).RevokeRole)
	if errors.Is(err, admin.ErrOwnRole) {
		err = errs.Forbidden("You can't revoke your own admin status.")
	}
	return answer, err
}

// userWithRoles is an account with its roles in both forms.
type userWithRoles struct {
	*entity.AdminUser
	IsAdmin     bool `json:"is_admin"`
	IsModerator bool `json:"is_moderator"`
}

// changeRole changes a role of one account.
func (h *Handlers) changeRole(r *rest.Request, change roleOperation) (any, error) {
	users, err := h.changeRolesOf(r, change, []string{r.Param("nickname")})
	if err != nil {
		return nil, err
	}
	u := users[0]
	return userWithRoles{u, u.Roles.Admin, u.Roles.Moderator}, nil
}

// grantRoles makes several users admins or moderators.
func (h *Handlers) grantRoles(r *rest.Request) (any, error) {
	return h.changeRoles(r, (*admin.Service).GrantRole, true)
}

// revokeRoles takes a role from several users.
func (h *Handlers) revokeRoles(r *rest.Request) (any, error) {
	return h.changeRoles(r, (*admin.Service).RevokeRole, false)
}

// changeRoles changes a role of several accounts. It answers with the role's new state, and the accounts.
func (h *Handlers) changeRoles(r *rest.Request, change roleOperation, granted bool) (any, error) {
	names, err := bindNicknames(r)
	if err != nil {
		return nil, err
	}
	users, err := h.changeRolesOf(r, change, names)
	if err != nil {
		return nil, err
	}
	return map[string]any{"is_" + r.Param("permission_group"): granted, "users": users}, nil
}

func (h *Handlers) changeRolesOf(r *rest.Request, change roleOperation, names []string) ([]*entity.AdminUser, error) {
	role := admin.Role(r.Param("permission_group"))
	if !role.Valid() {
		return nil, admin.ErrUnknownRole
	}
	changed, err := change(h.as(r), r.Context(), admin.RoleChange{Names: names, Role: role})
	if err != nil {
		return nil, notFound(err)
	}
	return h.changedUsers(r, changed)
}
