package server

import (
	"bytes"

	"svc/internal/enum"
	"svc/store"
)

// audience is the visibility of a new status, or list:ID.
type audience struct {
	visibility store.Visibility
	list       store.ListID
}

var audiences = []string{"public", "unlisted", "local", "private", "direct", "list:ID"}

// UnmarshalText reads a visibility. An id that is none of a list is not an error here, because the list may be missing, too.
func (a *audience) UnmarshalText(b []byte) error {
	if id, ok := bytes.CutPrefix(b, []byte("list:")); ok {
		*a = audience{store.ListOnly, store.ParseID[store.ListID](string(id))}
		return nil
	}
	if err := a.visibility.UnmarshalText(b); err != nil || a.visibility == store.ListOnly {
		return &enum.Error{Text: string(b), Permitted: audiences}
	}
	return nil
}

// plainVisibility is any visibility but list.
type plainVisibility store.Visibility

// UnmarshalText reads a visibility.
func (s *plainVisibility) UnmarshalText(b []byte) error {
	var v store.Visibility
	if err := v.UnmarshalText(b); err != nil || v == store.ListOnly {
		return &enum.Error{Text: string(b), Permitted: []string{"public", "unlisted", "local", "private", "direct"}}
	}
	*s = plainVisibility(v)
	return nil
}

// reblogVisibility is the visibility of a boost, which has no recipients.
type reblogVisibility store.Visibility

// UnmarshalText reads a visibility.
func (v *reblogVisibility) UnmarshalText(b []byte) error {
	var read store.Visibility
	if err := read.UnmarshalText(b); err != nil || read > store.Private {
		return &enum.Error{Text: string(b), Permitted: []string{"public", "unlisted", "local", "private"}}
	}
	*v = reblogVisibility(read)
	return nil
}
