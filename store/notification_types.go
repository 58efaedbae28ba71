package store

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"svc/internal/config"
)

// NotificationType is the type of a notification in the client API.
type NotificationType string

const (
	NotifyMention       NotificationType = "mention"
	NotifyFollow        NotificationType = "follow"
	NotifyFollowRequest NotificationType = "follow_request"
	NotifyReblog        NotificationType = "reblog"
	NotifyFavourite     NotificationType = "favourite"
	NotifyPoll          NotificationType = "poll"
	NotifyMove          NotificationType = "move"
	NotifyStatus        NotificationType = "status"
	NotifyUpdate        NotificationType = "update"
	NotifyQuote         NotificationType = "quote"         // the status is the quote
	NotifyQuotedUpdate  NotificationType = "quoted_update" // the status is the recipient's quote of the edited one
	NotifyEmojiReaction NotificationType = "emoji_reaction"
	NotifyChatMention   NotificationType = "chat_mention"
	NotifyReport        NotificationType = "report"
	NotifySignUp        NotificationType = "admin.sign_up" // of the account that caused it

	NotifyAddedToCollection NotificationType = "added_to_collection"
	NotifyCollectionUpdate  NotificationType = "collection_update" // of one that the recipient is in

	// An interaction waits for the recipient's approval.
	NotifyPendingFavourite NotificationType = "pending.favourite"
	NotifyPendingReply     NotificationType = "pending.reply" // the status is the reply
	NotifyPendingReblog    NotificationType = "pending.reblog"
)

// NotificationRule says what of the recipient's settings decides about notifications of a type.
type NotificationRule int

const (
	ByPolicy   NotificationRule = iota + 1 // the notification policy, and block_from_strangers
	FromAnyone                             // block_from_strangers only, because the recipient has to know or has another setting for it
	Requested                              // nothing, because the recipient voted or subscribed
	ForStaff                               // nothing, because it is a duty
)

// NotificationKind describes a type of notifications. Texts may contain {account} (the handle), {post}, {message} and {options} (how they
// begin) and {emoji}, Fallback {account} and {emoji} only; pages {chat}, {report} and {account} (the id).
type NotificationKind struct {
	Type      NotificationType
	Own       bool             // its name in the API begins with that of the service
	Explicit  bool             // listed and counted only on request (spec 2.13)
	Rule      NotificationRule // required
	Privilege config.Privilege // that the recipient needs; "": none
	Hideable  bool             // its status may be hidden from the recipient without a block or mute; the others are the recipient's own, or addressed to the recipient
	Grouped   bool             // notifications about the same status form groups
	View      string           // of the pages that shows it beside the first; "": none
	Link      string           // key of a text that leads to Page
	Page      string           // where the recipient answers it; "": nowhere

	Alert       bool   // it can be a push message
	AlertName   string // of a push subscription; "": its name in the API
	Title, Body string // of a push message (extension API 25)
	DirectTitle string // if the status is a direct one; "": Title

	Fallback string // what apps show that do not know the type; "": all know it
}

const (
	viewMentions  = "mentions"
	viewFollows   = "follows"
	viewReactions = "reactions"

	approvalsLink = "notifications.to_approvals"
	approvalsPage = "/web/interaction_requests"
)

// NotificationKinds are all types, the explicit ones last. The conditions of the indexes notifications_unread_hideable and
// notifications_groups list those that are Hideable and Grouped.
var NotificationKinds = []NotificationKind{
	{Type: NotifyMention, Rule: ByPolicy, View: viewMentions, Alert: true, Title: "New Mention", DirectTitle: "New Direct Message", Body: "{account}: {post}"},
	{Type: NotifyFollow, Rule: ByPolicy, Grouped: true, View: viewFollows, Alert: true, Title: "New Follower", Body: "{account} has followed you"},
	{Type: NotifyFollowRequest, Rule: ByPolicy, View: viewFollows, Link: "notifications.to_requests", Page: "/web/requests",
		Alert: true, Title: "New Follow Request", Body: "{account} has requested to follow you"},
	{Type: NotifyReblog, Rule: ByPolicy, Grouped: true, View: viewReactions, Alert: true, Title: "New Repeat", Body: "{account} repeated: {post}"},
	{Type: NotifyFavourite, Rule: ByPolicy, Grouped: true, View: viewReactions, Alert: true, Title: "New Favorite", Body: "{account} has favorited your post"},
	{Type: NotifyPoll, Rule: Requested, Hideable: true, Alert: true, Title: "Poll Results", Body: "{post}{options}"},
	{Type: NotifyMove, Rule: FromAnyone, Alert: true, Title: "New Move", Body: "{account} has moved to another account",
		Fallback: "{account} has moved to another account"},
	{Type: NotifyStatus, Rule: Requested, Hideable: true, Alert: true, Title: "New Status", Body: "{account}: {post}"},
	{Type: NotifyUpdate, Rule: FromAnyone, Hideable: true, Alert: true, Title: "New Update", Body: "{account} edited a status"},
	{Type: NotifyQuote, Rule: ByPolicy, Hideable: true, View: viewMentions, Alert: true, Title: "New Quote", Body: "{account} quoted your post: {post}",
		Fallback: "{account} quoted your post"},
	{Type: NotifyQuotedUpdate, Rule: FromAnyone, Alert: true, Title: "New Update", Body: "{account} edited a post that you quoted",
		Fallback: "{account} edited a post that you quoted"},
	{Type: NotifyEmojiReaction, Own: true, Rule: ByPolicy, View: viewReactions, Alert: true, Title: "New Reaction", Body: "{account} reacted with {emoji}",
		Fallback: "{account} reacted with {emoji}"},
	{Type: NotifyPendingFavourite, Rule: FromAnyone, View: viewReactions, Link: approvalsLink, Page: approvalsPage,
		Alert: true, Title: "New Request", Body: "{account} wants to favorite your post",
		Fallback: "{account} wants to favorite your post"},
	{Type: NotifyPendingReply, Rule: FromAnyone, View: viewMentions, Link: approvalsLink, Page: approvalsPage,
		Alert: true, Title: "New Request", Body: "{account} wants to reply: {post}",
		Fallback: "{account} wants to reply to your post"},
	{Type: NotifyPendingReblog, Rule: FromAnyone, View: viewReactions, Link: approvalsLink, Page: approvalsPage,
		Alert: true, Title: "New Request", Body: "{account} wants to repeat: {post}",
		Fallback: "{account} wants to repeat your post"},
	{Type: NotifyAddedToCollection, Rule: ByPolicy, View: viewFollows, Link: "notifications.to_collections", Page: "/web/in_collections",
		Alert: true, Title: "New Collection", Body: "{account} added you to a collection",
		Fallback: "{account} added you to a collection"},
	{Type: NotifyCollectionUpdate, Rule: FromAnyone, View: viewFollows, Link: "notifications.to_collections", Page: "/web/in_collections",
		Alert: true, Title: "New Update", Body: "{account} changed a collection that you are in",
		Fallback: "{account} changed a collection that you are in"},
	{Type: NotifyChatMention, Own: true, Explicit: true, Rule: FromAnyone, Hideable: true, Link: "notifications.to_chat", Page: "/web/chats/{chat}",
		Alert: true, Title: "New Chat Message", Body: "{account}: {message}",
		Fallback: "{account} sent you a chat message"},
	{Type: NotifyReport, Own: true, Explicit: true, Rule: ForStaff, Privilege: config.ReportsManage, Hideable: true,
		Link: "notifications.to_report", Page: "/web/admin/reports/{report}",
		Alert: true, AlertName: "admin.report", Title: "New Report", Body: "{account} reported an account",
		Fallback: "{account} reported an account"},
	{Type: NotifySignUp, Explicit: true, Rule: ForStaff, Privilege: config.UsersRead,
		Link: "notifications.to_new_account", Page: "/web/admin/accounts/{account}",
		Alert: true, Title: "New Account", Body: "{account} signed up"},
}

var kindsByType = byKey(NotificationKinds, func(k *NotificationKind) NotificationType { return k.Type })

// byKey returns the elements of a list by a key. It panics if two have the same one.
func byKey[K comparable, E any](list []E, key func(*E) K) map[K]*E {
	m := make(map[K]*E, len(list))
	for i := range list {
		k := key(&list[i])
		if m[k] != nil {
			panic(fmt.Sprintf("store: %v is declared twice", k))
		}
		m[k] = &list[i]
	}
	return m
}

// Kind returns the description of the type. It panics if there is none, which is a bug: no such type is stored.
func (t NotificationType) Kind() *NotificationKind {
	k := kindsByType[t]
	if k == nil {
		panic("store: no notification type " + string(t))
	}
	return k
}

// Value refuses unknown types, in place of a CHECK of the table, which could not be altered.
func (t NotificationType) Value() (driver.Value, error) {
	if kindsByType[t] == nil {
		return nil, fmt.Errorf("no notification type %q", string(t))
	}
	return string(t), nil
}

// NotificationTypesWhere returns the types for which is returns true, in the order of NotificationKinds.
func NotificationTypesWhere(is func(*NotificationKind) bool) []NotificationType {
	var types []NotificationType
	for i := range NotificationKinds {
		if is(&NotificationKinds[i]) {
			types = append(types, NotificationKinds[i].Type)
		}
	}
	return types
}

// GroupableTypes are the types whose notifications form groups.
var GroupableTypes = NotificationTypesWhere(func(k *NotificationKind) bool { return k.Grouped })

// typeIs returns the condition that a column is one of the types, and typeIsNot that it is none, as a chain of comparisons: SQLite recognizes
// the conditions of the partial indexes in it, and builds no table for it.
func typeIs(column string, is func(*NotificationKind) bool) string {
	return "(" + typeChain(column, " = ", " OR ", is) + ")"
}

func typeIsNot(column string, is func(*NotificationKind) bool) string {
	return "(" + typeChain(column, " <> ", " AND ", is) + ")"
}

func typeChain(column, operator, joint string, is func(*NotificationKind) bool) string {
	var parts []string
	for _, t := range NotificationTypesWhere(is) {
		parts = append(parts, column+operator+"'"+string(t)+"'")
	}
	slices.Sort(parts)
	return strings.Join(parts, joint)
}

func isExplicit(k *NotificationKind) bool { return k.Explicit }
func isHideable(k *NotificationKind) bool { return k.Hideable }
func isGrouped(k *NotificationKind) bool  { return k.Grouped }
