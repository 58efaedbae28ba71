package social

import (
	"context"
	"fmt"
	"strings"

	"svc/internal/errs"
	"svc/store"
)

// enqueueWelcome notifies the staff of a new user who can sign in, and enqueues what follows (extension API 6.3).
func (s *Service) enqueueWelcome(ctx context.Context, tx *store.Tx, u *store.User) error {
	if !u.CanSignIn() {
		return nil
	}
	if err := s.notifyStaff(ctx, tx, store.Notification{Type: store.NotifySignUp, FromID: u.AccountID}); err != nil {
		return err
	}
	c := s.Settings.Load()
	if len(c.Accounts.Autofollow) == 0 && len(c.Accounts.AutofollowedBy) == 0 && c.Welcome.Sender == "" {
		return nil
	}
	return tx.Enqueue(ctx, store.WelcomeUser{AccountID: u.AccountID})
}

// welcomeUser is the job that makes the automatic follows of a new account and sends the welcome messages. Accounts of the settings that do
// not exist are skipped.
func (s *Service) welcomeUser(ctx context.Context, w store.WelcomeUser) error {
	account, err := s.db.Account(ctx, w.AccountID)
	if err != nil || account.Unavailable {
		return errs.IgnoreNotFound(err)
	}
	for _, nick := range s.Settings.Load().Accounts.Autofollow {
		if err := s.autofollow(ctx, account.Nickname, nick); err != nil {
			return err
		}
	}
	for _, nick := range s.Settings.Load().Accounts.AutofollowedBy {
		if err := s.autofollow(ctx, nick, account.Nickname); err != nil {
			return err
		}
	}
	return s.sendWelcome(ctx, account)
}

// configuredAccount returns a local account that the settings name, nil if it is not available.
func (s *Service) configuredAccount(ctx context.Context, nick string) (*store.Account, error) {
	a, err := s.db.AccountByName(ctx, strings.TrimPrefix(nick, "@"), "")
	if err != nil || a.Unavailable {
		return nil, errs.IgnoreNotFound(err)
	}
	return a, nil
}

func (s *Service) autofollow(ctx context.Context, followerNick, targetNick string) error {
	follower, err := s.configuredAccount(ctx, followerNick)
	if follower == nil {
		return err
	}
	target, err := s.configuredAccount(ctx, targetNick)
	if target == nil || target.ID == follower.ID {
		return err
	}
	if f, err := s.db.FollowOf(ctx, follower.ID, target.ID); f != nil || err != nil {
		return err
	}
	_, err = s.Follow(ctx, follower, target.ID, FollowOptions{})
	return ignoreClientError(err)
}

// sendWelcome sends the welcome messages, once each however often the job runs.
func (s *Service) sendWelcome(ctx context.Context, to *store.Account) error {
	welcome := s.Settings.Load().Welcome
	if welcome.Sender == "" {
		return nil
	}
	sender, err := s.configuredAccount(ctx, welcome.Sender)
	if sender == nil || sender.ID == to.ID {
		return err
	}
	key := fmt.Sprintf("welcome %d", to.ID)
	if welcome.DirectMessage != "" {
		direct := store.Direct
		_, err := s.Publish(ctx, sender, Draft{Content: Content{Text: "@" + to.Nickname + "\n" + welcome.DirectMessage}, Visibility: &direct, IdempotencyKey: key})
		if err := ignoreClientError(err); err != nil {
			return err
		}
	}
	if welcome.ChatMessage == "" {
		return nil
	}
	chat, err := s.OpenChat(ctx, sender, to.ID)
	if err == nil {
		_, err = s.SendChatMessage(ctx, sender, chat.ID, ChatMessageDraft{Text: welcome.ChatMessage, IdempotencyKey: key})
	}
	return ignoreClientError(err)
}
