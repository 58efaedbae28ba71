package config

import (
	"fmt"
	"slices"
	"strings"
)

// A Privilege lets the staff of a role use some endpoints of the admin API. Front ends show a screen for each, so a privilege is added
// here with its endpoints: TestPrivileges.
type Privilege string

// Privileges of the admin API (admin API 1.4).
const (
	UsersRead           Privilege = "users_read"
	UsersInvites        Privilege = "users_manage_invites"
	UsersActivation     Privilege = "users_manage_activation_state"
	UsersTags           Privilege = "users_manage_tags"
	UsersCredentials    Privilege = "users_manage_credentials"
	UsersDelete         Privilege = "users_delete"
	MessagesRead        Privilege = "messages_read"
	MessagesDelete      Privilege = "messages_delete"
	InstancesDelete     Privilege = "instances_delete"
	ReportsManage       Privilege = "reports_manage_reports"
	ModerationLogRead   Privilege = "moderation_log_read"
	AnnouncementsManage Privilege = "announcements_manage_announcements"
	EmojiManage         Privilege = "emoji_manage_emoji"
	StatisticsRead      Privilege = "statistics_read"
)

// privileges are those that guard endpoints, and whether moderators have them by default.
var privileges = []struct {
	name       Privilege
	moderators bool
}{
	{UsersRead, false},
	{UsersInvites, false},
	{UsersActivation, false},
	{UsersTags, false},
	{UsersCredentials, false},
	{UsersDelete, false},
	{InstancesDelete, false},
	{MessagesRead, false},
	{MessagesDelete, true},
	{ReportsManage, true},
	{StatisticsRead, false},
	{ModerationLogRead, false},
	{EmojiManage, false},
	{AnnouncementsManage, false},
}

// privilegeNames returns all privileges, or those that moderators have by default.
func privilegeNames(moderators bool) []string {
	names := []string{}
	for _, p := range privileges {
		if p.moderators || !moderators {
			names = append(names, string(p.name))
		}
	}
	return names
}

// Privileges returns the names of the privileges of a user with these roles.
func (i *Instance) Privileges(admin, moderator bool) []string {
	list := []string{}
	for _, p := range privileges {
		if i.HasPrivilege(admin, moderator, p.name) {
			list = append(list, string(p.name))
		}
	}
	return list
}

// HasPrivilege returns true if a user with these roles has a privilege. Being an admin is not enough.
func (i *Instance) HasPrivilege(admin, moderator bool, p Privilege) bool {
	return admin && slices.Contains(i.AdminPrivileges, string(p)) || moderator && slices.Contains(i.ModeratorPrivileges, string(p))
}

// knownPrivileges is a rule for lists of privileges.
func knownPrivileges(names []string) error {
	all := privilegeNames(false)
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%q is no privilege; there are: %s", name, strings.Join(all, ", "))
		}
	}
	return nil
}
