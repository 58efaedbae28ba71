package social

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"svc/internal/errs"
	"svc/store"
)

// Draft is a status that somebody wants to publish.
type Draft struct {
	Text           string
	SpoilerText    string
	ContentType    string // one that is not allowed is read as text/plain
	MediaIDs       []store.MediaID
	InReplyTo      store.StatusID    // 0: no reply
	Visibility     *store.Visibility // nil: the author's default, but not wider than the parent
	List           store.ListID      // of visibility list
	To             []string          // nicknames or handles; nil: those mentioned in the text
	Sensitive      *bool             // nil: the author's default
	Language       string
	ExpiresIn      *time.Duration // nil: never
	App            *store.AppID
	IdempotencyKey string
}

// Publish posts a status: to timelines, to the notifications of who is addressed or has subscribed, to open streams. A repeated
// IdempotencyKey returns the status of the first time.
func (s *Service) Publish(ctx context.Context, author *store.Account, d Draft) (*Composed, error) {
	w, err := s.read(d.Text, d.SpoilerText, d.ContentType)
	if err != nil {
		return nil, err
	}
	var c *Composed
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		key := idempotencyKey(d)
		if key != "" {
			earlier, err := tx.IdempotentStatus(ctx, author.ID, key)
			if err != nil || earlier != nil {
				c = &Composed{Status: earlier, Earlier: true}
				return err
			}
		}
		composed, err := s.compose(ctx, tx, author, d, w)
		if err != nil {
			return err
		}
		c = composed
		if err := s.add(ctx, tx, author, c); err != nil || key == "" {
			return err
		}
		return tx.RememberIdempotent(ctx, author.ID, key, c.ID)
	})
	return c, err
}

// idempotencyKey returns what stands for a client's key, of whatever length that is.
func idempotencyKey(d Draft) string {
	if d.IdempotencyKey == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(d.IdempotencyKey))
	return hex.EncodeToString(sum[:])
}

// Preview returns the status that Publish would make of a draft, and stores nothing. It has no id and no addresses.
func (s *Service) Preview(ctx context.Context, author *store.Account, d Draft) (*Composed, error) {
	w, err := s.read(d.Text, d.SpoilerText, d.ContentType)
	if err != nil {
		return nil, err
	}
	return s.compose(ctx, s.db, author, d, w)
}

// add stores a composed status with all that follows from it.
func (s *Service) add(ctx context.Context, tx *store.Tx, author *store.Account, c *Composed) error {
	st := c.Status
	st.ID = tx.NewStatusID()
	st.URI = s.BaseURL + "/objects/" + st.ID.String()
	st.URL = author.URL + "/" + st.ID.String()
	if st.ConversationID == 0 {
		st.ConversationID = store.ConversationID(st.ID)
	}
	if err := tx.AddStatus(ctx, st); err != nil {
		return err
	}
	if err := addParts(ctx, tx, c); err != nil {
		return err
	}
	if err := index(ctx, tx, c); err != nil {
		return err
	}
	if err := tx.FanOut(ctx, st, nil); err != nil {
		return err
	}
	if err := s.tellOf(ctx, tx, c); err != nil {
		return err
	}
	if st.ExpiresAt != nil {
		if err := expireLater(ctx, tx, st); err != nil {
			return err
		}
	}
	tx.Emit(store.StatusPosted{Status: st})
	return nil
}

// addParts stores the rows that belong to a status.
func addParts(ctx context.Context, tx *store.Tx, c *Composed) error {
	st := c.Status
	for i := range c.Recipients {
		c.Recipients[i].StatusID = st.ID
	}
	if err := tx.AddRecipients(ctx, c.Recipients); err != nil {
		return err
	}
	if st.ListID != nil {
		if err := tx.AddListRecipients(ctx, st); err != nil {
			return err
		}
	}
	if err := tx.AddTags(ctx, st.ID, c.Tags); err != nil {
		return err
	}
	if len(c.Media) > 0 {
		return tx.Attach(ctx, st.ID, c.Media)
	}
	return nil
}

// tellOf notifies the mentioned, and of what is no reply also those who want to be told of each post of the author
// (extension API 21.5).
func (s *Service) tellOf(ctx context.Context, tx *store.Tx, c *Composed) error {
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
	if st.InReplyToAccountID != nil {
		return nil
	}
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

func ignoreMissing(err error) error {
	if errs.IsNotFound(err) {
		return nil
	}
	return err
}
