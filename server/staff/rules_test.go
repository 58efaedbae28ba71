package staff_test

import (
	"fmt"
	"strings"
	"testing"

	"svc/app/apptest"
)

const rulesPath = "/api/v1/svc/admin/rules"

// shownRules returns the texts of the rules as visitors get them, from all three documents.
func shownRules(t *testing.T, srv *apptest.Server) list {
	t.Helper()
	texts := list{}
	for _, r := range srv.As(nil).Get("/api/v1/instance/rules").Want(200).List() {
		texts = append(texts, r.ID()+" "+r.Str("text")+" "+r.Str("hint"))
	}
	for _, path := range []string{"/api/v1/instance", "/api/v2/instance"} {
		got := list{}
		for _, r := range srv.As(nil).Get(path).Want(200).Object().At("rules").([]any) {
			rule := r.(map[string]any)
			got = append(got, fmt.Sprint(rule["id"], " ", rule["text"], " ", rule["hint"]))
		}
		apptest.WantList(t, "the rules of "+path, got, texts...)
	}
	return texts
}

// TestRules adds, orders, changes and deletes rules, and reads them as visitors do.
func TestRules(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	apptest.WantList(t, "no rules", shownRules(t, srv))
	wantFields(t, "the first rule", root.Post(rulesPath, "text", " Be kind ").Want(200).Object(), apptest.Doc{
		"id": "1", "text": "Be kind", "hint": "", "priority": 0.0,
	})
	wantFields(t, "the second rule", root.SendJSON("POST", rulesPath, apptest.Doc{"text": "b", "hint": "why", "priority": -1}).Want(200).Object(),
		apptest.Doc{"id": "2", "text": "b", "hint": "why", "priority": -1.0})
	root.SendJSON("POST", rulesPath, apptest.Doc{"text": "c"}).Want(200)
	wantLog(t, root.Client, "@root created rule #3")
	apptest.WantList(t, "the rules", shownRules(t, srv), "2 b why", "1 Be kind ", "3 c ")
	apptest.WantList(t, "the rules for staff", root.Get(rulesPath).Want(200).IDs(), "2", "1", "3")

	for _, tt := range []struct {
		change, want apptest.Doc
	}{
		{apptest.Doc{"text": "B"}, apptest.Doc{"text": "B", "hint": "why", "priority": -1.0}},
		{apptest.Doc{"hint": ""}, apptest.Doc{"text": "B", "hint": ""}},
		{apptest.Doc{"priority": "7"}, apptest.Doc{"text": "B", "priority": 7.0}},
		{apptest.Doc{}, apptest.Doc{"text": "B", "priority": 7.0}},
	} {
		wantFields(t, fmt.Sprint(tt.change), root.SendJSON("PATCH", rulesPath+"/2", tt.change).Want(200).Object(), tt.want)
	}
	wantLog(t, root.Client, "@root updated rule #2")
	apptest.WantList(t, "the rules", shownRules(t, srv), "1 Be kind ", "3 c ", "2 B ")
	if got := root.Do("DELETE", rulesPath+"/1", "", nil).Want(200); string(got.Body) != "{}" {
		t.Errorf("the answer is %s", got.Body)
	}
	wantLog(t, root.Client, "@root deleted rule #1")
	apptest.WantList(t, "the rules", shownRules(t, srv), "3 c ", "2 B ")

	for _, tt := range []struct {
		body apptest.Doc
		want string
	}{
		{apptest.Doc{}, "Missing field: text."},
		{apptest.Doc{"text": " "}, "Missing field: text."},
		{apptest.Doc{"text": strings.Repeat("x", 1001)}, "text - is longer than 1000 characters"},
		{apptest.Doc{"text": "x", "hint": strings.Repeat("x", 5001)}, "hint - is longer than 5000 characters"},
		{apptest.Doc{"text": "x", "priority": "high"}, "priority - Invalid integer. Got: string."},
		{apptest.Doc{"text": "x", "priority": 1_000_001}, "priority - 1000001 is not between -1000000 and 1000000"},
	} {
		root.SendJSON("POST", rulesPath, tt.body).WantError(400, tt.want)
	}
	root.SendJSON("PATCH", rulesPath+"/2", apptest.Doc{"text": ""}).WantError(400, "Missing field: text.")
	for _, id := range []string{"1", "0", "x", "-1"} {
		root.SendJSON("PATCH", rulesPath+"/"+id, apptest.Doc{"text": "x"}).WantError(404, "Not found")
		root.Do("DELETE", rulesPath+"/"+id, "", nil).WantError(404, "Not found")
	}
	for i := range 98 {
		root.Post(rulesPath, "text", fmt.Sprint(i)).Want(200)
	}
	root.Post(rulesPath, "text", "x").WantError(400, "There are 100 rules already: delete some")

	moderator := srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	moderator.Get(rulesPath).WantError(403, "User is not an admin.")
	srv.NewToken(root, "admin:read").Post(rulesPath, "text", "x").Want(403)
}
