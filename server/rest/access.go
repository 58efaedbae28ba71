package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"svc/internal/config"
	"svc/internal/errs"
)

// Access is who may call an endpoint, and what else is checked before its handler runs.
type Access struct {
	caller    callerKind
	privilege config.Privilege // of the staff; "": none needed
	scopes    []string         // alternatives, one of which is required
	content   bool             // posts and profiles, which a private instance shows to users only
	changes   bool             // changes state even on GET
	files     bool             // accepts uploads
	tokenOnly bool             // ignores cookies and passwords
	html      bool             // answers in HTML, errors included
	deletes   bool             // served while the disk is full, as DELETE is
	inbox     bool             // receives activities of other servers, whose bodies have a share of their own
	closed    bool             // served after this server was closed permanently, too
	written   bool             // the answer to a write has nothing that only a read scope may see
	secret    bool             // the answer has a secret and is not compressed
	optional  string           // the name in api.optional without which other programs get a 404; "": always served
	session   bool             // for browsers that are signed in to the server's own pages; ignores other credentials
	shared    bool             // takes what other programs share by way of the browser, which knows no token of a form
	limits    []routeLimit
	answer    string // the shape of the answer, for the description of the API
}

// callerKind is the kind of caller that an endpoint is for.
type callerKind int

const (
	callerAnonymous callerKind = iota // everyone, and credentials are ignored
	callerAnyone                      // everyone; users are authenticated
	callerApp                         // an app, with or without a user
	callerUser
	callerStaff
	callerAdmin
)

var (
	// Anonymous admits everyone and ignores credentials.
	Anonymous = Access{caller: callerAnonymous}

	// Anyone admits everyone. A valid token identifies its user; an invalid one is ignored.
	Anyone = Access{caller: callerAnyone}

	// File is Anonymous for a file that browsers load with a page. Such requests have a limit of their own, which ordinary pages never reach.
	File = Anonymous.Limit(FileBucket)

	// Browser admits browsers to a page of this server. The session of a browser identifies its user; other credentials are ignored. A
	// request that changes state must come from a page of this server, and from a form of the session if there is one.
	Browser = Access{caller: callerAnyone, session: true, html: true}

	// SignedIn is Browser for users. Others are sent to the page for signing in.
	SignedIn = Access{caller: callerUser, session: true, html: true}
)

// AnyoneWith admits everyone. A user whose token has none of the scopes is anonymous.
func AnyoneWith(scopes ...string) Access { return Access{caller: callerAnyone, scopes: scopes} }

// Content is AnyoneWith for posts and profiles: if the instance is not public, it admits users only.
func Content(scopes ...string) Access {
	return Access{caller: callerAnyone, scopes: scopes, content: true}
}

// App admits every token with one of the scopes, of an app or of a user.
func App(scopes ...string) Access { return Access{caller: callerApp, scopes: scopes} }

// User admits users whose token has one of the scopes, or any scope if none are listed.
func User(scopes ...string) Access { return Access{caller: callerUser, scopes: scopes} }

// Staff admits moderators and admins whose token has one of the scopes.
func Staff(scopes ...string) Access { return Access{caller: callerStaff, scopes: scopes} }

// Privileged admits moderators and admins whose roles have a privilege, with a token that has one of the scopes.
func Privileged(p config.Privilege, scopes ...string) Access {
	return Access{caller: callerStaff, privilege: p, scopes: scopes}
}

// Admin admits admins whose token has one of the scopes.
func Admin(scopes ...string) Access { return Access{caller: callerAdmin, scopes: scopes} }

// Limit also counts requests in a bucket of the settings (rate_limit.*), separately for each value of the keys. A key such as ":id"
// stands for a parameter of the path.
func (a Access) Limit(bucket string, keys ...string) Access {
	a.limits = append(slices.Clip(a.limits), routeLimit{bucket: bucket, keys: keys})
	return a
}

// Uploads allows bodies as large and as slow as uploads may be.
func (a Access) Uploads() Access {
	a.files = true
	return a
}

// Shared marks a page that takes what other programs of the device share. The browser sends it on behalf of the user and has no form of the session;
// a request that a page of another site causes is refused as ever. So its handler must change nothing that others see.
func (a Access) Shared() Access {
	a.shared = true
	return a
}

// Inbox marks an endpoint that receives activities. Its bodies have a share of the memory of bodies of their own.
func (a Access) Inbox() Access {
	a.inbox = true
	return a
}

// Changing marks a GET that changes state, so that other sites cannot make a browser call it.
func (a Access) Changing() Access {
	a.changes = true
	return a
}

// TokenOnly ignores cookies and passwords, which browsers send by themselves.
func (a Access) TokenOnly() Access {
	a.tokenOnly = true
	return a
}

// Optional marks an endpoint that is served only if the setting api.optional has its name. Pages of this server call it always.
func (a Access) Optional(name string) Access {
	a.optional = name
	return a
}

// HTML marks pages for browsers, whose errors are pages too.
func (a Access) HTML() Access {
	a.html = true
	return a
}

// Deletes marks an endpoint that only deletes or undoes something, so that it is served while the disk is full. DELETE needs no mark.
func (a Access) Deletes() Access {
	a.deletes = true
	return a
}

// WhenClosed marks an endpoint that answers as usual after this server was closed permanently. Others answer ErrClosed.
func (a Access) WhenClosed() Access {
	a.closed = true
	return a
}

// Written marks a write whose answer shows nothing that was stored before, or whose handler leaves out members that the token may not read. A
// token without the scope to read the answers to other writes gets the id alone.
func (a Access) Written() Access {
	a.written = true
	return a
}

// Secret marks an endpoint whose answer has a secret, such as a token, a code or a link that needs no other credentials. It is never compressed,
// because its size could reveal the secret; nor are the pages that call it.
func (a Access) Secret() Access {
	a.secret = true
	return a
}

var anyStatus = regexp.MustCompile(`^/api/v1/(svc/)?statuses/:`)

// readScopes returns the scopes of which one is needed to see the answer to a write, nil if none is needed.
func (a Access) readScopes(path string) (scopes []string) {
	if a.written || a.session || a.caller < callerUser {
		return nil
	}
	for _, scope := range a.scopes {
		if read := strings.Replace(scope, "write", "read", 1); read != scope {
			scopes = append(scopes, read)
		}
	}
	if len(scopes) > 0 && anyStatus.MatchString(path) {
		return []string{"read:statuses"} // it may be another account's, as after unfavourite
	}
	return scopes
}

// String returns the access as `svc routes` prints it.
func (a Access) String() string {
	name := [...]string{"anyone", "anyone", "app", "user", "staff", "admin"}[a.caller]
	if a.session && a.caller >= callerUser {
		name = "session"
	}
	if a.privilege != "" {
		name += ":" + string(a.privilege)
	}
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
	ErrNotPrivileged      = errs.Forbidden("User isn't privileged.")
	ErrScope              = errs.Forbidden("This action is outside the authorized scopes")
)

// checkAccess decides whether the request may reach its handler. refused is why its credentials, if any, were not accepted.
func (s *Server) checkAccess(r *Request, refused error) error {
	a := &r.endpoint.Access
	switch {
	case a.caller <= callerAnyone:
		if !r.hasScope(a.scopes) {
			r.Viewer, r.User, r.Token = nil, nil, nil
		}
		if a.content && r.Viewer == nil && !s.settings.Load().Instance.Public {
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
	case a.privilege != "" && !s.settings.Load().Instance.HasPrivilege(r.User.IsAdmin, r.User.IsModerator, a.privilege):
		return ErrNotPrivileged
	case !r.hasScope(a.scopes):
		r.header.Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Join(a.scopes, " ")+`"`) // RFC 6750, 3.1
		return r.refusal(ErrScope, errs.Forbidden("Insufficient permissions: %s.", strings.Join(a.scopes, " | ")))
	}
	return nil
}

// refusal returns the error that is usual on the plain client API, or the one of the extension and admin API.
func (r *Request) refusal(plain, extension *errs.Error) error {
	if r.endpoint.extension {
		return extension
	}
	return plain
}

// hasScope returns true if the token has one of the scopes. A password without a token has all.
func (r *Request) hasScope(scopes []string) bool {
	return len(scopes) == 0 || r.Token == nil || slices.ContainsFunc(scopes, r.Token.Scopes.Allow)
}

// Readable returns the answer to a write, or only its id if the token has none of the scopes that reading the rest needs.
func (r *Request) Readable(value any, scopes ...string) (any, error) {
	if r.hasScope(scopes) {
		return value, nil
	}
	switch value.(type) {
	case nil, http.Handler, string, map[string]string: // without stored texts
		return value, nil
	}
	b := jsonBuffers.Get().(*jsonBuffer)
	defer b.release()
	if err := b.encodeAnswer(r, value); err != nil {
		return nil, err
	}
	switch b.bytes[0] {
	case '[':
		return []string{}, nil
	case '{':
		var only struct {
			ID json.RawMessage `json:"id,omitempty"`
		}
		return &only, json.Unmarshal(b.bytes, &only)
	}
	return json.RawMessage(bytes.Clone(b.bytes)), nil
}

// MayRead returns true if the token of a user allows a scope, for an answer to a write that has what only this scope may read.
func (r *Request) MayRead(scope string) bool {
	return r.Token == nil || r.Token.Scopes.Allow(scope)
}
