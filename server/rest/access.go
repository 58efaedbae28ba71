package rest

import (
	"slices"
	"strings"

	"svc/internal/errs"
)

// Access is who may call an endpoint, and what else is checked before its handler runs.
type Access struct {
	caller    callerKind
	scopes    []string // alternatives: one of them is needed
	content   bool     // shows what people wrote: a private instance keeps it from the anonymous
	changes   bool     // changes state even on GET
	files     bool     // takes uploads
	tokenOnly bool     // only tokens count that the client sends itself: no cookies, no passwords
	html      bool     // speaks HTML to a person, about errors too
	limits    []routeLimit
}

// callerKind is the kind of caller that an endpoint is for.
type callerKind int

const (
	callerAnonymous callerKind = iota // everyone, and credentials are not looked at
	callerAnyone                      // everyone; a user is recognised
	callerApp                         // an app, with or without a user
	callerUser
	callerStaff
	callerAdmin
)

var (
	// anonymous lets everyone in and treats everyone alike: credentials are not looked at.
	Anonymous = Access{caller: callerAnonymous}

	// anyone lets everyone in. A user is recognised by a valid token; any other token counts for nothing.
	Anyone = Access{caller: callerAnyone}
)

// AnyoneWith lets everyone in. A user whose token lacks all of the scopes is anonymous here.
func AnyoneWith(scopes ...string) Access { return Access{caller: callerAnyone, scopes: scopes} }

// content is AnyoneWith for what people wrote: if the instance is not public, it is for users only.
func Content(scopes ...string) Access {
	return Access{caller: callerAnyone, scopes: scopes, content: true}
}

// app lets in everyone who has a token with one of the scopes, be it an app's own or a user's.
func App(scopes ...string) Access { return Access{caller: callerApp, scopes: scopes} }

// user lets in users whose token has one of the scopes; without scopes any token of a user will do.
func User(scopes ...string) Access { return Access{caller: callerUser, scopes: scopes} }

// Staff lets in moderators and admins whose token has one of the scopes.
func Staff(scopes ...string) Access { return Access{caller: callerStaff, scopes: scopes} }

// admin lets in admins whose token has one of the scopes.
func Admin(scopes ...string) Access { return Access{caller: callerAdmin, scopes: scopes} }

// limit has requests counted in the bucket of that name in the settings (rate_limit.*) too. They are counted apart for each
// of the keys; a key such as ":id" stands for the value of a parameter of the path.
func (a Access) Limit(bucket string, keys ...string) Access {
	a.limits = append(slices.Clip(a.limits), routeLimit{bucket: bucket, keys: keys})
	return a
}

// uploads lets bodies be as large as files may be, and take as long.
func (a Access) Uploads() Access {
	a.files = true
	return a
}

// changing marks a GET that changes something, so that other sites cannot have it called by a browser.
func (a Access) Changing() Access {
	a.changes = true
	return a
}

// TokenOnly has only tokens count, which the client sends by itself: no cookies and no passwords.
func (a Access) TokenOnly() Access {
	a.tokenOnly = true
	return a
}

// HTML marks what people see in a browser: errors are pages too.
func (a Access) HTML() Access {
	a.html = true
	return a
}

// String is what `svc routes` prints.
func (a Access) String() string {
	name := [...]string{"anyone", "anyone", "app", "user", "staff", "admin"}[a.caller]
	if len(a.scopes) == 0 {
		return name
	}
	return name + " " + strings.Join(a.scopes, "|")
}

var (
	ErrInvalidToken       = errs.Unauthorized("The access token is invalid")
	errInvalidCredentials = errs.Forbidden("Invalid credentials.")
	errAppToken           = errs.Invalid("This method requires an authenticated user")
	errPrivate            = errs.Unauthorized("This API requires an authenticated user")
	errPrivateExtension   = errs.Forbidden("This resource requires authentication.")
	errNotStaff           = errs.Forbidden("User is not a staff member.")
	errNotAdmin           = errs.Forbidden("User is not an admin.")
	ErrScope              = errs.Forbidden("This action is outside the authorized scopes")
)

// checkAccess decides whether the request may reach its handler. refused is why its credentials, if it had any, did not count.
func (s *Server) checkAccess(r *Request, refused error) error {
	a := &r.endpoint.Access
	switch {
	case a.caller <= callerAnyone:
		if !r.hasScope(a.scopes) {
			r.Viewer, r.User, r.Token = nil, nil, nil
		}
		if a.content && r.Viewer == nil && !s.settings.Instance.Public {
			return r.refusal(errPrivate, errPrivateExtension)
		}
		return nil
	case refused != nil:
		return refused
	case r.Viewer == nil && r.Token == nil:
		return r.refusal(ErrInvalidToken, errInvalidCredentials)
	case r.Viewer == nil && a.caller >= callerUser:
		return r.refusal(errAppToken, errInvalidCredentials)
	case a.caller >= callerStaff && (r.User == nil || !r.User.IsAdmin && !r.User.IsModerator):
		return errNotStaff
	case a.caller == callerAdmin && !r.User.IsAdmin:
		return errNotAdmin
	case !r.hasScope(a.scopes):
		return r.refusal(ErrScope, errs.Forbidden("Insufficient permissions: %s.", strings.Join(a.scopes, " | ")))
	}
	return nil
}

// refusal returns the refusal that is usual on the plain client API, or that of the extension and admin API.
func (r *Request) refusal(plain, extension *errs.Error) error {
	if r.endpoint.extension {
		return extension
	}
	return plain
}

// hasScope tells whether the request may do one of scopes. Who signed in by password, without a token, may do all.
func (r *Request) hasScope(scopes []string) bool {
	return len(scopes) == 0 || r.Token == nil || slices.ContainsFunc(scopes, r.Token.Scopes.Allow)
}
