package admin

import (
	"context"
	"slices"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/social"
	"svc/store"
)

// ChangedUser is an account after a change of its state.
type ChangedUser struct {
	*User
	Changed bool `json:"changed"` // false: the account had this state before
}

// ActivateUsers activates deactivated accounts, and ends the suspension of remote ones.
func (s *Service) ActivateUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, false, "activate", "activated users", func(tx *store.Tx, t *target) (bool, error) {
		return s.activate(ctx, tx, t)
	})
}

func (s *Service) activate(ctx context.Context, tx *store.Tx, t *target) (changed bool, err error) {
	if t.user == nil {
		return s.social.SuspendIn(ctx, tx, t.account, false)
	}
	return s.social.ActivateIn(ctx, tx, t.account.ID)
}

// Deactivation in the moderation log.
const (
	deactivation = "deactivate"
	deactivated  = "deactivated users"
)

// DeactivateUsers deactivates accounts, as social.DeactivateIn does, and suspends remote ones.
func (s *Service) DeactivateUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, false, deactivation, deactivated, func(tx *store.Tx, t *target) (bool, error) {
		return s.deactivate(ctx, tx, t)
	})
}

func (s *Service) deactivate(ctx context.Context, tx *store.Tx, t *target) (changed bool, err error) {
	if t.user == nil {
		return s.social.SuspendIn(ctx, tx, t.account, true)
	}
	return s.social.DeactivateIn(ctx, tx, t.account.ID)
}

// ToggleActivation activates a deactivated account, and deactivates any other.
func (s *Service) ToggleActivation(ctx context.Context, name string) (*ChangedUser, error) {
	u, err := s.ShowUser(ctx, name)
	if err != nil {
		return nil, err
	}
	if u.Deactivated {
		return only(s.ActivateUsers(ctx, []string{u.PublicID}))
	}
	return only(s.DeactivateUsers(ctx, []string{u.PublicID}))
}

// ConfirmUsers confirms the e-mail addresses of new accounts.
func (s *Service) ConfirmUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "confirm_email", "confirmed email for users", func(tx *store.Tx, t *target) (bool, error) {
		return s.social.ConfirmIn(ctx, tx, t.account.ID)
	})
}

// ResendConfirmations sends the confirmation mail of new accounts again. Changed is false for those that need none.
func (s *Service) ResendConfirmations(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "resend_confirmation_email", "re-sent confirmation email for users", func(tx *store.Tx, t *target) (bool, error) {
		return s.social.ResendConfirmationIn(ctx, tx, t.account.ID)
	})
}

// ApproveUsers approves accounts that are pending approval, as social.Approve does.
func (s *Service) ApproveUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "approve", "approved users", func(tx *store.Tx, t *target) (bool, error) {
		return s.social.ApproveIn(ctx, tx, t.account.ID)
	})
}

// RejectUser deletes an account that is pending approval, as social.Reject does. It returns what the account was.
func (s *Service) RejectUser(ctx context.Context, name string) (*ChangedUser, error) {
	return only(s.changeUsers(ctx, []string{name}, true, "reject", "rejected users", func(tx *store.Tx, t *target) (bool, error) {
		return true, s.social.RejectIn(ctx, tx, t.account)
	}))
}

// DeleteUsers deletes accounts, as social.DeleteAccountIn does. It returns the deleted accounts.
func (s *Service) DeleteUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, false, "delete", "deleted users", func(tx *store.Tx, t *target) (bool, error) {
		return true, s.social.DeleteAccountIn(ctx, tx, t.account.ID)
	})
}

// SuggestUsers makes the server suggest accounts to users.
func (s *Service) SuggestUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, false, "add_suggestion", "added suggested users", setSuggested(ctx, true))
}

// UnsuggestUsers no longer suggests accounts to users.
func (s *Service) UnsuggestUsers(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, false, "remove_suggestion", "removed suggested users", setSuggested(ctx, false))
}

func setSuggested(ctx context.Context, suggested bool) func(*store.Tx, *target) (bool, error) {
	return func(tx *store.Tx, t *target) (bool, error) {
		if t.account.Suggested == suggested {
			return false, nil
		}
		return true, tx.SetSuggested(ctx, t.account.ID, suggested)
	}
}

// DisableMFA disables the second factor of accounts and revokes their tokens.
func (s *Service) DisableMFA(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "disable_mfa", "disabled the second factor of users", func(tx *store.Tx, t *target) (bool, error) {
		return s.social.DisableMFAIn(ctx, tx, t.account.ID, 0)
	})
}

// RequirePasswordResets makes users set a new password before the next sign-in, and revokes their tokens.
func (s *Service) RequirePasswordResets(ctx context.Context, names []string) ([]*ChangedUser, error) {
	return s.changeUsers(ctx, names, true, "force_password_reset", "forced password reset for users", func(tx *store.Tx, t *target) (bool, error) {
		return s.social.RequirePasswordResetIn(ctx, tx, t.account.ID)
	})
}

// FollowChange names an account to follow or unfollow another.
type FollowChange struct {
	Follower string `json:"follower"`
	Followed string `json:"followed"`
}

// FollowUser makes an account follow another, as social.FollowAsIn does.
func (s *Service) FollowUser(ctx context.Context, c FollowChange) (changed bool, err error) {
	return s.changeFollow(ctx, c, "follow", func(tx *store.Tx, follower, followed *store.Account) (bool, error) {
		return s.social.FollowAsIn(ctx, tx, follower, followed.ID)
	})
}

// UnfollowUser makes an account unfollow another.
func (s *Service) UnfollowUser(ctx context.Context, c FollowChange) (changed bool, err error) {
	return s.changeFollow(ctx, c, "unfollow", func(tx *store.Tx, follower, followed *store.Account) (bool, error) {
		return s.social.UnfollowAsIn(ctx, tx, follower.ID, followed.ID)
	})
}

func (s *Service) changeFollow(ctx context.Context, c FollowChange, action string, change func(tx *store.Tx, follower, followed *store.Account) (bool, error)) (changed bool, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		follower, _, err := s.findUser(ctx, tx, c.Follower)
		if err != nil {
			return err
		}
		followed, err := s.findAccount(ctx, tx, c.Followed)
		if err != nil {
			return err
		}
		if changed, err = change(tx, follower, followed); err != nil || !changed {
			return err
		}
		what := "made @" + follower.Acct() + " " + action + " @" + followed.Acct()
		return s.record(ctx, tx, action, what, map[string]any{"follower": subject(follower), "followed": subject(followed)})
	})
	return changed, err
}

// Tagging names accounts and tags to add or remove.
type Tagging struct {
	Names []string `json:"names"`
	Tags  []string `json:"tags"`
}

const (
	maxAccountTags = 50
	maxAccountTag  = 100 // characters
)

// TagUsers adds tags to accounts. Some have an effect (admin API 4.8); policy.TagPolicy has them.
func (s *Service) TagUsers(ctx context.Context, c Tagging) ([]*ChangedUser, error) {
	tags := lowerCase(c.Tags)
	action, what := tagAction(tags)
	return s.changeTags(ctx, c.Names, tags, action, what, addTags)
}

// tagAction returns the action and the message of TagUsers in the moderation log.
func tagAction(tags []string) (action, what string) {
	return "tag", "added tags: " + strings.Join(tags, ", ") + " to users"
}

// UntagUsers removes tags from accounts.
func (s *Service) UntagUsers(ctx context.Context, c Tagging) ([]*ChangedUser, error) {
	tags := lowerCase(c.Tags)
	what := "removed tags: " + strings.Join(tags, ", ") + " from users"
	return s.changeTags(ctx, c.Names, tags, "untag", what, removeTags)
}

// tagChange adds tags to an account or removes them. It returns false if that changes nothing.
type tagChange func(ctx context.Context, tx *store.Tx, account *store.Account, tags []string) (changed bool, err error)

func (s *Service) changeTags(ctx context.Context, names, tags []string, action, what string, change tagChange) ([]*ChangedUser, error) {
	if len(tags) == 0 {
		return nil, errs.BadRequest("Missing field: tags.")
	}
	if slices.ContainsFunc(tags, func(tag string) bool { return text.Length(tag, "") > maxAccountTag }) {
		return nil, errs.BadRequest("A tag has at most %d characters", maxAccountTag)
	}
	return s.changeUsers(ctx, names, false, action, what, func(tx *store.Tx, t *target) (bool, error) {
		return change(ctx, tx, t.account, tags)
	})
}

func addTags(ctx context.Context, tx *store.Tx, account *store.Account, tags []string) (changed bool, err error) {
	has := append([]string{}, account.Tags.V...)
	for _, tag := range tags {
		if !slices.Contains(has, tag) {
			has = append(has, tag)
		}
	}
	switch {
	case len(has) == len(account.Tags.V):
		return false, nil
	case len(has) > maxAccountTags:
		return false, errs.BadRequest("An account has at most %d tags", maxAccountTags)
	}
	account.Tags.V = has
	return true, tx.SaveAccount(ctx, account)
}

func removeTags(ctx context.Context, tx *store.Tx, account *store.Account, tags []string) (changed bool, err error) {
	has := slices.DeleteFunc(append([]string{}, account.Tags.V...), func(tag string) bool { return slices.Contains(tags, tag) })
	if len(has) == len(account.Tags.V) {
		return false, nil
	}
	account.Tags.V = has
	return true, tx.SaveAccount(ctx, account)
}

// Role is a permission group of the admin API.
type Role string

// The roles.
const (
	AdminRole     Role = "admin"
	ModeratorRole Role = "moderator"
)

// Valid returns true if there is such a role.
func (r Role) Valid() bool { return r == AdminRole || r == ModeratorRole }

// Errors of changes of roles.
var (
	ErrUnknownRole = errs.NotFound("No such permission_group")
	ErrOwnRole     = errs.Forbidden("You can't revoke your own admin/moderator status.")
)

// RoleChange names accounts and a role to grant or revoke.
type RoleChange struct {
	Names []string `json:"names"`
	Role  Role     `json:"role"`
}

// GrantRole gives accounts a role.
func (s *Service) GrantRole(ctx context.Context, c RoleChange) ([]*ChangedUser, error) {
	return s.changeRoles(ctx, c, true)
}

// RevokeRole takes a role away. Staff cannot revoke their own roles, and the last admin keeps its role.
func (s *Service) RevokeRole(ctx context.Context, c RoleChange) ([]*ChangedUser, error) {
	return s.changeRoles(ctx, c, false)
}

func (s *Service) changeRoles(ctx context.Context, c RoleChange, grant bool) (list []*ChangedUser, err error) {
	if !c.Role.Valid() {
		return nil, ErrUnknownRole
	}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		list = nil
		targets, err := s.targets(ctx, tx, c.Names, true)
		if err != nil {
			return err
		}
		var changed []*store.Account
		for _, t := range targets {
			did, err := s.setRole(ctx, tx, t, c.Role, grant)
			if err != nil {
				return err
			}
			if did {
				changed = append(changed, t.account)
			}
			list = append(list, &ChangedUser{newUser(t.account, t.user), did})
		}
		return s.recordRole(ctx, tx, c.Role, grant, changed...)
	})
	return list, err
}

// recordRole adds an entry about a role to the moderation log, if the role of some accounts changed.
func (s *Service) recordRole(ctx context.Context, tx *store.Tx, role Role, grant bool, changed ...*store.Account) error {
	if len(changed) == 0 {
		return nil
	}
	data := subjects(changed)
	data["permission"] = string(role)
	if grant {
		return s.record(ctx, tx, "grant", "made "+handles(changed)+" "+string(role), data)
	}
	return s.record(ctx, tx, "revoke", "revoked "+string(role)+" role from "+handles(changed), data)
}

func (s *Service) setRole(ctx context.Context, tx *store.Tx, t *target, role Role, grant bool) (changed bool, err error) {
	if !grant && s.actor != nil && s.actor.ID == t.account.ID {
		return false, ErrOwnRole
	}
	has := &t.user.IsModerator
	if role == AdminRole {
		has = &t.user.IsAdmin
	}
	if *has == grant {
		return false, nil
	}
	if role == AdminRole && !grant {
		if last, err := tx.IsLastAdmin(ctx, t.account.ID); err != nil {
			return false, err
		} else if last {
			return false, social.ErrLastAdmin
		}
	}
	*has = grant
	return true, tx.SaveUser(ctx, t.user)
}
