package entity

import (
	"sync"
	"time"
)

// kept holds one value that is costly to build, for as long as it is good. While somebody builds it anew, others get what there is.
type kept[T any] struct {
	building sync.Mutex

	mu         sync.Mutex
	value      *T
	until      time.Time
	generation uint64
}

// get returns the value, and builds one that is good for a time if there is none.
func (k *kept[T]) get(now time.Time, good time.Duration, build func() (T, error)) (T, error) {
	value, fresh, _ := k.look(now)
	if fresh {
		return *value, nil
	}
	if value == nil {
		k.building.Lock()
	} else if !k.building.TryLock() {
		return *value, nil
	}
	defer k.building.Unlock()
	value, fresh, generation := k.look(now)
	if fresh {
		return *value, nil
	}
	built, err := build()
	if err != nil {
		return built, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.generation == generation { // else it may be built of what has changed since
		k.value, k.until = &built, now.Add(good)
	}
	return built, nil
}

func (k *kept[T]) look(now time.Time) (value *T, fresh bool, generation uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value, k.value != nil && now.Before(k.until), k.generation
}

// drop has the next get build a new value.
func (k *kept[T]) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.generation++
	k.value = nil
}
