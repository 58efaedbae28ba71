package app_test

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// chaosModel knows what a server must contain. A fact is a key with the values that it may have: one if the last change was acknowledged, two
// while a request has no answer. "" means that there is no such row.
type chaosModel struct {
	mu     sync.Mutex
	facts  map[string][]string
	counts map[string]int
	note   func(chaosNote) // called for each fact that may change or has changed; nil: it is not
}

// chaosNote is that a fact may change, or has changed.
type chaosNote struct {
	Key, Value string
	Confirmed  bool
}

func newChaosModel() *chaosModel {
	return &chaosModel{facts: make(map[string][]string), counts: make(map[string]int)}
}

// begin notes that a fact may change from now on.
func (m *chaosModel) begin(key, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(chaosNote{key, value, false})
	if m.facts[key] == nil {
		m.facts[key] = []string{""}
	}
	m.facts[key] = append(m.facts[key], value)
}

// acknowledge notes that the server has confirmed a fact.
func (m *chaosModel) acknowledge(key, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell(chaosNote{key, value, true})
	m.facts[key] = []string{value}
	m.counts["acknowledged"]++
}

func (m *chaosModel) tell(n chaosNote) {
	if m.note != nil {
		m.note(n)
	}
}

// apply begins or acknowledges what a note says.
func (m *chaosModel) apply(n chaosNote) {
	if n.Confirmed {
		m.acknowledge(n.Key, n.Value)
	} else {
		m.begin(n.Key, n.Value)
	}
}

func (m *chaosModel) count(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[what]++
}

func (m *chaosModel) acknowledged() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts["acknowledged"]
}

// hasCertain returns true if anything was acknowledged.
func (m *chaosModel) hasCertain() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, values := range m.facts {
		if len(values) == 1 {
			return true
		}
	}
	return false
}

// value returns a fact, "" if it is not certain.
func (m *chaosModel) value(key string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if list := m.facts[key]; len(list) == 1 {
		return list[0]
	}
	return ""
}

// snapshot returns a copy of the facts.
func (m *chaosModel) snapshot() map[string][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := maps.Clone(m.facts)
	for key, list := range c {
		c[key] = slices.Clone(list)
	}
	return c
}

// compare compares the facts with the observed ones, takes over uncertain facts, and returns losses and duplicates; a deleted object
// that is there again is one.
func (m *chaosModel) compare(o *observation) (lost, extra []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.facts)) {
		got, want := o.values[key], m.facts[key]
		switch {
		case slices.Contains(want, got):
			m.facts[key] = []string{got}
			if got != "" && strings.HasPrefix(key, "notification ") { // it may disappear with its subject
				delete(m.facts, key)
			}
		case want[len(want)-1] == "":
			extra = append(extra, fmt.Sprintf("%s is %q again, want nothing", key, got))
		default:
			lost = append(lost, fmt.Sprintf("%s is %q, want %q", key, got, want))
		}
	}
	m.counts["losses"] += len(lost)
	m.counts["duplicates"] += len(extra) + len(o.twice)
	return lost, append(extra, o.twice...)
}

// observation is what the database contains, by the keys of facts.
type observation struct {
	values map[string]string
	twice  []string // keys found more than once
}

// observations are queries of keys and values.
var observations = map[string]string{
	"posts":         `SELECT 'post ' || substr(text, 1, instr(text, ' ') - 1), text FROM statuses WHERE domain = '' AND text <> ''`,
	"files":         `SELECT 'file ' || substr(s.text, 1, instr(s.text, ' ') - 1), f.sha256 FROM media m JOIN stored_files f ON f.name = m.file JOIN statuses s ON s.id = m.status_id`,
	"uploads":       `SELECT 'upload ' || f.sha256, '1' FROM media m JOIN stored_files f ON f.name = m.file WHERE m.status_id IS NULL`,
	"favourites":    `SELECT 'favourite ' || nickname || ' ' || s.uri, '1' FROM favourites f JOIN accounts a ON a.id = f.account_id JOIN statuses s ON s.id = f.status_id WHERE a.domain = ''`,
	"bookmarks":     `SELECT 'bookmark ' || nickname || ' ' || s.uri, '1' FROM bookmarks b JOIN accounts a ON a.id = b.account_id JOIN statuses s ON s.id = b.status_id`,
	"boosts":        `SELECT 'reblog ' || nickname || ' ' || o.uri, '1' FROM statuses s JOIN accounts a ON a.id = s.account_id JOIN statuses o ON o.id = s.reblog_of_id WHERE a.domain = ''`,
	"follows":       `SELECT 'follow ' || a.nickname || ' ' || b.nickname, '1' FROM follows f JOIN accounts a ON a.id = f.follower_id JOIN accounts b ON b.id = f.target_id WHERE a.domain = '' AND b.domain = ''`,
	"markers":       `SELECT 'marker ' || nickname || ' ' || timeline, last_read_id FROM markers m JOIN accounts a ON a.id = m.account_id`,
	"notifications": `SELECT 'notification ' || id, '1' FROM notifications`,
	"remote posts":  `SELECT 'remote ' || uri, '1' FROM statuses WHERE domain <> ''`,
}

// observe reads all facts from a database.
func observe(db *sql.DB) (*observation, error) {
	o := &observation{values: make(map[string]string)}
	for name, query := range observations {
		rows, err := db.Query(query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for rows.Next() {
			var key, value string
			if err := rows.Scan(&key, &value); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if _, ok := o.values[key]; ok {
				o.twice = append(o.twice, key+" is there twice")
			}
			o.values[key] = value
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return o, nil
}

// recounts select rows whose counter is not the number of rows that it counts.
var recounts = map[string]string{
	"statuses_count":   `SELECT nickname FROM accounts a WHERE domain = '' AND statuses_count <> (SELECT count(*) FROM statuses s WHERE s.account_id = a.id AND s.visibility < 2)`,
	"followers_count":  `SELECT nickname FROM accounts a WHERE domain = '' AND followers_count <> (SELECT count(*) FROM follows f WHERE f.target_id = a.id AND f.pending = 0)`,
	"following_count":  `SELECT nickname FROM accounts a WHERE domain = '' AND following_count <> (SELECT count(*) FROM follows f WHERE f.follower_id = a.id AND f.pending = 0)`,
	"favourites_count": `SELECT uri FROM statuses s WHERE favourites_count <> (SELECT count(*) FROM favourites f WHERE f.status_id = s.id)`,
	"reblogs_count":    `SELECT uri FROM statuses s WHERE reblogs_count <> (SELECT count(*) FROM statuses b WHERE b.reblog_of_id = s.id)`,
	"replies_count":    `SELECT uri FROM statuses s WHERE replies_count <> (SELECT count(*) FROM statuses r WHERE r.in_reply_to_id = s.id)`,
}

// damage returns what SQLite and the recounts find wrong.
func damage(db *sql.DB) (found []string, err error) {
	for name, query := range recounts {
		list, err := texts(db, query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, text := range list {
			found = append(found, "wrong "+name+" of "+text)
		}
	}
	list, err := texts(db, `PRAGMA integrity_check`)
	if err != nil || strings.Join(list, "") != "ok" {
		return append(found, list...), err
	}
	list, err = texts(db, `SELECT "table" || ' ' || "parent" FROM pragma_foreign_key_check`)
	for _, text := range list {
		found = append(found, "foreign key of "+text)
	}
	return found, err
}

// texts returns the first column of a query.
func texts(db *sql.DB, query string) (list []string, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}
