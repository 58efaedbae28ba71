package server

import (
	"time"

	"svc/server/entity"
	"svc/store"
)

// What the tests, which are outside of the package, need to see of its inside.

// Sift reads a page of home.
func Sift(p store.Page, read func(store.Page) ([]store.StatusID, error), show func([]store.StatusID) (entity.List[Entry], error)) ([]store.StatusID, entity.List[Entry], error) {
	return filteredPage(p, store.FilterHome, read, show)
}

type Entry = listEntry

func (s *Server) SetClock(now func() time.Time) { s.now = now }
