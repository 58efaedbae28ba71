package cache

import (
	"sync"
	"time"
)

// Value holds one value that is costly to compute. While one caller computes it anew, the others get the expired one. The zero Value is
// empty and ready to use.
type Value[T any] struct {
	computing sync.Mutex

	mu         sync.Mutex
	value      *T
	until      time.Time
	generation uint64
}

// Load returns the value. If there is none or it has expired, it calls compute, and stores the result for ttl unless the value was dropped
// meanwhile.
func (v *Value[T]) Load(now time.Time, ttl time.Duration, compute func() (T, error)) (T, error) {
	value, fresh, _ := v.get(now)
	if fresh {
		return *value, nil
	}
	if value == nil {
		v.computing.Lock()
	} else if !v.computing.TryLock() {
		return *value, nil
	}
	defer v.computing.Unlock()
	value, fresh, generation := v.get(now)
	if fresh {
		return *value, nil
	}
	computed, err := compute()
	if err != nil {
		return computed, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.generation == generation {
		v.value, v.until = &computed, now.Add(ttl)
	}
	return computed, nil
}

// Peek returns the value, expired or not. ok is false if there is none.
func (v *Value[T]) Peek() (value T, ok bool) {
	stored, _, _ := v.get(time.Time{})
	if stored == nil {
		return value, false
	}
	return *stored, true
}

// Drop removes the value.
func (v *Value[T]) Drop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.generation++
	v.value = nil
}

func (v *Value[T]) get(now time.Time) (value *T, fresh bool, generation uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value, v.value != nil && now.Before(v.until), v.generation
}
