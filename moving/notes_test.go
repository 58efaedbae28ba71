package moving_test

import (
	"slices"
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
	"svc/moving"
)

// theNotes is a notes.json as Misskey writes it.
const theNotes = `[{"id":"9a","text":"hello #Misskey","createdAt":"2023-01-01T10:00:00.000Z","fileIds":[],"files":[],"replyId":null,"renoteId":null,"cw":null,"visibility":"public","visibleUserIds":[],"localOnly":false},
{"id":"9b","text":"a reply","createdAt":"2023-01-02T10:00:00.000Z","fileIds":["f1"],"files":[{"id":"f1","name":"a.png","type":"image/png","md5":"x","isSensitive":true,"comment":"a square","url":"https://old.example/files/a.png"}],"replyId":"9a","renoteId":null,"cw":"beware","visibility":"home","localOnly":false},
{"id":"9c","text":null,"createdAt":"2023-01-03T10:00:00.000Z","files":[],"replyId":null,"renoteId":"zz","cw":null,"visibility":"public","localOnly":false},
{"id":"9d","text":"which?","createdAt":"2023-01-04T10:00:00.000Z","files":[],"replyId":null,"renoteId":null,"poll":{"multiple":true,"expiresAt":"2023-01-05T10:00:00.000Z","choices":[{"text":"a","votes":2},{"text":"b","votes":1}]},"cw":null,"visibility":"followers","localOnly":false},
{"id":"9e","text":"quoted","createdAt":"2023-01-06T10:00:00.000Z","files":[],"replyId":null,"renoteId":"zz","cw":null,"visibility":"public","localOnly":false}]`

// TestNotes imports the notes of Misskey: alone, and in a folder with the files.
func TestNotes(t *testing.T) {
	srv, alice, _ := start(t)
	account, err := srv.DB.Account(t.Context(), alice.AccountID())
	if err != nil {
		t.Fatal(err)
	}
	alone := write(t, "notes.json", []byte(theNotes))
	if _, err := srv.Importer.Start(t.Context(), account, moving.NewImport{File: alone}); err == nil || !strings.Contains(err.Error(), "does not say of which account") {
		t.Errorf("without an alias: %v", err)
	}
	folder := files{"notes-2023-05-01.json": theNotes, "files/a.png": string(apptest.PNG(8, 8))}.folder(t)
	row := importArchive(t, srv, "alice", folder, keepPublic, func(i *admin.ArchiveImport) { i.Origin = "@alice@old.example" })
	if row.Imported != 4 || row.Files != 1 || row.Origin != "alice@old.example" {
		t.Errorf("archive: %+v", row)
	}
	got := posts(alice.Client, alice)
	want := []string{"public 2023-01-06 <p>quoted</p>", "direct 2023-01-04 <p>which?", "unlisted 2023-01-02 <p>a reply", "public 2023-01-01 <p>hello "}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("alice sees\n%s", strings.Join(got, "\n"))
	}
	reply := alice.Get("/api/v1/accounts/" + alice.ID + "/statuses").Want(200).List()[2]
	apptest.WantFields(t, "reply", reply, apptest.Doc{"spoiler_text": "beware", "sensitive": true, "svc.imported_from.url": "https://old.example/notes/9b"})
	if again := importArchive(t, srv, "alice", alone, func(i *admin.ArchiveImport) { i.Origin = "alice@old.example" }); again.Imported != 0 {
		t.Errorf("again: %+v", again)
	}
}
