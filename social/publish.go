package social

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode/utf8"

	"svc/store"
)

// Draft is a status to publish. Scheduled drafts are stored as JSON that later versions must be able to read.
type Draft struct {
	Content
	MediaIDs        []store.MediaID          `json:"media_ids"`
	Poll            *PollDraft               `json:"poll"`
	InReplyTo       store.StatusID           `json:"in_reply_to_id"`                  // 0: not a reply
	Quote           store.StatusID           `json:"quote_id"`                        // 0: none
	QuotePolicy     *store.QuotePolicy       `json:"quote_approval_policy,omitempty"` // nil: the author's default
	Interactions    *store.InteractionPolicy `json:"interaction_policy,omitempty"`    // nil: the author's default for the visibility
	Visibility      *store.Visibility        `json:"visibility"`                      // nil: the author's default, but not wider than the parent
	List            store.ListID             `json:"list_id"`                         // of visibility list
	LocalOnly       bool                     `json:"local_only,omitempty"`            // the status must not leave this server
	To              []string                 `json:"to"`                              // nicknames or handles; nil: the accounts mentioned in the text
	Sensitive       *bool                    `json:"sensitive"`                       // nil: the author's default
	ExpiresIn       *time.Duration           `json:"expires_in"`                      // nil: never
	IdempotencyKey  string                   `json:"idempotency"`
	App             *store.AppID             `json:"-"`
	AllowedMentions []store.AccountID        `json:"-"` // nil: all; publishing fails with UnexpectedMentions if others are mentioned
	ScheduledAt     time.Time                `json:"-"` // zero: now

	// InConversation is the author's conversation that the status continues, as a direct status to its recipients. nil: none.
	InConversation *store.DirectConversationID `json:"in_reply_to_conversation_id,omitempty"`
}

// Publish publishes a status with all its consequences, or stores it if it is scheduled for later. A repeated IdempotencyKey returns the
// first result.
func (s *Service) Publish(ctx context.Context, author *store.Account, d Draft) (*Composed, error) {
	w, err := s.parseContent(d.Content)
	if err != nil {
		return nil, err
	}
	if err := s.inspectAttachments(ctx, author.ID, d.MediaIDs); err != nil {
		return nil, err
	}
	return update(ctx, s.db, func(tx *store.Tx) (*Composed, error) {
		earlier, err := idempotentResult(ctx, tx, author, d)
		if err != nil || earlier != nil {
			return earlier, err
		}
		c, err := s.compose(ctx, tx, author, d, w)
		if err != nil {
			return nil, err
		}
		if d.ScheduledAt.Sub(s.db.Now()) > minScheduleDelay {
			return c, s.schedule(ctx, tx, author, d, c)
		}
		if err := s.addStatus(ctx, tx, author, c); err != nil {
			return nil, err
		}
		return c, saveIdempotencyKey(ctx, tx, author, d, int64(c.ID))
	})
}

// idempotentResult returns what author published with the same idempotency key, else nil.
func idempotentResult(ctx context.Context, tx *store.Tx, author *store.Account, d Draft) (*Composed, error) {
	key := idempotencyKey(d)
	if key == "" {
		return nil, nil
	}
	if st, err := tx.IdempotentStatus(ctx, author.ID, key); st != nil || err != nil {
		return &Composed{Status: st, Existing: true}, err
	}
	scheduled, err := tx.IdempotentScheduled(ctx, author.ID, key)
	if scheduled == nil || err != nil {
		return nil, err
	}
	return &Composed{Scheduled: scheduled, Existing: true}, nil
}

// saveIdempotencyKey stores the id of the published status for an idempotency key.
func saveIdempotencyKey(ctx context.Context, tx *store.Tx, author *store.Account, d Draft, made int64) error {
	key := idempotencyKey(d)
	if key == "" {
		return nil
	}
	return tx.SaveIdempotencyKey(ctx, author.ID, key, made)
}

// idempotencyKey returns the hash of a client's key.
func idempotencyKey(d Draft) string {
	if d.IdempotencyKey == "" {
		return ""
	}
	return hashKey(storableKey(d.IdempotencyKey))
}

// storableKey returns a client's key, or its hash if it is too long or not UTF-8. The hash is its own storable key.
func storableKey(key string) string {
	if len(key) <= 255 && utf8.ValidString(key) {
		return key
	}
	return hashKey(key)
}

func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// Preview returns the status that Publish would publish, without id and URLs. It stores nothing.
func (s *Service) Preview(ctx context.Context, author *store.Account, d Draft) (*Composed, error) {
	w, err := s.parseContent(d.Content)
	if err != nil {
		return nil, err
	}
	c, err := s.compose(ctx, s.db, author, d, w)
	if err != nil {
		return nil, err
	}
	if link := s.cardLink(c); link != "" {
		if c.Card, err = s.db.CardByURL(ctx, link); c.Card != nil {
			c.CardID = &c.Card.ID
		}
	}
	return c, err
}

// addStatus stores a composed status with all its consequences.
func (s *Service) addStatus(ctx context.Context, tx *store.Tx, author *store.Account, c *Composed) error {
	st := c.Status
	st.ID = tx.NewStatusID()
	st.URI = store.NewObjectURI(s.Settings.BaseURL, st.ID)
	st.URL = author.URL + "/" + st.ID.String()
	if st.ConversationID == 0 {
		st.ConversationID = store.ConversationID(st.ID)
	}
	if err := s.addCard(ctx, tx, c); err != nil {
		return err
	}
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	if err := addStatusRows(ctx, tx, c); err != nil {
		return err
	}
	indexStatus(tx, c)
	if st.ExpiresAt != nil {
		if err := enqueueExpiry(ctx, tx, st); err != nil {
			return err
		}
	}
	if err := s.addReplyRequest(ctx, tx, author, c, ""); err != nil {
		return err
	}
	if st.PendingVisibility != nil && c.Parent.Local() {
		return nil // until the author of the parent approves it
	}
	if st.PendingVisibility != nil {
		return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.StatusCreated, ActorID: st.AccountID, StatusID: st.ID})
	}
	return s.announceStatus(ctx, tx, c)
}

// announceStatus tells others of a new status: timelines, notifications, conversations, streams and other servers.
func (s *Service) announceStatus(ctx context.Context, tx *store.Tx, c *Composed) error {
	st := c.Status
	if err := tx.FanOut(ctx, st, nil); err != nil {
		return err
	}
	if err := s.notifyNewStatus(ctx, tx, c); err != nil {
		return err
	}
	// On the stream direct, clients expect the conversation before the status.
	if err := addToConversations(ctx, tx, st, c.Recipients, nil); err != nil {
		return err
	}
	tx.Emit(store.StatusPosted{Status: st})
	if !st.Federated() {
		return nil
	}
	if err := obtainQuoteConsent(ctx, tx, c); err != nil {
		return err
	}
	return tx.AddToOutbox(ctx, store.OutboxEntry{Type: store.StatusCreated, ActorID: st.AccountID, StatusID: st.ID})
}

// addStatusRows stores recipients, tags, poll and media of a status.
func addStatusRows(ctx context.Context, tx *store.Tx, c *Composed) error {
	st := c.Status
	if err := addRecipientsAndTags(ctx, tx, c); err != nil {
		return err
	}
	if st.ListID != nil {
		if err := tx.AddListRecipients(ctx, st); err != nil {
			return err
		}
	}
	if c.Poll != nil {
		if err := addPoll(ctx, tx, st, c.Poll); err != nil {
			return err
		}
	}
	if len(c.Media) > 0 {
		return tx.AttachMedia(ctx, st.ID, c.Media)
	}
	return nil
}

func addRecipientsAndTags(ctx context.Context, tx *store.Tx, c *Composed) error {
	for i := range c.Recipients {
		c.Recipients[i].StatusID = c.ID
	}
	if err := tx.AddRecipients(ctx, c.Recipients); err != nil {
		return err
	}
	return tx.AddTags(ctx, c.Status, c.Tags)
}

// notifyNewStatus notifies mentioned accounts, the quoted author, and subscribers of the author unless it is a reply (extension API 21.5).
func (s *Service) notifyNewStatus(ctx context.Context, tx *store.Tx, c *Composed) error {
	st := c.Status
	for _, r := range c.Recipients {
		if !r.Mentioned {
			continue
		}
		n := store.Notification{AccountID: r.AccountID, Type: store.NotifyMention, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	if c.Quoted != nil {
		if err := notifyQuoted(ctx, tx, st, c.Quoted); err != nil {
			return err
		}
	}
	if st.InReplyToAccountID != nil {
		return nil
	}
	return notifySubscribers(ctx, tx, st)
}

// notifySubscribers notifies local accounts that are subscribed to the author of a new status.
func notifySubscribers(ctx context.Context, tx *store.Tx, st *store.Status) error {
	subscribers, err := tx.Subscribers(ctx, st)
	if err != nil {
		return err
	}
	for _, id := range subscribers {
		n := store.Notification{AccountID: id, Type: store.NotifyStatus, FromID: st.AccountID}
		if err := notify(ctx, tx, n, st); err != nil {
			return err
		}
	}
	return nil
}
