//go:build !linux

package admin

// lowerPriority does nothing: other systems have no priorities of threads.
func lowerPriority() {}
