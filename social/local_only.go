package social

import (
	"context"

	"svc/internal/errs"
	"svc/store"
)

var (
	errNotLocal = errs.Invalid("local_only - cannot be combined with this visibility, because followers and list members may be on other servers: " +
		"choose the visibility local, or direct with recipients on this server")
	errRemoteRecipients = errs.Invalid("local_only - the post is addressed to accounts on other servers: remove them, or leave out local_only")
)

// localVisibility returns the visibility of a draft that must not leave this server: local, or direct. An audience of followers or list members
// would be federated, so it is refused.
func localVisibility(d Draft, v store.Visibility) (store.Visibility, error) {
	switch {
	case !d.LocalOnly || v == store.Direct:
		return v, nil
	case v == store.Private || v == store.ListOnly:
		return 0, errNotLocal
	}
	return store.Local, nil
}

// checkLocalRecipients returns an error if a direct status that must not leave this server has recipients on another one.
func (s *Service) checkLocalRecipients(ctx context.Context, r statusReader, c *Composed, d Draft) error {
	if !d.LocalOnly || c.Visibility != store.Direct {
		return nil
	}
	for _, to := range c.Recipients {
		account, err := r.Account(ctx, to.AccountID)
		if err != nil {
			return err
		}
		if !account.Local() {
			return errRemoteRecipients
		}
	}
	return nil
}
