package remote

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"svc/internal/activity"
	"svc/internal/config"
	"svc/internal/errs"
	"svc/store"
)

// OwnReferences finds the objects of this server that documents name by another URL than their id: the page of a profile or a post, http for
// https, a slash or a fragment at the end. People paste such URLs, and some programs send them.
type OwnReferences struct {
	Settings *config.Live
	db       *store.DB
}

const (
	maxOwnReferences = 50 // of one document that need a query
	maxOwnDepth      = 3  // objects within objects
)

// referenceMembers are the members of activities and objects that refer to others. Members that identify the author are not among them: id,
// actor, attributedTo.
var referenceMembers = []string{
	"object", "target", "instrument", "inReplyTo", "to", "cc", "bto", "bcc", "audience", "quote", "quoteUrl", "quoteUri", "_misskey_quote",
}

// Resolve returns a document whose references to objects of this server are their ids. It does not change the given one. References that
// lead to nothing stay.
func (l *OwnReferences) Resolve(ctx context.Context, o activity.Object) (activity.Object, error) {
	r := ownResolver{OwnReferences: l, ctx: ctx, left: maxOwnReferences}
	resolved, _ := r.object(o, maxOwnDepth)
	return resolved, r.err
}

// ownResolver resolves the references of one document.
type ownResolver struct {
	*OwnReferences
	ctx  context.Context
	left int // of maxOwnReferences
	err  error
}

// object returns an object with resolved references, or the same.
func (r *ownResolver) object(o activity.Object, depth int) (activity.Object, bool) {
	if depth == 0 {
		return o, false
	}
	changed := false
	set := func(key string, v any) {
		if !changed {
			o, changed = maps.Clone(o), true
		}
		o[key] = v
	}
	for _, key := range referenceMembers {
		if v, ok := r.value(o[key], depth); ok {
			set(key, v)
		}
	}
	if tags, ok := r.value(o["tag"], 1); ok {
		set("tag", tags)
	}
	return o, changed
}

// value returns a reference, a list of references, or an object with resolved references. ok is false if it is the same.
func (r *ownResolver) value(v any, depth int) (resolved any, ok bool) {
	switch v := v.(type) {
	case string:
		return r.reference(v)
	case []any:
		for i, item := range v {
			if item, changed := r.value(item, depth); changed {
				if !ok {
					v, ok = slices.Clone(v), true
				}
				v[i] = item
			}
		}
		return v, ok
	case map[string]any:
		o, ok := r.object(v, depth-1)
		for _, key := range []string{"id", "href"} { // href of a mention
			named, _ := o[key].(string)
			if id, changed := r.reference(named); changed {
				if !ok {
					o, ok = maps.Clone(o), true
				}
				o[key] = id
			}
		}
		return map[string]any(o), ok
	}
	return v, false
}

// reference returns the id of the object of this server at a URL. ok is false if it is the same, or there is none.
func (r *ownResolver) reference(address string) (id any, ok bool) {
	path, own := r.pathOf(address)
	if !own || r.err != nil {
		return address, false
	}
	found, err := r.idAt(path)
	if err != nil {
		r.err = err
	}
	return found, found != "" && found != address
}

// pathOf returns the path of a URL of this server, also one with the host of handles, without slashes at its end. It must be escaped as the routes are.
func (l *OwnReferences) pathOf(address string) (path string, own bool) {
	scheme, authority, isURL := strings.Cut(address, "://")
	if !isURL || scheme != "https" && scheme != "http" || !hasPrefixFold(authority, l.Settings.WebHost) && !hasPrefixFold(authority, l.Settings.Host) {
		return "", false
	}
	u, err := activity.ParseURL(address)
	if err != nil || u.User != nil || u.RawQuery != "" || !l.Settings.IsOwnHost(ownHost(u)) {
		return "", false
	}
	if escaped := strings.ToLower(u.EscapedPath()); strings.Contains(escaped, "%2f") {
		return "", false
	}
	return strings.TrimRight(u.Path, "/"), true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// ownHost returns the host of a URL with its port, unless that is the one of https or http.
func ownHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if strings.HasSuffix(host, ":443") || strings.HasSuffix(host, ":80") {
		host = host[:strings.LastIndexByte(host, ':')]
	}
	return host
}

// idAt returns the id of the account or status at a path, "" if there is none.
func (r *ownResolver) idAt(path string) (string, error) {
	if uri, err := r.oldIDAt(path); uri != "" || err != nil {
		return uri, err
	}
	kind, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case strings.HasPrefix(kind, "@") && name == "":
		return r.accountNamed(kind[1:])
	case strings.HasPrefix(kind, "@"), kind == "notice":
		return r.status(name)
	case kind == "users":
		name, rest, _ := strings.Cut(name, "/")
		switch _, id, isStatus := strings.Cut(rest, "statuses/"); {
		case isStatus:
			return r.status(id)
		case rest != "":
			return "", nil
		case store.ParseID[store.AccountID](name) != 0:
			return r.Settings.BaseURL + path, nil
		}
		return r.accountNamed(name)
	case (kind == "objects" || kind == "activities" || kind == "contexts") && name != "" && !strings.Contains(name, "/"), path == FetchActorPath, path == "/relay":
		return r.Settings.BaseURL + path, nil
	}
	return "", nil
}

// oldIDAt returns the id of the account or status at a path that other software made, "" if there is none.
func (r *ownResolver) oldIDAt(path string) (string, error) {
	if !r.db.HasOldAddresses() {
		return "", nil
	}
	if r.left--; r.left < 0 {
		return "", nil
	}
	if id, err := r.db.AccountIDByURI(r.ctx, r.Settings.BaseURL+path); id != 0 || err != nil {
		return r.Settings.BaseURL + path, err
	}
	id, err := r.db.OldStatusID(r.ctx, r.Settings.BaseURL, path)
	if id == 0 || err != nil {
		return "", err
	}
	uris, err := r.db.StatusURIs(r.ctx, []store.StatusID{id})
	if len(uris) == 0 || err != nil {
		return "", err
	}
	return uris[0], nil
}

func (r *ownResolver) accountNamed(nickname string) (string, error) {
	if r.left--; r.left < 0 || strings.Contains(nickname, "@") {
		return "", nil
	}
	a, err := r.db.AccountByName(r.ctx, nickname, "")
	if err != nil {
		return "", errs.IgnoreNotFound(err)
	}
	return a.URI, nil
}

func (r *ownResolver) status(flake string) (string, error) {
	id := store.ParseID[store.StatusID](flake)
	if id == 0 {
		return "", nil
	}
	if r.left--; r.left < 0 {
		return "", nil
	}
	st, err := r.db.Status(r.ctx, id)
	if err != nil || !st.Local() {
		return "", errs.IgnoreNotFound(err)
	}
	return st.URI, nil
}
