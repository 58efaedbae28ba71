package entity

import (
	"sync"
	"time"
)

// cachedValue holds one value that is costly to build, for as long as it is good. While somebody builds it anew, others get what there is.
type cachedValue[T any] struct {
	building sync.Mutex

	mu         sync.Mutex
	value      *T
	expiresAt  time.Time
	generation uint64
}

// get returns the value, and builds one that is good for a time if there is none.
func (k *cachedValue[T]) get(now time.Time, good time.Duration, build func() (T, error)) (T, error) {
	value, fresh, _ := k.peek(now)
	if fresh {
		return *value, nil
	}
	if value == nil {
		k.building.Lock()
	} else if !k.building.TryLock() {
		return *value, nil
	}
	defer k.building.Unlock()
	value, fresh, generation := k.peek(now)
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
		k.value, k.expiresAt = &built, now.Add(good)
	}
	return built, nil
}

func (k *cachedValue[T]) peek(now time.Time) (value *T, fresh bool, generation uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value, k.value != nil && now.Before(k.expiresAt), k.generation
}

// invalidate has the next get build a new value.
func (k *cachedValue[T]) invalidate() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.generation++
	k.value = nil
}
