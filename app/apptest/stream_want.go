package apptest

import (
	"slices"
)

// WantEvent fails the test if something has not been said.
func (l *StreamClient) WantEvent(want string) {
	l.T.Helper()
	heard := l.Events()
	if !slices.ContainsFunc(heard, func(s StreamEvent) bool { return s.String() == want }) {
		l.T.Errorf("heard %q, want %q among it", heard, want)
	}
}
