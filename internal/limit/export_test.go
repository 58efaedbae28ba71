package limit

// Waiting returns how many callers wait.
func (b *Bytes) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting.Len()
}

const MaxIdlePaced = maxIdlePaced

// Keys returns how many keys are kept.
func (p *Pace[K]) Keys() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.keys)
}
