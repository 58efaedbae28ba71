package server

import (
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// follows serves follows, follow requests, and what belongs to a follow.
type follows struct{ *parts }

func (h *follows) routes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/follow":                {followAction.Answers("Relationship"), h.follow},
		"POST /api/v1/accounts/:id/unfollow":              {followAction.Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unfollow)},
		"POST /api/v1/accounts/:id/remove_from_followers": {followAction.Deletes().Answers("Relationship"), h.render.accountAction(h.Social.RemoveFollower)},
		"POST /api/v1/follows":                            {rest.User("write:follows").Limit("follows").Answers("Account"), h.followByHandle},
		"GET /api/v1/follow_requests":                     {rest.User("read:follows").Answers("[]Account"), h.followRequests},
		"GET /api/v1/follow_requests/outgoing":            {rest.User("read:follows").Answers("[]Account"), h.outgoingFollowRequests}, // as in GoToSocial
		"GET /api/v1/svc/outgoing_follow_requests":        {rest.User("read:follows").Answers("[]Account"), h.outgoingFollowRequests},
		"POST /api/v1/follow_requests/:id/authorize":      {rest.User("write:follows").Answers("Relationship"), h.render.accountAction(h.Social.AcceptFollowRequest)},
		"POST /api/v1/follow_requests/:id/reject":         {rest.User("write:follows").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.RejectFollowRequest)},
		"POST /api/v1/svc/accounts/:id/subscribe":         {rest.User("write:follows").Answers("Relationship"), h.render.accountAction(h.Social.Subscribe)},
		"POST /api/v1/svc/accounts/:id/unsubscribe":       {rest.User("write:follows").Deletes().Answers("Relationship"), h.render.accountAction(h.Social.Unsubscribe)},
		"POST /api/v1/accounts/:id/note":                  {rest.User("write:accounts").Answers("Relationship"), h.noteAccount},
	}
}

var followAction = rest.User("write:follows").Limit("follows").Limit("follows_same_account", ":id")

// follow follows an account, or changes the options of a follow.
func (h *follows) follow(r *rest.Request) (any, error) {
	o, err := bindFollowOptions(r)
	if err != nil {
		return nil, err
	}
	if _, err = h.Social.Follow(r.Context(), r.Viewer, accountParam(r), o); err == nil {
		h.lookup.fillProfile(r, accountParam(r))
	}
	return h.render.relationshipAfter(r, err)
}

func bindFollowOptions(r *rest.Request) (social.FollowOptions, error) {
	var p struct {
		Reblogs   *bool    `param:"reblogs"`
		Notify    *bool    `param:"notify"`
		Languages []string `param:"languages"`
	}
	if err := r.Bind(&p); err != nil {
		return social.FollowOptions{}, err
	}
	if r.IsNull("languages") {
		p.Languages = nil
	}
	return social.FollowOptions{ShowReblogs: p.Reblogs, Notify: p.Notify, Languages: p.Languages}, nil
}

// followByHandle follows the account of a handle, and returns the account.
func (h *follows) followByHandle(r *rest.Request) (any, error) {
	var p struct {
		URI string `param:"uri,required"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	o, err := bindFollowOptions(r)
	if err != nil {
		return nil, err
	}
	a, err := h.lookup.resolveAccount(r, p.URI)
	if err != nil {
		return nil, err
	}
	if _, err := h.Social.Follow(r.Context(), r.Viewer, a.ID, o); err != nil {
		return nil, err
	}
	return only(h.Entities.AccountsWithRelationships(r.Context(), r.Viewer, []store.AccountID{a.ID}))
}

// followRequests lists the accounts that request to follow the viewer, with the ids of the requests as cursors.
func (h *follows) followRequests(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	part, err := h.DB.FollowRequests(r.Context(), r.Viewer.ID, page.Page)
	return h.render.accountEntries(r, page, part, err)
}

// outgoingFollowRequests lists the accounts that have not answered the viewer's request to follow them, with the ids of the requests as cursors.
// POST /api/v1/accounts/:id/unfollow withdraws a request.
func (h *follows) outgoingFollowRequests(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	part, err := h.DB.OutgoingFollowRequests(r.Context(), r.Viewer.ID, page.Page)
	return h.render.accountEntries(r, page, part, err)
}

// noteAccount sets the viewer's private note on an account.
func (h *follows) noteAccount(r *rest.Request) (any, error) {
	var p struct {
		Comment string `param:"comment"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return h.render.relationshipAfter(r, h.Social.SetAccountNote(r.Context(), r.Viewer, accountParam(r), p.Comment))
}
