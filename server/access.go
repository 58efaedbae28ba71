package server

import (
	"slices"
	"strings"

	"svc/internal/errs"
)

// access is who may call an endpoint, and what else is checked before its handler runs.
type access struct {
	who     who
	scopes  []string // alternatives: one of them is needed
	content bool     // shows what people wrote: a private instance keeps it from the anonymous
	changes bool     // changes state even on GET
	files   bool     // takes uploads
	token   bool     // only tokens count that the client sends itself: no cookies, no passwords
	page    bool     // speaks HTML to a person, about errors too
	limits  []limit
}

// who is the kind of caller that an endpoint is for.
type who int

const (
	whoAnonymous who = iota // everyone, and credentials are not looked at
	whoAnyone               // everyone; a user is recognised
	whoApp                  // an app, with or without a user
	whoUser
	whoStaff
	whoAdmin
)

var (
	// anonymous lets everyone in and treats everyone alike: credentials are not looked at.
	anonymous = access{who: whoAnonymous}

	// anyone lets everyone in. A user is recognised by a valid token; any other token counts for nothing.
	anyone = access{who: whoAnyone}
)

// anyoneWith lets everyone in. A user whose token lacks all of the scopes is anonymous here.
func anyoneWith(scopes ...string) access { return access{who: whoAnyone, scopes: scopes} }

// content is anyoneWith for what people wrote: if the instance is not public, it is for users only.
func content(scopes ...string) access { return access{who: whoAnyone, scopes: scopes, content: true} }

// app lets in everyone who has a token with one of the scopes, be it an app's own or a user's.
func app(scopes ...string) access { return access{who: whoApp, scopes: scopes} }

// user lets in users whose token has one of the scopes; without scopes any token of a user will do.
func user(scopes ...string) access { return access{who: whoUser, scopes: scopes} }

// staff lets in moderators and admins whose token has one of the scopes.
func staff(scopes ...string) access { return access{who: whoStaff, scopes: scopes} }

// admin lets in admins whose token has one of the scopes.
func admin(scopes ...string) access { return access{who: whoAdmin, scopes: scopes} }

// limit has requests counted in the bucket of that name in the settings (rate_limit.*) too. They are counted apart for each
// of the keys; a key such as ":id" stands for the value of a parameter of the path.
func (a access) limit(bucket string, keys ...string) access {
	a.limits = append(slices.Clip(a.limits), limit{bucket: bucket, keys: keys})
	return a
}

// uploads lets bodies be as large as files may be, and take as long.
func (a access) uploads() access {
	a.files = true
	return a
}

// changing marks a GET that changes something, so that other sites cannot have it called by a browser.
func (a access) changing() access {
	a.changes = true
	return a
}

// byToken has only tokens count, which the client sends by itself: no cookies and no passwords.
func (a access) byToken() access {
	a.token = true
	return a
}

// pages marks what people see in a browser: errors are pages too.
func (a access) pages() access {
	a.page = true
	return a
}

// String is what `svc routes` prints.
func (a access) String() string {
	name := [...]string{"anyone", "anyone", "app", "user", "staff", "admin"}[a.who]
	if len(a.scopes) == 0 {
		return name
	}
	return name + " " + strings.Join(a.scopes, "|")
}

var (
	errInvalidToken       = errs.Unauthorized("The access token is invalid")
	errInvalidCredentials = errs.Forbidden("Invalid credentials.")
	errAppToken           = errs.Invalid("This method requires an authenticated user")
	errPrivate            = errs.Unauthorized("This API requires an authenticated user")
	errPrivateExtension   = errs.Forbidden("This resource requires authentication.")
	errNotStaff           = errs.Forbidden("User is not a staff member.")
	errNotAdmin           = errs.Forbidden("User is not an admin.")
	errScope              = errs.Forbidden("This action is outside the authorized scopes")
)

// admit decides whether the request may reach its handler. refused is why its credentials, if it had any, did not count.
func (s *Server) admit(r *Request, refused error) error {
	a := &r.endpoint.access
	switch {
	case a.who <= whoAnyone:
		if !r.covers(a.scopes) {
			r.Viewer, r.User, r.Token = nil, nil, nil
		}
		if a.content && r.Viewer == nil && !s.settings.Instance.Public {
			return r.either(errPrivate, errPrivateExtension)
		}
		return nil
	case refused != nil:
		return refused
	case r.Viewer == nil && r.Token == nil:
		return r.either(errInvalidToken, errInvalidCredentials)
	case r.Viewer == nil && a.who >= whoUser:
		return r.either(errAppToken, errInvalidCredentials)
	case a.who >= whoStaff && (r.User == nil || !r.User.IsAdmin && !r.User.IsModerator):
		return errNotStaff
	case a.who == whoAdmin && !r.User.IsAdmin:
		return errNotAdmin
	case !r.covers(a.scopes):
		return r.either(errScope, errs.Forbidden("Insufficient permissions: %s.", strings.Join(a.scopes, " | ")))
	}
	return nil
}

// either returns the refusal that is usual on the plain client API, or that of the extension and admin API.
func (r *Request) either(plain, extension *errs.Error) error {
	if r.endpoint.extension {
		return extension
	}
	return plain
}

// covers tells whether the request may do one of scopes. Who signed in by password, without a token, may do all.
func (r *Request) covers(scopes []string) bool {
	return len(scopes) == 0 || r.Token == nil || slices.ContainsFunc(scopes, r.Token.Scopes.Allow)
}
