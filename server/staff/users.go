package staff

import (
	"errors"
	"net/http"
	"strings"

	"svc/admin"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/server/entity"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// userRoutes find, create and delete accounts.
func (h *Handlers) userRoutes() rest.Routes {
	return rest.Routes{
		"GET /api/v1/svc/admin/users":                 {rest.Privileged(config.UsersRead, "admin:read:accounts").Answers("AdminUsers"), h.listUsers},
		"GET /api/v1/svc/admin/users/:nickname_or_id": {rest.Privileged(config.UsersRead, "admin:read:accounts").Answers("AdminUser"), h.showUser},
		"GET /api/v1/svc/admin/users/:nickname_or_id/overview": {
			rest.Privileged(config.UsersRead, "admin:read:accounts").Answers("object"), h.showOverview,
		},
		"POST /api/v1/svc/admin/users":          {rest.Admin("admin:write:accounts").Written().Answers("[]object"), h.createUsers},
		"DELETE /api/v1/svc/admin/users":        {rest.Privileged(config.UsersDelete, "admin:write:accounts").Answers("text|[]text"), h.deleteUsers},
		"POST /api/v1/svc/admin/users/follow":   {rest.Admin("admin:write:follows").Answers("string"), h.followUser},
		"POST /api/v1/svc/admin/users/unfollow": {rest.Admin("admin:write:follows").Deletes().Answers("string"), h.unfollowUser},
		"PUT /api/v1/svc/admin/users/tag":       {rest.Privileged(config.UsersTags, "admin:write:accounts").Answers("204 nothing"), h.tagUsers},
		"DELETE /api/v1/svc/admin/users/tag":    {rest.Privileged(config.UsersTags, "admin:write:accounts").Answers("204 nothing"), h.untagUsers},
	}
}

// userList is the answer of listUsers.
type userList struct {
	PageSize int                 `json:"page_size"`
	Count    int                 `json:"count"`
	Users    []*entity.AdminUser `json:"users"`
}

// listUsers lists accounts, newest first.
func (h *Handlers) listUsers(r *rest.Request) (any, error) {
	var p struct {
		Filters    string   `param:"filters"`
		Query      string   `param:"query"`
		Name       string   `param:"name"`
		Email      string   `param:"email"`
		Tags       []string `param:"tags"`
		ActorTypes []string `param:"actor_types"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	page := pageOf(r, 50)
	found, err := h.Admin.Users(r.Context(), admin.UserQuery{
		Filters: strings.Split(p.Filters, ","), Query: p.Query, Name: p.Name, Email: p.Email, Tags: p.Tags, ActorTypes: p.ActorTypes,
		Limit: page.size, Offset: page.offset(),
	})
	if err != nil {
		return nil, err
	}
	users, _, err := rest.Fit(r, found.Users, false, func(users []*admin.User) ([]*entity.AdminUser, error) { return h.entitiesOf(r, users) })
	return userList{page.size, found.Count, users}, err
}

// entitiesOf renders accounts.
func (h *Handlers) entitiesOf(r *rest.Request, users []*admin.User) ([]*entity.AdminUser, error) {
	ids := make([]store.AccountID, len(users))
	for i, u := range users {
		ids[i] = store.AccountID(u.ID)
	}
	return h.Entities.AdminUsers(r.Context(), ids)
}

// showUser returns an account by its nickname or id.
func (h *Handlers) showUser(r *rest.Request) (any, error) {
	u, err := h.Admin.ShowUser(r.Context(), r.Param("nickname_or_id"))
	if err != nil {
		return nil, notFound(err)
	}
	user, err := h.Entities.AdminUser(r.Context(), store.AccountID(u.ID))
	return user, notFound(err)
}

// showOverview returns an overview of an account, for staff before an action. Counts of reports need the privilege to manage them.
func (h *Handlers) showOverview(r *rest.Request) (any, error) {
	o, err := h.Admin.Overview(r.Context(), r.Param("nickname_or_id"), h.Entities.HasPrivilege(r.User, config.ReportsManage))
	return o, notFound(err)
}

// createdUser is the result of the creation of one of several accounts.
type createdUser struct {
	Type  string  `json:"type"` // success or error
	Code  int     `json:"code"`
	Error *string `json:"error,omitempty"`
	Data  struct {
		Nickname string `json:"nickname"`
		Email    string `json:"email"`
	} `json:"data"`
}

// createUsers creates several accounts, all or none. The error of each is that of its first invalid field.
func (h *Handlers) createUsers(r *rest.Request) (any, error) {
	var p struct {
		Users []struct {
			Nickname string `param:"nickname,required"`
			Email    string `param:"email,required"`
			Password string `param:"password,required"`
		} `param:"users,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	list := make([]admin.NewUser, len(p.Users))
	results := make([]createdUser, len(p.Users))
	for i, u := range p.Users {
		list[i] = admin.NewUser{Nickname: u.Nickname, Email: u.Email, Password: u.Password}
		results[i].Type, results[i].Code = "success", http.StatusOK
		results[i].Data.Nickname, results[i].Data.Email = u.Nickname, u.Email
	}
	_, faults, err := h.as(r).CreateUsers(r.Context(), list)
	if err != nil {
		return nil, err
	}
	if faults != nil {
		r.SetStatus(http.StatusConflict)
	}
	for i := range faults {
		results[i].Type, results[i].Code, results[i].Error = "error", http.StatusConflict, new(firstError(faults[i]))
	}
	return results, nil
}

// firstError returns the text of the first error of a registration, "" if there is none.
func firstError(faults social.FieldErrors) string {
	if len(faults) == 0 {
		return ""
	}
	return faults[0].Field + " " + faults[0].Message
}

// deleteUsers deletes accounts. With the deprecated parameter nickname, it answers with that nickname, else with the list.
func (h *Handlers) deleteUsers(r *rest.Request) (any, error) {
	var p struct {
		Nickname  string   `param:"nickname"`
		Nicknames []string `param:"nicknames"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if p.Nickname != "" && p.Nicknames == nil {
		_, err := h.as(r).DeleteUsers(r.Context(), []string{p.Nickname})
		return p.Nickname, notFound(err)
	}
	_, err := h.as(r).DeleteUsers(r.Context(), p.Nicknames)
	return p.Nicknames, notFound(err)
}

// followUser makes a local account follow an account.
func (h *Handlers) followUser(r *rest.Request) (any, error) {
	return h.changeFollow(r, (*admin.Service).FollowUser)
}

// unfollowUser makes a local account unfollow an account.
func (h *Handlers) unfollowUser(r *rest.Request) (any, error) {
	return h.changeFollow(r, (*admin.Service).UnfollowUser)
}

func (h *Handlers) changeFollow(r *rest.Request, change followOperation) (any, error) {
	var p struct {
		Follower string `param:"follower,required"`
		Followed string `param:"followed,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	_, err := change(h.as(r), r.Context(), admin.FollowChange{Follower: p.Follower, Followed: p.Followed})
	return "ok", notFound(err)
}

// tagUsers adds tags, such as mrf_tag:media-strip, to users.
func (h *Handlers) tagUsers(r *rest.Request) (any, error) {
	return h.changeTags(r, (*admin.Service).TagUsers)
}

// untagUsers removes tags from users.
func (h *Handlers) untagUsers(r *rest.Request) (any, error) {
	return h.changeTags(r, (*admin.Service).UntagUsers)
}

func (h *Handlers) changeTags(r *rest.Request, change tagOperation) (any, error) {
	var p struct {
		Nicknames []string `param:"nicknames,required"`
		Tags      []string `param:"tags,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	if _, err := change(h.as(r), r.Context(), admin.Tagging{Names: p.Nicknames, Tags: p.Tags}); err != nil {
		return nil, notFound(err)
	}
	return rest.NoContent, nil
}

// asList answers a refusal with a list of one error, as the spec has it for mailed invites.
func asList(r *rest.Request, err error) (any, error) {
	var e *errs.Error
	if !errors.As(err, &e) || e.Status >= http.StatusInternalServerError {
		return nil, err
	}
	r.SetStatus(e.Status)
	return []map[string]string{{"error": e.Message}}, nil
}
