package store

import (
	"fmt"
	"strings"
)

// The ids (URIs) of what this server makes are made and read here only. base is the URL of the server, https://example.org. What other software made
// before a takeover has other ids, so that a row is looked up by its uri; see old_addresses.go.

const (
	actorPath    = "/users/"
	objectPath   = "/objects/"
	activityPath = "/activities/"
)

// NewActorURI returns the id of a new local account. It does not contain the nickname.
func NewActorURI(base string, id AccountID) string { return base + actorPath + id.String() }

// NewObjectURI returns the id of a new local status, chat message or similar.
func NewObjectURI(base string, id fmt.Stringer) string { return base + objectPath + id.String() }

// NewActivityURI returns the id of the activity that makes a row of this server.
func NewActivityURI[T ~int64](base string, id T) string {
	return base + activityPath + ActivityID(id).String()
}

// StatusIDInURI returns the id in the URI of a status that this server made. ok is false for other URIs; the id is 0 if the URI has the form, but no row of
// this server can have it.
func StatusIDInURI(base, uri string) (id StatusID, ok bool) {
	flake, ok := strings.CutPrefix(uri, base+objectPath)
	return ParseID[StatusID](flake), ok
}

// ActivityIDInURI returns the id in the URI of an activity that this server made, 0 for other URIs.
func ActivityIDInURI(base, uri string) ActivityID {
	flake, ok := strings.CutPrefix(uri, base+activityPath)
	if !ok {
		return 0
	}
	return ParseActivityID(flake)
}
