package social

import (
	"context"

	"svc/store"
)

// sendMail adds a mail to the job queue. It does nothing if the server sends no mail.
func (s *Service) sendMail(ctx context.Context, tx *store.Tx, m store.SendMail) error {
	if !s.MailEnabled {
		return nil
	}
	return tx.Enqueue(ctx, m)
}
