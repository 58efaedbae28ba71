package pages_test

import (
	"os"
	"regexp"
	"testing"

	"svc/app/apptest"
)

// TestScriptNames checks that what the scripts of pages take from answers and messages is in them.
func TestScriptNames(t *testing.T) {
	srv, push := apptest.Start(t, apptest.AllowLoopback), apptest.StartPushService(t)
	srv.AddEmoji("pets", map[string]string{"cat": "cat.png"})
	alice, bob := srv.SignUp("alice"), srv.SignUp("bob")
	device := alice.SubscribePush(push)
	bob.Publish("@alice hello")
	srv.RunJobs()
	messages := device.Messages()
	if len(messages) != 1 {
		t.Fatalf("%d push messages", len(messages))
	}
	bob.Publish("a cup of #tea")
	tag := alice.Get("/api/v2/search", "q", "tea", "type", "hashtags").Want(200).Object().At("hashtags").([]any)[0].(map[string]any)
	for _, tt := range []struct {
		script, part, name string // part of the script with the names
		answer             *apptest.Object
	}{
		{"script/complete.js", `accounts\.map\(.*`, `\ba\.(\w+)`, alice.Get("/api/v1/accounts/search", "q", "bob").Want(200).List()[0]},
		{"script/complete.js", `hashtags\.map\(.*`, `\bh\.(\w+)`, &apptest.Object{T: t, Fields: tag}},
		{"script/complete.js", `emojis\.filter\(.*\n.*`, `\be\.(\w+)`, alice.Get("/api/v1/custom_emojis").Want(200).List()[0]},
		{"script/emoji.js", `emojis\.map\(.*`, `\be\.(\w+)`, alice.Get("/api/v1/custom_emojis").Want(200).List()[0]},
		{"script/attach.js", `(?s)function show\(.*?\n  }`, `media\.(\w+)`, alice.Upload(apptest.PNG(20, 20))},
		{"script/live.js", `(?s)function onUpdate.*?\n}`, `post\.(\w+)`, alice.Publish("hello")},
		{"sw.js", `showNotification\(.*`, `message\.(\w+)`, messages[0]},
	} {
		source, err := os.ReadFile("../web/" + tt.script)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(tt.name).FindAllSubmatch(regexp.MustCompile(tt.part).Find(source), -1)
		if len(names) == 0 {
			t.Errorf("%s has no names in %s", tt.script, tt.part)
		}
		for _, name := range names {
			if !tt.answer.Has(string(name[1])) {
				t.Errorf("%s takes %q, which is not in %v", tt.script, name[1], tt.answer.Fields)
			}
		}
	}
}
