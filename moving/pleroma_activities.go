package moving

import (
	"strings"

	"svc/store"
)

// pleromaActivities are boosts, likes, reactions and reports, and the addresses of posts, follows, blocks and moves. What was undone has no row any more.
var pleromaActivities = &mapping{
	columns:  []string{"id", "data", "inserted_at"},
	optional: []string{"updated_at"},
	load: func(l *loader, r *row) error {
		d := r.document("data")
		uri, actor, object := d.text("id"), pleromaActor(d), d.id("object")
		if r.err != nil || actor == "" || object == "" {
			return r.err
		}
		at := d.time("published")
		if at == 0 {
			at = r.time("inserted_at")
		}
		switch kind := d.text("type"); kind {
		case "Create":
			return pleromaCreate(l, r, actor, object, uri)
		case "Announce":
			return pleromaBoost(l, r, d, actor, object, at)
		case "Like":
			return l.put(r, "favourites", nil, actor, object, uri, false, at)
		case "EmojiReact":
			name, address := pleromaReaction(d)
			if name == "" {
				return pleromaLeft(l, "reactions", "they have no emoji")
			}
			return l.put(r, "reactions", nil, actor, object, name, address, uri, at)
		case "Follow":
			if state := d.text("state"); state == "reject" || state == "cancelled" {
				return nil
			}
			return l.put(r, "pleroma_activities", nil, kind, actor, object, uri, at)
		case "Block":
			return l.put(r, "pleroma_activities", nil, kind, actor, object, uri, at)
		case "Move":
			return l.put(r, "pleroma_activities", nil, kind, object, d.id("target"), uri, at)
		case "Flag":
			return pleromaReport(l, r, d, actor, at)
		}
		return nil
	},
}

// pleromaCreate loads the address of the page of a post, which has the id of its Create.
func pleromaCreate(l *loader, r *row, actor, post, uri string) error {
	page := ""
	if own := l.baseURL + "/"; strings.HasPrefix(post, own) {
		page = own + "notice/" + flakeOf(r.text("id"))
		if !strings.HasPrefix(uri, own) {
			uri = ""
		}
	} else {
		uri = "" // only addresses of this server are of use
	}
	return l.put(r, "pleroma_creates", r.text("id"), actor, post, uri, page)
}

func pleromaBoost(l *loader, r *row, d document, actor, post string, at int64) error {
	uri := d.text("id")
	if !pleromaOwn(l, uri, actor) {
		return pleromaLeft(l, "boosts", "their address is that of another server than their author's")
	}
	visibility := pleromaVisibility(l, d)
	if visibility == store.Direct { // boosts are for followers at least
		visibility = store.Private
	}
	return l.put(r, "posts", uri, actor, uri, "", at, 0, visibility, "", "", post, "", "", "", "", "", false, "", "", "", false, false)
}

// pleromaReaction returns the emoji of a reaction: a unicode one, or the shortcode and the picture of a custom one.
func pleromaReaction(d document) (name, picture string) {
	name = strings.Trim(d.text("content"), ":")
	for _, tag := range d.documents("tag") {
		if tag.text("type") == "Emoji" && strings.Trim(tag.text("name"), ":") == name {
			return name, tag.document("icon").link("url")
		}
	}
	return name, ""
}

// pleromaReport loads a report: of the first object, which is the account, with the others, which are its posts.
func pleromaReport(l *loader, r *row, d document, actor string, at int64) error {
	objects := d.ids("object")
	decided := int64(0)
	if state := d.text("state"); state == "closed" || state == "resolved" {
		decided = max(at, r.time("updated_at"))
	}
	var rules []string
	for _, b := range d.list("rules") {
		rules = append(rules, strings.Trim(string(b), `"`))
	}
	category := string(store.ReportOther)
	if len(rules) > 0 {
		category = string(store.ReportViolation)
	}
	uri := d.text("id")
	if !pleromaOwn(l, uri, actor) {
		uri = ""
	}
	return l.put(r, "reports", r.text("id"), actor, objects[0], d.text("content"), category, false, decided, "", "", jsonOf(objects[1:]), jsonOf(rules), uri, at)
}
