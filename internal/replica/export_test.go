package replica

import "context"

// Bounds for tests.
const (
	Transfers = transfers
	LargeFile = largeFile
)

// LimitQueue changes how many names wait at most.
func (k *Copier) LimitQueue(n int) { k.queue.limit = n }

// LookAround does at once what a Copier does every 30 seconds.
func (k *Copier) LookAround(ctx context.Context) { k.lookAround(ctx) }

// Compare compares at once what a Copier compares once a day.
func (k *Copier) Compare(ctx context.Context) error { return k.compare(ctx) }
