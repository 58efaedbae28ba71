package disk

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

// Observer is called with the absolute path of a file that was written and closed, or of a file or folder that was renamed, linked or removed: with the
// path that is gone, too. tree is true if it is or was a folder with all that is in it. It is called from many goroutines, after the change, and
// must not wait.
type Observer func(path string, tree bool)

var (
	observers  atomic.Pointer[[]*Observer]
	changeList sync.Mutex // of observers
)

// Observe has fn called for the changes of this process, until the returned function is called.
func Observe(fn Observer) (end func()) {
	replace := func(change func([]*Observer) []*Observer) {
		changeList.Lock()
		defer changeList.Unlock()
		var list []*Observer
		if is := observers.Load(); is != nil {
			list = slices.Clone(*is)
		}
		if list = change(list); len(list) == 0 {
			observers.Store(nil)
			return
		}
		observers.Store(&list)
	}
	replace(func(list []*Observer) []*Observer { return append(list, &fn) })
	return func() {
		replace(func(list []*Observer) []*Observer {
			return slices.DeleteFunc(list, func(o *Observer) bool { return o == &fn })
		})
	}
}

// observe tells observers of a change of names.
func observe(c Change) {
	if observers.Load() == nil {
		return
	}
	switch c.Kind {
	case Renamed:
		info, err := os.Lstat(c.To)
		tree := err == nil && info.IsDir()
		observed(c.Path, tree)
		observed(c.To, tree)
	case Linked:
		observed(c.To, false)
	case Removed:
		observed(c.Path, c.All)
	}
}

// observed tells observers of a path.
func observed(path string, tree bool) {
	list := observers.Load()
	if list == nil {
		return
	}
	path, err := filepath.Abs(path)
	if err != nil { // the working directory is gone
		return
	}
	for _, fn := range *list {
		(*fn)(path, tree)
	}
}
