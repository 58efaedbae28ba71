package moving

import "strings"

// pleromaChats are the sides that local accounts have of chats.
var pleromaChats = &mapping{
	columns: []string{"id", "user_id", "recipient", "updated_at"},
	load: func(l *loader, r *row) error {
		return l.put(r, "chats", r.text("id"), r.text("user_id"), r.text("recipient"), r.time("updated_at"))
	},
}

// pleromaChatCopies are the messages of a side, which name the rows of objects.
var pleromaChatCopies = &mapping{
	columns:  []string{"chat_id", "object_id", "inserted_at"},
	optional: []string{"unread"},
	load: func(l *loader, r *row) error {
		return l.put(r, "chat_copies", nil, r.text("chat_id"), r.text("object_id"), r.bool("unread"), r.time("inserted_at"))
	},
}

// pleromaChatMessage loads a message of a chat.
func pleromaChatMessage(l *loader, r *row, d document) error {
	uri, actor, to := d.text("id"), pleromaActor(d), d.ids("to")
	if !pleromaOwn(l, uri, actor) || len(to) != 1 {
		return pleromaLeft(l, "chat messages", "their address is that of another server than their author's, or they have no recipient")
	}
	isLocal := strings.HasPrefix(uri, l.baseURL+"/")
	at := d.time("published")
	if at == 0 {
		at = r.time("inserted_at")
	}
	file := ""
	if list := d.documents("attachment"); len(list) > 0 && pleromaAddress(list[0]) != "" {
		file = uri + " file"
		if err := pleromaMedia(l, r, file, actor, at, isLocal, list[0]); err != nil {
			return err
		}
	}
	if err := pleromaEmoji(l, r, actor, isLocal, d); err != nil {
		return err
	}
	if err := l.put(r, "pleroma_chat_messages", r.text("id"), uri); err != nil {
		return err
	}
	return l.put(r, "chat_messages", uri, actor, to[0], d.text("content"), at, file)
}
