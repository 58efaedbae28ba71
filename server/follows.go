package server

import (
	"svc/internal/errs"
	"svc/social"
	"svc/store"
)

// followRoutes are following, and what comes with it.
var followRoutes = routes{
	"POST /api/v1/accounts/:id/follow":                {followAction, (*Server).follow},
	"POST /api/v1/accounts/:id/unfollow":              {followAction, (*Server).unfollow},
	"POST /api/v1/accounts/:id/remove_from_followers": {followAction, (*Server).removeFollower},
	"POST /api/v1/follows":                            {user("write:follows").limit("follows"), (*Server).followByHandle},
	"GET /api/v1/follow_requests":                     {user("read:follows"), (*Server).followRequests},
	"POST /api/v1/follow_requests/:id/authorize":      {user("write:follows"), (*Server).acceptFollowRequest},
	"POST /api/v1/follow_requests/:id/reject":         {user("write:follows"), (*Server).rejectFollowRequest},
	"POST /api/v1/svc/accounts/:id/subscribe":         {user("write:follows"), (*Server).subscribe},
	"POST /api/v1/svc/accounts/:id/unsubscribe":       {user("write:follows"), (*Server).unsubscribe},
	"POST /api/v1/accounts/:id/note":                  {user("write:accounts"), (*Server).noteAccount},
}

var followAction = user("write:follows").limit("follows").limit("follows_same_account", ":id")

// relationshipAfter answers with the viewer's relationship to the account of the path, once something has been done about it.
func (s *Server) relationshipAfter(r *Request, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return s.relationship(r, accountParam(r))
}

// follow follows an account, or changes how.
func (s *Server) follow(r *Request) (any, error) {
	o, err := bindFollowOptions(r)
	if err != nil {
		return nil, err
	}
	_, err = s.social.Follow(r.Context(), r.Viewer, accountParam(r), o)
	return s.relationshipAfter(r, err)
}

func bindFollowOptions(r *Request) (social.FollowOptions, error) {
	var p struct {
		Reblogs   *bool    `param:"reblogs"`
		Notify    *bool    `param:"notify"`
		Languages []string `param:"languages"`
	}
	if err := r.Bind(&p); err != nil {
		return social.FollowOptions{}, err
	}
	if r.isNull("languages") {
		p.Languages = nil
	}
	return social.FollowOptions{ShowReblogs: p.Reblogs, Notify: p.Notify, Languages: p.Languages}, nil
}

// followByHandle follows the account of a handle, and returns the account.
func (s *Server) followByHandle(r *Request) (any, error) {
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
func (s *Server) unfollow(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unfollow(r.Context(), r.Viewer, accountParam(r)))
}

// removeFollower has an account follow the viewer no longer.
func (s *Server) removeFollower(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.RemoveFollower(r.Context(), r.Viewer, accountParam(r)))
}

// followRequests returns who asks to follow the viewer, paged by the requests' own ids.
func (s *Server) followRequests(r *Request) (any, error) {
	page := r.Page(40, 80)
	rows, err := s.db.FollowRequests(r.Context(), r.Viewer.ID, page.Page)
	return s.accountEntries(r, page, rows, err)
}

// acceptFollowRequest lets an account follow the viewer.
func (s *Server) acceptFollowRequest(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.AcceptFollowRequest(r.Context(), r.Viewer, accountParam(r)))
}

// rejectFollowRequest refuses an account that wants to follow the viewer.
func (s *Server) rejectFollowRequest(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.RejectFollowRequest(r.Context(), r.Viewer, accountParam(r)))
}

// subscribe has the viewer told of each post of an account.
func (s *Server) subscribe(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.Subscribe(r.Context(), r.Viewer, accountParam(r)))
}

// unsubscribe ends that.
func (s *Server) unsubscribe(r *Request) (any, error) {
	return s.relationshipAfter(r, s.social.Unsubscribe(r.Context(), r.Viewer, accountParam(r)))
}

// noteAccount writes a private note on an account.
func (s *Server) noteAccount(r *Request) (any, error) {
	var p struct {
		Comment string `param:"comment"`
	}
	if err := r.Bind(&p); err != nil {
		return nil, err
	}
	return s.relationshipAfter(r, s.social.SetAccountNote(r.Context(), r.Viewer, accountParam(r), p.Comment))
}
