package server

import (
	"net/http/httptest"

	"svc/server/entity"
	"svc/server/rest"
	"svc/store"
)

// Exports for the tests, which are in package server_test.

// FilteredPage reads a page of home.
func FilteredPage(p store.Page, read func(store.Page) (store.Part[store.StatusID], error), show func([]store.StatusID) (entity.List[ListEntry], error)) (shown entity.List[ListEntry], next int64, err error) {
	r := &rest.Request{Request: httptest.NewRequest("GET", "/", nil)}
	f, err := filteredPage(r, p, store.FilterHome, read, show)
	if err != nil {
		return nil, 0, err
	}
	return f.shown, f.next, nil
}

type ListEntry = listEntry
