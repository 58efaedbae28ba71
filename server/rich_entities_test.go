package server_test

import (
	"testing"

	"svc/app/apptest"
)

// addRichEntities makes rich and other perform all actions that create data, and checks the shapes of the responses.
// It returns statuses of all kinds, an upload and a list with members.
func addRichEntities(a *apptest.Server, rich, other *apptest.User) (statuses []string, attachment, list string) {
	t := a.T.(*testing.T)
	t.Helper()
	do := func(m *apptest.User, shape, method, path string, body any) *apptest.Object {
		t.Helper()
		response := m.SendJSON(method, path, body)
		WantEntity(t, m.Nickname, response, shape)
		return response.Object()
	}
	type params = map[string]any
	status := func(m *apptest.User, body params) string {
		t.Helper()
		id := do(m, "Status", "POST", "/api/v1/statuses", body).ID()
		statuses = append(statuses, id)
		return id
	}
	do(rich, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{
		"display_name": "Rich & <b> :cat:", "note": "of #everything", "bot": true, "show_role": true, "discoverable": true, "hide_favorites": false,
		"birthday": "2000-02-29", "show_birthday": true,
		"fields_attributes": []params{{"name": "site", "value": a.URL}}, "svc_settings_store": params{"fe": params{"a": 1}},
	})
	do(other, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{"svc_settings_store": nil})
	upload := other.Upload(apptest.PNG(3, 3))
	attachment = rich.Upload(apptest.PNG(4, 4), apptest.ValuePart("description", "noise")).ID()
	WantEntity(t, rich.Nickname, rich.SendJSON("PUT", "/api/v1/media/"+attachment, params{"description": "more noise"}), "Attachment")
	list = do(rich, "List", "POST", "/api/v1/lists", params{"title": "all"}).ID()
	do(rich, "List", "PUT", "/api/v1/lists/"+list, params{"title": "all", "replies_policy": "followed"})
	do(other, "Relationship", "POST", "/api/v1/accounts/"+rich.ID+"/follow", params{"notify": true, "languages": []string{"de"}})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+other.ID+"/follow", params{})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+other.ID+"/note", params{"comment": "known"})
	do(rich, "FoundTag", "POST", "/api/v1/tags/followed/follow", nil)
	do(rich, "empty", "POST", "/api/v1/lists/"+list+"/accounts", params{"account_ids": []string{other.ID}})

	first := status(rich, params{"status": "first @other #rich :cat: :none: " + a.URL, "spoiler_text": "a subject :dog:", "language": "de", "expires_in": 4000})
	status(rich, params{"status": "", "media_ids": []string{attachment}, "sensitive": true})
	for _, v := range []string{"unlisted", "private", "direct", "local", "list:" + list} {
		status(rich, params{"status": "@other of visibility " + v, "visibility": v})
	}
	do(rich, "Preview", "POST", "/api/v1/statuses", params{"status": "a preview @other #rich", "preview": true, "media_ids": []string{rich.Upload(apptest.PNG(5, 5)).ID()}})
	reply := status(other, params{"status": "@rich a reply #rich", "in_reply_to_id": first, "media_ids": []string{upload.ID()}})
	status(rich, params{"status": "an answer", "in_reply_to_id": reply})
	quote := status(other, params{"status": "to be quoted so", "quote_id": first})
	status(rich, params{"status": "to be quoted again", "quote_id": quote, "quote_approval_policy": "followers"})
	orphan := status(other, params{"status": "gone"})
	status(rich, params{"status": "a reply to a deleted status", "in_reply_to_id": orphan})
	do(other, "Status", "DELETE", "/api/v1/statuses/"+orphan, nil)

	boost := do(other, "Status", "POST", "/api/v1/statuses/"+first+"/reblog", nil).ID()
	statuses = append(statuses, boost, do(rich, "Status", "POST", "/api/v1/statuses/"+reply+"/reblog", nil).ID())
	for _, m := range []*apptest.User{rich, other} {
		for _, action := range []string{"favourite", "bookmark", "unbookmark", "bookmark", "mute", "unmute"} {
			do(m, "Status", "POST", "/api/v1/statuses/"+first+"/"+action, nil)
			do(m, "Status", "POST", "/api/v1/statuses/"+boost+"/"+action, nil)
		}
	}
	for _, id := range []string{first, boost, reply} {
		do(rich, "Status", "PUT", "/api/v1/svc/statuses/"+id+"/reactions/%F0%9F%94%A5", nil)
		do(other, "Status", "PUT", "/api/v1/svc/statuses/"+id+"/reactions/:cat:", nil)
	}
	do(other, "Status", "DELETE", "/api/v1/svc/statuses/"+reply+"/reactions/cat", nil)
	folder := do(rich, "BookmarkFolder", "POST", "/api/v1/svc/bookmark_folders", params{"name": "kept", "emoji": "cat"}).ID()
	do(rich, "BookmarkFolder", "POST", "/api/v1/svc/bookmark_folders", params{"name": "read"})
	do(rich, "Status", "POST", "/api/v1/statuses/"+first+"/bookmark", params{"folder_id": folder})
	do(rich, "Status", "POST", "/api/v1/statuses/"+first+"/pin", nil)
	do(rich, "Status", "PUT", "/api/v1/statuses/"+first, params{"status": "edited @other #rich"})
	do(rich, "Status", "POST", "/api/v1/statuses/"+reply+"/mute", params{"expires_in": 1000})

	talk := listConversations(rich)[0].ID()
	do(rich, "Conversation", "POST", "/api/v1/conversations/"+talk+"/read", nil)
	do(rich, "Conversation", "PATCH", "/api/v1/svc/conversations/"+talk, params{"recipients": []string{other.ID}})
	status(rich, params{"status": "into a conversation", "in_reply_to_conversation_id": talk})
	WantEntity(t, other.Nickname, other.Post("/api/v1/svc/conversations/read"), "[]Conversation")
	status(rich, params{"status": "talking to @other", "visibility": "direct"})

	muted, blocked, asking := a.SignUp("muted"), a.SignUp("blocked"), a.SignUp("asking")
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+muted.ID+"/mute", params{"expires_in": 1000})
	do(rich, "Relationship", "POST", "/api/v1/accounts/"+blocked.ID+"/block", nil)
	do(rich, "CredentialAccount", "PATCH", "/api/v1/accounts/update_credentials", params{"locked": true})
	do(asking, "Relationship", "POST", "/api/v1/accounts/"+rich.ID+"/follow", nil)
	status(muted, params{"status": "@rich a mention by a muted account"})
	do(rich, "empty", "POST", "/api/v1/domain_blocks", params{"domain": "example.com"})
	do(rich, "Markers", "POST", "/api/v1/markers", params{
		"home": params{"last_read_id": first}, "notifications": params{"last_read_id": rich.Get("/api/v1/notifications").IDs()[0]},
	})
	return statuses, attachment, list
}
