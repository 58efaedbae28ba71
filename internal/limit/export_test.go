package limit

// Waiting returns how many callers wait.
func (b *Bytes) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len()
}
