package store

import "context"

// Connections is how busy the reading connections are.
type Connections struct {
	Pool   int // how many there may be
	Active int // of them, at work
	Idle   int
}

// Connections tells how busy the reading connections are.
func (db *DB) Connections() Connections {
	s := db.readers.Stats()
	return Connections{Pool: s.MaxOpenConnections, Active: s.InUse, Idle: s.MaxOpenConnections - s.InUse}
}

// CheckWritable writes something of no importance all the way to the disk.
func (db *DB) CheckWritable(ctx context.Context) error {
	return db.Update(ctx, func(tx *Tx) error {
		tx.newID() // the last id is stored
		return nil
	})
}
