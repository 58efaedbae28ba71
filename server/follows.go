package server

import (
	"svc/internal/errs"
	"svc/server/rest"
	"svc/social"
	"svc/store"
)

// followRoutes are following, and what comes with it.
func (s *Server) followRoutes() rest.Routes {
	return rest.Routes{
		"POST /api/v1/accounts/:id/follow":                {followAction, s.follow},
		"POST /api/v1/accounts/:id/unfollow":              {followAction, s.unfollow},
		"POST /api/v1/accounts/:id/remove_from_followers": {followAction, s.removeFollower},
		"POST /api/v1/follows":                            {rest.User("write:follows").Limit("follows"), s.followByHandle},
		"GET /api/v1/follow_requests":                     {rest.User("read:follows"), s.followRequests},
		"POST /api/v1/follow_requests/:id/authorize":      {rest.User("write:follows"), s.acceptFollowRequest},
		"POST /api/v1/follow_requests/:id/reject":         {rest.User("write:follows"), s.rejectFollowRequest},
		"POST /api/v1/svc/accounts/:id/subscribe":         {rest.User("write:follows"), s.subscribe},
		"POST /api/v1/svc/accounts/:id/unsubscribe":       {rest.User("write:follows"), s.unsubscribe},
		"POST /api/v1/accounts/:id/note":                  {rest.User("write:accounts"), s.noteAccount},
	}
}

var followAction = rest.User("write:follows").Limit("follows").Limit("follows_same_account", ":id")

// relationshipAfter answers with the viewer's relationship to the account of the path, once something has been done about it.
func (s *Server) relationshipAfter(r *rest.Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return s.relationship(r, accountParam(r))
}

// follow follows an account, or changes how.
func (s *Server) follow(r *rest.Request) (any, error) {
	o, err := bindFollowOptions(r)
	if err != nil {
		return nil, err
	}
	_, err = s.social.Follow(r.Context(), r.Viewer, accountParam(r), o)
	return s.relationshipAfter(r, err)
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
func (s *Server) followByHandle(r *rest.Request) (any, error) {
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
	a, err := s.resolveAccount(r, p.URI)
	if err != nil {
		return nil, err
	}
	if _, err := s.social.Follow(r.Context(), r.Viewer, a.ID, o); err != nil {
		return nil, err
	}
	list, err := s.entities.AccountsWithRelationships(r.Context(), r.Viewer, []store.AccountID{a.ID})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.ErrRecordNotFound
	}
	return list[0], nil
}

// unfollow ends a follow, or takes a request back.
func (s *Server) unfollow(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unfollow(r.Context(), r.Viewer, accountParam(r)))
}

// removeFollower has an account follow the viewer no longer.
func (s *Server) removeFollower(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.RemoveFollower(r.Context(), r.Viewer, accountParam(r)))
}

// followRequests returns who asks to follow the viewer, paged by the requests' own ids.
func (s *Server) followRequests(r *rest.Request) (any, error) {
	page := r.Page(40, 80)
	rows, err := s.db.FollowRequests(r.Context(), r.Viewer.ID, page.Page)
	return s.accountEntries(r, page, rows, err)
}

// acceptFollowRequest lets an account follow the viewer.
func (s *Server) acceptFollowRequest(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.AcceptFollowRequest(r.Context(), r.Viewer, accountParam(r)))
}

// rejectFollowRequest refuses an account that wants to follow the viewer.
func (s *Server) rejectFollowRequest(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.RejectFollowRequest(r.Context(), r.Viewer, accountParam(r)))
}

// subscribe has the viewer told of each post of an account.
func (s *Server) subscribe(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Subscribe(r.Context(), r.Viewer, accountParam(r)))
}

// unsubscribe ends that.
func (s *Server) unsubscribe(r *rest.Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unsubscribe(r.Context(), r.Viewer, accountParam(r)))
}

// noteAccount writes a private note on an account.
func (s *Server) noteAccount(r *rest.Request) (any, error) {
	var p struct {
		Comment string `param:"comment"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return s.relationshipAfter(r, s.social.SetAccountNote(r.Context(), r.Viewer, accountParam(r), p.Comment))
}
