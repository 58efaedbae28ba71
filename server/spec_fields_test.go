package server_test

import (
	"strings"
	"testing"

	"svc/app/apptest"
)

// TestSpecFields checks that each field of sections 2.8 to 2.14 of the specification is there, with its type.
func TestSpecFields(t *testing.T) {
	srv := apptest.Start(t)
	alice, bob, root := srv.SignUp("alice"), srv.SignUp("bob"), srv.SignUpAdmin()
	bob.AccountAction(alice.ID, "follow")
	post := alice.Publish("hello", "media_ids[]", alice.Upload(pngOf(t, 10, 20, 20)).ID())
	reply := bob.Publish("@alice hello", "in_reply_to_id", post.ID())
	bob.React("PUT", post.ID(), "🔥").Want(200)
	bob.Publish("@alice psst", "visibility", "direct")
	chat := bob.Post("/api/v1/svc/chats/by-account-id/" + alice.ID).Want(200).Object().ID()
	bob.SendChat(chat, "hello")
	bob.Post("/api/v1/reports", "account_id", alice.ID, "comment", "spam").Want(200)
	alice.SendJSON("POST", "/api/v1/markers", apptest.Doc{"notifications": apptest.Doc{"last_read_id": "1"}}).Want(200)

	get := func(as *apptest.Client, path string) *apptest.Object {
		t.Helper()
		return as.Get(path).Want(200).Object()
	}
	first := func(as *apptest.Client, path string) *apptest.Object {
		t.Helper()
		list := as.Get(path).Want(200).List()
		if len(list) == 0 {
			t.Fatalf("GET %s: an empty list", path)
		}
		return list[0]
	}
	own := get(alice.Client, ownAccount)
	shown := get(bob.Client, "/api/v1/accounts/"+alice.ID+"?with_relationships=true")
	status, direct := get(alice.Client, "/api/v1/statuses/"+post.ID()), first(alice.Client, "/api/v1/conversations")
	instance := get(srv.As(nil), "/api/v1/instance")
	notification := func(as *apptest.User, kind string) *apptest.Object {
		t.Helper()
		return first(as.Client, "/api/v1/notifications?include_types[]="+kind)
	}
	for _, tt := range []struct {
		section string
		of      *apptest.Object
		fields  string // path:kind
	}{
		{"2.8 relationship", bob.Relationship(alice.ID), "subscribing:boolean notifying:boolean"},
		{"2.9 conversation", direct, "svc.recipients:list last_status.svc.direct_conversation_id:number last_status.svc.conversation_id:number"},
		{"2.10 status", status, "visibility:string svc.local:boolean svc.conversation_id:number svc.direct_conversation_id:null|number svc.in_reply_to_account_acct:null " +
			"svc.content:object svc.spoiler_text:object svc.expires_at:null svc.thread_muted:boolean svc.emoji_reactions:list svc.parent_visible:boolean svc.pinned_at:null"},
		{"2.10 reply", reply, "svc.in_reply_to_account_acct:string svc.parent_visible:boolean"},
		{"2.10 expiring status", alice.Publish("x", "expires_in", "7200"), "svc.expires_at:string"},
		{"2.10 scheduled status", alice.Schedule("later", "expires_in", "7200"), "params.expires_in:number"},
		{"2.12 account", shown, "svc.ap_id:string svc.background_image:null svc.tags:list svc.relationship:object svc.is_moderator:boolean svc.is_admin:boolean " +
			"svc.confirmation_pending:boolean svc.hide_favorites:boolean svc.hide_followers:boolean svc.hide_follows:boolean svc.hide_followers_count:boolean " +
			"svc.hide_follows_count:boolean svc.accepts_chat_messages:boolean svc.favicon:null source.svc.discoverable:boolean source.svc.actor_type:string"},
		{"2.12 own account", own, "svc.settings_store:object svc.chat_token:string svc.allow_following_move:boolean svc.unread_conversation_count:number " +
			"svc.unread_notifications_count:number svc.notification_settings.block_from_strangers:boolean svc.notification_settings.hide_notification_contents:boolean " +
			"source.svc.show_role:boolean source.svc.no_rich_text:boolean source.svc.discoverable:boolean source.svc.actor_type:string"},
		{"2.12 account for staff", get(root.Client, "/api/v1/accounts/"+alice.ID), "svc.deactivated:boolean"},
		{"2.13 reaction", notification(alice, "svc:emoji_reaction"), "svc.is_seen:boolean emoji:string account:object status:object"},
		{"2.13 chat message", notification(alice, "svc:chat_mention"), "svc.is_seen:boolean account:object chat_message:object"},
		{"2.13 report", notification(root, "svc:report"), "svc.is_seen:boolean account:object report:object"},
		{"2.13 marker", get(alice.Client, "/api/v1/markers?timeline[]=notifications"), "notifications.svc.unread_count:number"},
		{"2.14 instance", instance, "max_toot_chars:number chat_limit:number description_limit:number poll_limits:object upload_limit:number " +
			"avatar_upload_limit:number background_upload_limit:number banner_upload_limit:number background_image:string vapid_public_key:string " +
			"svc.metadata.features:strings svc.metadata.federation:object svc.metadata.fields_limits:object svc.metadata.post_formats:strings"},
	} {
		t.Run(tt.section, func(t *testing.T) {
			shape := make(map[string]string)
			for _, field := range strings.Fields(tt.fields) {
				path, kind, _ := strings.Cut(field, ":")
				shape[path] = kind
			}
			WantShape(t, &apptest.Object{T: t, Fields: tt.of.Fields}, false, shape)
		})
	}
	if got := status.At("svc.content").(map[string]any)["text/plain"]; got != "hello" {
		t.Errorf("2.10: the plain text is %v", got)
	}
	attachment := status.At("media_attachments").([]any)[0].(map[string]any)
	if attachment["svc"].(map[string]any)["mime_type"] != "image/png" {
		t.Errorf("2.11: mime_type of %v", attachment)
	}
	for _, key := range []string{"meta", "blurhash"} {
		if v, ok := attachment[key]; ok && v != nil {
			t.Errorf("2.11: %s is %v", key, v)
		}
	}
	// What only some requests or viewers get.
	updated := alice.UpdateProfile(apptest.Doc{"display_name": "Al"})
	updated.At("svc.settings_store")
	for what, o := range map[string]*apptest.Object{"another viewer": shown, "the own profile": get(alice.Client, "/api/v1/accounts/"+alice.ID), "update_credentials": updated} {
		for _, key := range []string{"svc.chat_token", "svc.deactivated"} {
			if v := o.Find(key); v != nil {
				t.Errorf("2.12: %s gets %s %v", what, key, v)
			}
		}
	}
	for _, key := range []string{"settings_store", "unread_conversation_count", "unread_notifications_count", "notification_settings", "allow_following_move"} {
		if v := shown.Find("svc." + key); v != nil {
			t.Errorf("2.12: another viewer gets %s %v", key, v)
		}
	}
	if token := own.Str("svc.chat_token"); !strings.HasPrefix(token, alice.ID+".") || token != get(alice.Client, ownAccount).Str("svc.chat_token") {
		t.Errorf("2.12: the chat token is %s", token)
	}
}
