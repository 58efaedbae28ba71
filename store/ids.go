package store

import (
	"crypto/rand"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	mathrand "math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Ids. In the database, an id is a 53-bit integer: Unix milliseconds shifted left by ten bits, plus a sequence number. Ids are ordered by
// time, unique and ascending, exact in a JavaScript number until 2248, and have sixteen decimal digits until then.
//
// In the API, most ids are 128-bit flakes: 64 bits of Unix milliseconds, 48 bits of this database's worker number, 16 bits of sequence, in
// base 62 and 18 characters, so that they sort by time. The two forms map one to one. A flake of another worker identifies nothing here,
// but is a position to page from.
type (
	AccountID             int64
	StatusID              int64
	MediaID               int64
	ListID                int64
	FollowID              int64 // decimal text in the API, as all below
	NotificationID        int64
	NotificationRequestID int64
	FavouriteID           int64
	ReactionID            int64
	BookmarkID            int64
	AppID                 int64
	TokenID               int64
	PushID                int64
	JobID                 int64
	InviteID              int64
	RuleID                int64
	ConversationID        int64 // of a thread
	CardID                int64
	TagID                 int64 // not in the API
	TagFollowID           int64
	FeaturedTagID         int64
	BlockID               int64 // of a host, an e-mail domain or address, or a network

	DirectConversationID int64 // an account's view of a thread of direct posts
	PollID               int64 // a flake in the API, as all below
	ChatID               int64
	ChatMessageID        int64 // of one side's copy of a message
	MessageID            int64 // shared by both sides of a chat; only in the URI of the message
	ScheduledID          int64
	ReportID             int64
	AnnouncementID       int64
	ActivityID           int64 // in the URI of the activity
	DeliveryID           int64
	QueuedActivityID     int64 // an incoming activity
	RefusalID            int64
	RelayID              int64
	ScrobbleID           int64
	QuoteAuthorizationID int64 // in the URI of the authorization
	InteractionRequestID int64 // likewise
	CollectionID         int64
	CollectionItemID     int64 // also of the authorization of a local account, in its URI
	LogEntryID           int64 // an integer in the API
	ReportNoteID         int64 // likewise
)

const sequenceBits = 10

// Time returns when an id was created: of a local account with the account, of a remote one when it became known, of a follow with the
// request.
func (id AccountID) Time() time.Time             { return idTime(int64(id)) }
func (id StatusID) Time() time.Time              { return idTime(int64(id)) }
func (id ReportID) Time() time.Time              { return idTime(int64(id)) }
func (id AnnouncementID) Time() time.Time        { return idTime(int64(id)) }
func (id NotificationID) Time() time.Time        { return idTime(int64(id)) }
func (id ScrobbleID) Time() time.Time            { return idTime(int64(id)) }
func (id FollowID) Time() time.Time              { return idTime(int64(id)) }
func (id DeliveryID) Time() time.Time            { return idTime(int64(id)) }
func (id LogEntryID) Time() time.Time            { return idTime(int64(id)) }
func (id ReportNoteID) Time() time.Time          { return idTime(int64(id)) }
func (id RefusalID) Time() time.Time             { return idTime(int64(id)) }
func (id InteractionRequestID) Time() time.Time  { return idTime(int64(id)) }
func (id CollectionID) Time() time.Time          { return idTime(int64(id)) }
func (id CollectionItemID) Time() time.Time      { return idTime(int64(id)) }
func (id NotificationRequestID) Time() time.Time { return idTime(int64(id)) }

// Position returns the id as a position in a list.
func (id StatusID) Position() int64 { return int64(id) }

func idTime(id int64) time.Time { return time.UnixMilli(id >> sequenceBits).UTC() }

func (id AccountID) MarshalText() ([]byte, error)            { return appendFlake(nil, int64(id)), nil }
func (id InteractionRequestID) MarshalText() ([]byte, error) { return appendFlake(nil, int64(id)), nil }
func (id CollectionID) MarshalText() ([]byte, error)         { return appendFlake(nil, int64(id)), nil }
func (id CollectionItemID) MarshalText() ([]byte, error)     { return appendFlake(nil, int64(id)), nil }
func (id StatusID) MarshalText() ([]byte, error)             { return appendFlake(nil, int64(id)), nil }
func (id MediaID) MarshalText() ([]byte, error)              { return appendFlake(nil, int64(id)), nil }
func (id ListID) MarshalText() ([]byte, error)               { return appendFlake(nil, int64(id)), nil }
func (id PollID) MarshalText() ([]byte, error)               { return appendFlake(nil, int64(id)), nil }
func (id ChatID) MarshalText() ([]byte, error)               { return appendFlake(nil, int64(id)), nil }
func (id ChatMessageID) MarshalText() ([]byte, error)        { return appendFlake(nil, int64(id)), nil }
func (id ReportID) MarshalText() ([]byte, error)             { return appendFlake(nil, int64(id)), nil }
func (id AnnouncementID) MarshalText() ([]byte, error)       { return appendFlake(nil, int64(id)), nil }
func (id ScheduledID) MarshalText() ([]byte, error)          { return appendFlake(nil, int64(id)), nil }
func (id ScrobbleID) MarshalText() ([]byte, error)           { return appendFlake(nil, int64(id)), nil }

func (id AccountID) String() string            { return string(appendFlake(nil, int64(id))) }
func (id StatusID) String() string             { return string(appendFlake(nil, int64(id))) }
func (id MediaID) String() string              { return string(appendFlake(nil, int64(id))) }
func (id ListID) String() string               { return string(appendFlake(nil, int64(id))) }
func (id PollID) String() string               { return string(appendFlake(nil, int64(id))) }
func (id ChatID) String() string               { return string(appendFlake(nil, int64(id))) }
func (id ChatMessageID) String() string        { return string(appendFlake(nil, int64(id))) }
func (id ReportID) String() string             { return string(appendFlake(nil, int64(id))) }
func (id MessageID) String() string            { return string(appendFlake(nil, int64(id))) }
func (id AnnouncementID) String() string       { return string(appendFlake(nil, int64(id))) }
func (id ActivityID) String() string           { return string(appendFlake(nil, int64(id))) }
func (id ScrobbleID) String() string           { return string(appendFlake(nil, int64(id))) }
func (id QuoteAuthorizationID) String() string { return string(appendFlake(nil, int64(id))) }
func (id InteractionRequestID) String() string { return string(appendFlake(nil, int64(id))) }
func (id CollectionID) String() string         { return string(appendFlake(nil, int64(id))) }
func (id CollectionItemID) String() string     { return string(appendFlake(nil, int64(id))) }
func (id ScheduledID) String() string          { return string(appendFlake(nil, int64(id))) }

// UnmarshalText reads a flake. Other text, and a flake of another worker, become 0, so that a malformed id is one that does not exist.
func (id *AccountID) UnmarshalText(b []byte) error            { return readFlake(id, b) }
func (id *StatusID) UnmarshalText(b []byte) error             { return readFlake(id, b) }
func (id *MediaID) UnmarshalText(b []byte) error              { return readFlake(id, b) }
func (id *ListID) UnmarshalText(b []byte) error               { return readFlake(id, b) }
func (id *PollID) UnmarshalText(b []byte) error               { return readFlake(id, b) }
func (id *ChatID) UnmarshalText(b []byte) error               { return readFlake(id, b) }
func (id *ChatMessageID) UnmarshalText(b []byte) error        { return readFlake(id, b) }
func (id *ReportID) UnmarshalText(b []byte) error             { return readFlake(id, b) }
func (id *AnnouncementID) UnmarshalText(b []byte) error       { return readFlake(id, b) }
func (id *QuoteAuthorizationID) UnmarshalText(b []byte) error { return readFlake(id, b) }
func (id *InteractionRequestID) UnmarshalText(b []byte) error { return readFlake(id, b) }
func (id *CollectionID) UnmarshalText(b []byte) error         { return readFlake(id, b) }
func (id *CollectionItemID) UnmarshalText(b []byte) error     { return readFlake(id, b) }
func (id *ScheduledID) UnmarshalText(b []byte) error          { return readFlake(id, b) }

func readFlake[T ~int64](id *T, text []byte) error {
	*id = T(parseLocalFlake(string(text)))
	return nil
}

// Ids that are decimal text in the API. Other text becomes 0.
func (id NotificationID) MarshalText() ([]byte, error)        { return decimal(id) }
func (id NotificationRequestID) MarshalText() ([]byte, error) { return decimal(id) }
func (id DirectConversationID) MarshalText() ([]byte, error)  { return decimal(id) }
func (id FeaturedTagID) MarshalText() ([]byte, error)         { return decimal(id) }
func (id BlockID) MarshalText() ([]byte, error)               { return decimal(id) }

func (id *NotificationID) UnmarshalText(b []byte) error        { return readDecimal(id, b) }
func (id *NotificationRequestID) UnmarshalText(b []byte) error { return readDecimal(id, b) }
func (id *DirectConversationID) UnmarshalText(b []byte) error  { return readDecimal(id, b) }
func (id *FeaturedTagID) UnmarshalText(b []byte) error         { return readDecimal(id, b) }
func (id *BlockID) UnmarshalText(b []byte) error               { return readDecimal(id, b) }

func decimal[T ~int64](id T) ([]byte, error) { return strconv.AppendInt(nil, int64(id), 10), nil }

func readDecimal[T ~int64](id *T, text []byte) error {
	*id = T(ParseDecimal(string(text)))
	return nil
}

// ParseDecimal reads an id that is decimal text. It returns 0, the id of no row, for any other text, also for another spelling of a number, such as
// +1 or 01.
func ParseDecimal(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0
	}
	return n
}

// ParseID reads an id. It returns 0, the id of no row, if the text is no id.
func ParseID[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](text string) (id T) {
	P(&id).UnmarshalText([]byte(text))
	return id
}

// ParseActivityID returns the id of a flake, 0 for any other text.
func ParseActivityID(text string) ActivityID { return ActivityID(parseLocalFlake(text)) }

// ParsePosition reads an id in any form as a position for paging: a flake of any worker, or decimal text. ok is false for other text.
func ParsePosition(text string) (id int64, ok bool) {
	if hi, lo, ok := parseFlake(text); ok {
		if hi >= 1<<43 {
			return 1<<53 - 1, true
		}
		return int64(hi)<<sequenceBits | int64(min(lo&0xffff, 1<<sequenceBits-1)), true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

const (
	digits      = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	flakeLength = 18
	half        = 62 * 62 * 62 * 62 * 62 * 62 * 62 * 62 * 62 // the numbers of nine digits
)

// worker is the 48-bit number in the flakes of this process. It is stored in the database, and a process serves one database. Tests of
// federation let several databases share it.
var worker atomic.Int64

// snapshotWorker is the number in the flakes of a process that serves no database, but reads a snapshot of one.
var snapshotWorker atomic.Int64

// workerNumber returns the number in the flakes of this process.
func workerNumber() int64 {
	if n := worker.Load(); n != 0 {
		return n
	}
	return snapshotWorker.Load()
}

func setWorker(n int64) error {
	if !worker.CompareAndSwap(0, n) && worker.Load() != n {
		return errors.New("one process cannot serve databases of different worker numbers")
	}
	return nil
}

// newWorkerNumber returns the worker number of a new database.
func newWorkerNumber() int64 {
	if n := worker.Load(); n != 0 {
		return n
	}
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.BigEndian.Uint64(b[:])&(1<<48-1)) | 1
}

func appendFlake(dst []byte, id int64) []byte {
	ms, seq := uint64(id)>>sequenceBits, uint64(id)&(1<<sequenceBits-1)
	hi, lo := bits.Div64(ms%half, uint64(workerNumber())<<16|seq, half) // ms < half for 400 000 years
	var text [flakeLength]byte
	for i := 8; i >= 0; i-- {
		text[i], text[i+9] = digits[hi%62], digits[lo%62]
		hi, lo = hi/62, lo/62
	}
	return append(dst, text[:]...)
}

// parseFlake splits a flake into its milliseconds and the rest.
func parseFlake(text string) (ms, rest uint64, ok bool) {
	if len(text) != flakeLength {
		return 0, 0, false
	}
	var part [2]uint64
	for i := range flakeLength {
		d := flakeDigit(text[i])
		if d < 0 {
			return 0, 0, false
		}
		part[i/9] = part[i/9]*62 + uint64(d)
	}
	hi, lo := bits.Mul64(part[0], half)
	lo, carry := bits.Add64(lo, part[1], 0)
	return hi + carry, lo, true
}

func flakeDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'Z':
		return int(c-'A') + 10
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 36
	}
	return -1
}

// parseLocalFlake returns the id of a flake of this database, 0 for any other text.
func parseLocalFlake(text string) int64 {
	ms, rest, ok := parseFlake(text)
	if !ok || rest>>16 != uint64(workerNumber()) || rest&0xffff >= 1<<sequenceBits || ms >= 1<<(63-sequenceBits) {
		return 0
	}
	return int64(ms)<<sequenceBits | int64(rest&0xffff)
}

// idSource creates ids. Commits store the last one, so that ids are not repeated after a restart with a clock that was set back.
type idSource struct {
	mu   sync.Mutex
	now  func() time.Time
	last int64
}

func newIDSource(now func() time.Time, last int64) *idSource { return &idSource{now: now, last: last} }

func (s *idSource) next() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.now().UnixMilli()<<sequenceBits, s.last+1)
	return s.last
}

// oldestID is the first id of sixteen decimal digits, in December 2000. Older times get it.
const oldestID = 1_000_000_000_000_000

// idAt returns an id at a time, but not later than now. Each attempt returns another id, in case the first exists.
func (s *idSource) idAt(t time.Time, attempt int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ms := min(t.UnixMilli(), s.now().UnixMilli()-1)
	id := max(ms<<sequenceBits, oldestID) + mathrand.Int64N(1<<sequenceBits)
	return id - int64(attempt)<<sequenceBits
}

// Time is a point in time, stored as Unix milliseconds.
type Time int64

// At returns t as a Time.
func At(t time.Time) Time { return Time(t.UnixMilli()) }

// Time returns t as a time.Time.
func (t Time) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Age returns the time from t to now. It is the longest duration if t is in the future, because the clock was ahead when t was stored:
// otherwise a refresh or a limit would wait until the clock reaches t again.
func (t Time) Age(now time.Time) time.Duration {
	age := now.Sub(t.Time())
	if age < -clockSlack {
		return math.MaxInt64
	}
	return age
}

// String returns ISO 8601 in UTC with three digits of milliseconds, which all clients can read.
func (t Time) String() string { return t.Time().Format("2006-01-02T15:04:05.000Z") }

// MarshalText is String for JSON.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = At(at)
	return err
}

// Value stores the milliseconds.
func (t Time) Value() (driver.Value, error) { return int64(t), nil }

// Scan reads the milliseconds.
func (t *Time) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("time from %T", src)
	}
	*t = Time(n)
	return nil
}
