package server

import (
	"svc/server/entity"
	"svc/store"
)

// Exports for the tests, which are in package server_test.

// FilteredPage reads a page of home.
func FilteredPage(p store.Page, read func(store.Page) ([]store.StatusID, error), show func([]store.StatusID) (entity.List[ListEntry], error)) ([]store.StatusID, entity.List[ListEntry], error) {
	return filteredPage(p, store.FilterHome, read, show)
}

type ListEntry = listEntry
