package entity

import (
	"context"
	"strconv"

	"svc/store"
)

// Conversation is a conversation for its owner.
type Conversation struct {
	builder    *Builder
	row        *store.VisibleConversation
	accounts   List[Account] // without the owner, unless there are no others
	recipients List[Account]
	last       *Status // nil: none that the owner may see
}

// maxConversationAccounts is how many bytes of JSON the accounts of a conversation may have. They are in it twice.
const maxConversationAccounts = 500_000

// HasStatus returns true if the conversation has a status that its owner may see. Only then it is listed.
func (c *Conversation) HasStatus() bool { return c.last != nil }

// AppendJSON renders the conversation.
func (c *Conversation) AppendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"id":"`...), int64(c.row.ID), 10)
	dst = appendBool(dst, `","unread":`, c.row.Unread())
	dst = c.accounts.AppendJSON(append(dst, `,"accounts":`...))
	dst = append(dst, `,"last_status":`...)
	if c.last != nil {
		dst = c.last.AppendJSON(dst)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(c.builder.appendName(append(dst, ',')), `{"recipients":`...)
	return append(c.recipients.AppendJSON(dst), '}', '}')
}

// MarshalJSON is AppendJSON for conversations inside of other entities.
func (c *Conversation) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// Conversation renders one of the owner's conversations.
func (b *Builder) Conversation(ctx context.Context, owner *store.Account, id store.DirectConversationID) (*Conversation, error) {
	row, err := b.db.DirectConversation(ctx, owner.ID, id)
	if err != nil {
		return nil, err
	}
	list, err := b.Conversations(ctx, owner, []*store.VisibleConversation{row})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Conversations renders the owner's conversations, without unavailable accounts.
func (b *Builder) Conversations(ctx context.Context, owner *store.Account, rows []*store.VisibleConversation) (List[*Conversation], error) {
	recipients := []store.AccountID{owner.ID}
	var last []store.StatusID
	for _, row := range rows {
		recipients = append(recipients, row.Recipients...)
		if row.VisibleID != nil {
			last = append(last, *row.VisibleID)
		}
	}
	present, err := b.db.AvailableAccounts(ctx, unique(recipients))
	if err != nil {
		return nil, err
	}
	accountOf, err := b.loadAccounts(ctx, present)
	if err != nil {
		return nil, err
	}
	var statuses List[*Status]
	if len(last) > 0 {
		if statuses, err = b.Statuses(ctx, owner, last); err != nil {
			return nil, err
		}
	}
	statusOf := byID(statuses, (*Status).ID)
	list := make(List[*Conversation], 0, len(rows))
	for _, row := range rows {
		c := &Conversation{builder: b, row: row}
		left := maxConversationAccounts
		for _, id := range store.NewAccountSet(append(row.Recipients, owner.ID)...) {
			a := accountOf[id]
			if a.cachedAccount == nil {
				continue
			}
			if left -= 2 * len(a.json); left < 0 && id != owner.ID {
				continue // the post is addressed to it all the same
			}
			c.recipients = append(c.recipients, a)
			if id != owner.ID {
				c.accounts = append(c.accounts, a)
			}
		}
		if len(c.accounts) == 0 {
			c.accounts = c.recipients
		}
		if row.VisibleID != nil {
			c.last = statusOf[*row.VisibleID]
		}
		list = append(list, c)
	}
	return list, nil
}

// addDirectConversations sets the viewer's conversations of direct statuses. The reference has them only where a status comes alone or
// last in its conversation, and allows them everywhere (extension API 12.3).
func (b *Builder) addDirectConversations(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	if viewer == nil {
		return nil
	}
	var threads []store.ConversationID
	for _, s := range originals {
		if s.direct {
			threads = append(threads, s.conversationID)
		}
	}
	if len(threads) == 0 {
		return nil
	}
	found, err := b.db.DirectConversationIDs(ctx, viewer.ID, unique(threads))
	if err != nil {
		return err
	}
	for _, s := range originals {
		if s.direct {
			s.directConversation = found[s.conversationID]
		}
	}
	return nil
}

func (s *Status) appendDirectConversation(dst []byte) []byte {
	return strconv.AppendInt(dst, int64(s.original().directConversation), 10)
}
