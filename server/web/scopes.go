package web

import (
	"strings"

	"svc/store"
)

// broadScopeTexts describe the scopes that include others.
var broadScopeTexts = map[string]string{
	"read":        "See what you can see: your account, timelines, posts, messages, notifications, lists and settings",
	"write":       "Do what you can do: post, upload, react, write messages, change and delete what is yours",
	"follow":      "See and change whom you follow, block and mute",
	"push":        "Send you push notifications",
	"profile":     "See who you are",
	"admin":       "Administer the server with all you are allowed to do",
	"admin:read":  "See what you are allowed to see as staff of the server",
	"admin:write": "Do what you are allowed to do as staff of the server",
}

// scopeTexts describe the included scopes, apart from those of admin.
var scopeTexts = map[string]string{
	"read:accounts":      "See your account",
	"read:backups":       "See your backups",
	"read:blocks":        "See whom you block",
	"read:bookmarks":     "See your bookmarks",
	"read:chats":         "Read your chats",
	"read:favourites":    "See your favourites",
	"read:filters":       "See your filters",
	"read:follows":       "See whom you follow",
	"read:lists":         "See your lists",
	"read:media":         "See your uploads",
	"read:mutes":         "See whom you mute",
	"read:notifications": "Read your notifications",
	"read:reports":       "See your reports",
	"read:search":        "Search for you",
	"read:security":      "See how you sign in",
	"read:statuses":      "Read all posts that you can read",

	"write:accounts":      "Change your profile and your settings",
	"write:backups":       "Make backups of your account",
	"write:blocks":        "Block people and servers, and end that",
	"write:bookmarks":     "Change your bookmarks",
	"write:chats":         "Write in your chats",
	"write:conversations": "Mute and remove conversations",
	"write:favourites":    "Change your favourites",
	"write:filters":       "Change your filters",
	"write:follow":        "Follow people, and end that",
	"write:follows":       "Follow people, and end that",
	"write:lists":         "Change your lists",
	"write:media":         "Upload files",
	"write:mutes":         "Mute people and conversations, and end that",
	"write:notifications": "Remove your notifications",
	"write:reports":       "Report others",
	"write:security":      "Change how you sign in",
	"write:statuses":      "Post, edit and delete in your name",
}

// DescribeScopes describes scopes in plain words. Scopes that another one includes are left out.
func DescribeScopes(scopes store.Scopes) []string {
	var texts []string
	seen := make(map[string]bool)
	for i, scope := range scopes {
		others := make(store.Scopes, 0, len(scopes))
		others = append(append(others, scopes[:i]...), scopes[i+1:]...)
		text := describeScope(scope)
		if text == "" || seen[text] || others.Allow(scope) {
			continue
		}
		seen[text] = true
		texts = append(texts, text)
	}
	return texts
}

func describeScope(scope string) string {
	if text := broadScopeTexts[scope]; text != "" {
		return text
	}
	subject, isAdmin := strings.CutPrefix(scope, "admin:")
	if !isAdmin {
		return scopeTexts[scope]
	}
	verb, subject, _ := strings.Cut(subject, ":")
	subject = strings.ReplaceAll(subject, "_", " ")
	if verb == "read" {
		return "See as staff of the server: " + subject
	}
	return "Change as staff of the server: " + subject
}
