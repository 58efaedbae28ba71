package store

import (
	"context"
	"reflect"

	"github.com/jmoiron/sqlx"
)

// readCutter is a row that may be larger than what is stored today, because an earlier version stored it. Such a row is cut as soon as it is
// read, so that many of them do not need much memory. The job CutLargeRows repairs them.
type readCutter interface {
	large() bool // without counting exactly
	cut()        // what CutRemote cuts
}

const largeRow = MaxRemoteContent + MaxStatusEmojiBytes // bytes of texts that rows of today hardly have

type wholeRowsKey struct{}

// withWholeRows returns a context whose reads do not cut large rows.
func withWholeRows(ctx context.Context) context.Context {
	return context.WithValue(ctx, wholeRowsKey{}, true)
}

// cutRead cuts a row that was read, if it is too large.
func cutRead(ctx context.Context, row any) {
	if c, ok := row.(readCutter); ok && c.large() && ctx.Value(wholeRowsKey{}) == nil {
		c.cut()
	}
}

// scanCut reads the rows of a query, pointers to structs, and cuts each before it reads the next.
func scanCut[T any](ctx context.Context, q querier, query string, args ...any) (list []T, err error) {
	rows, err := q.QueryxContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	of := reflect.TypeFor[T]().Elem()
	for rows.Next() {
		row := reflect.New(of).Interface()
		if err := rows.StructScan(row); err != nil {
			return nil, err
		}
		cutRead(ctx, row)
		list = append(list, row.(T))
	}
	return list, rows.Err()
}

// selectRows is sqlx.SelectContext that cuts large rows.
func selectRows[T any](ctx context.Context, q querier, query string, args ...any) (list []T, err error) {
	var none T
	if _, ok := any(none).(readCutter); ok {
		return scanCut[T](ctx, q, query, args...)
	}
	return list, sqlx.SelectContext(ctx, q, &list, query, args...)
}

func emojiBytes(emojis []RemoteEmoji) (n int) {
	for _, e := range emojis {
		n += emojiMembers + len(e.Shortcode) + len(e.URL)
	}
	return n
}

func (a *Account) large() bool {
	if a.Domain == "" {
		return false
	}
	n := len(a.DisplayName) + len(a.Note) + emojiBytes(a.Emojis.V)
	for _, f := range a.Fields.V {
		n += fieldMembers + len(f.Name) + len(f.Value)
	}
	for _, alias := range a.AlsoKnownAs.V {
		n += len(alias)
	}
	return n > largeRow/2
}

func (a *Account) cut() { a.CutRemote() }

func (s *Status) large() bool {
	return !s.Local() && len(s.SpoilerText)+len(s.Content)+emojiBytes(s.Emojis.V) > largeRow
}

// cut keeps emoji that occur in the options of a poll only as long as they are short.
func (s *Status) cut() {
	s.CutTexts()
	if !s.HasPoll {
		s.CutRemote()
	}
	s.Emojis.V = MaxPrefix(s.Emojis.V, MaxStatusEmojiBytes, func(e RemoteEmoji) int { return emojiMembers + len(e.Shortcode) + len(e.URL) })
}

func (v *StatusEdit) large() bool {
	n := len(v.SpoilerText) + len(v.Content)
	for _, m := range v.Media.V {
		n += len(m.Description)
	}
	for _, o := range v.Poll.V {
		n += len(o)
	}
	return n > MaxLocalStatus // a version does not say whether it is that of a local one
}

func (v *StatusEdit) cut() { v.CutRemote(&Status{}) }

func (p *Poll) large() bool {
	if p.FetchedAt == nil {
		return false
	}
	n := 0
	for _, o := range p.Options.V {
		n += optionMembers + len(o.Title)
	}
	return n > maxRemotePoll
}

func (p *Poll) cut() { p.CutRemote() }

func (m *Media) large() bool { return m.File == "" && len(m.Description) > maxRemoteDescription }

func (m *Media) cut() { m.CutRemote() }

func (m *ChatMessage) large() bool {
	return m.Emojis != nil && len(m.Content)+emojiBytes(m.Emojis.V) > largeRow
}

func (m *ChatMessage) cut() { m.CutRemote() }

func (e *ChatEntry) large() bool {
	return e.Emojis != nil && len(e.Content)+emojiBytes(e.Emojis.V) > largeRow
}

func (e *ChatEntry) cut() {
	m := ChatMessage{Content: e.Content, Emojis: e.Emojis}
	m.CutRemote()
	e.Content = m.Content
}

// CutRemote cuts a message of another server to what may be stored.
func (m *ChatMessage) CutRemote() {
	m.Content = CutRemoteHTML(m.Content, "")
	m.Emojis.V = UsedEmojis(m.Emojis.V, MaxStatusEmojis, MaxStatusEmojiBytes, m.Content)
}
