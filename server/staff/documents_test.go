package staff_test

import (
	"strings"
	"testing"

	"svc/admin"
	"svc/app/apptest"
)

const documentsPath = "/api/v1/svc/admin/instance_document/"

// TestInstanceDocuments writes, reads and deletes each document, and reads it as visitors and apps do.
func TestInstanceDocuments(t *testing.T) {
	srv := apptest.Start(t)
	root, anyone := srv.SignUpAdmin(), srv.As(nil)
	for _, tt := range []struct {
		name, path, page, api, member string
		standard                      string // part of the default; "": there is none
	}{
		{"instance-panel", "/instance/panel.html", "", "", "", "<"},
		{"terms-of-service", "/static/terms-of-service.html", "/terms", "terms_of_service", "terms_of_service", "has not published any terms"},
		{"privacy-policy", "/static/privacy-policy.html", "/privacy", "privacy_policy", "privacy_policy", ""},
	} {
		address := documentsPath + tt.name
		wantStandard := func() {
			t.Helper()
			status := map[bool]int{true: 404, false: 200}[tt.standard == ""]
			a := root.Get(address).Want(status)
			if !strings.Contains(string(a.Body), tt.standard) {
				t.Errorf("%s: the default is %s", tt.name, a.Body)
			}
			anyone.Get(tt.path).Want(status)
			if tt.api != "" {
				anyone.Get("/api/v1/instance/" + tt.api).Want(404)
				wantFields(t, tt.name, anyone.Get("/api/v2/instance").Want(200).Object(), apptest.Doc{"configuration.urls." + tt.member: nil})
			}
			root.Do("DELETE", address, "", nil).WantError(404, "Not found")
		}
		wantStandard()
		for _, text := range []string{"<h1 style=\"color: red\">Über uns</h1>", "<p>second version</p>"} {
			o := root.SendForm("PATCH", address, apptest.FilePart([]byte(text))).Want(200).Object()
			wantFields(t, tt.name, o, apptest.Doc{"url": srv.URL + tt.path})
			wantLog(t, root.Client, "@root updated instance document "+tt.name)
			for _, c := range []struct {
				client *apptest.Client
				path   string
			}{{root.Client, address}, {anyone, tt.path}} {
				a := c.client.Get(c.path).Want(200)
				policy := a.Header.Get("Content-Security-Policy")
				if string(a.Body) != text || a.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "sandbox") {
					t.Errorf("%s: %s of type %q with the policy %q", c.path, a.Body, a.Header.Get("Content-Type"), policy)
				}
			}
			if tt.page != "" { // inside of the frame, without styles and with one heading of the first level
				page := string(anyone.Get(tt.page).Want(200).Body)
				clean := strings.NewReplacer(` style="color: red"`, "", "h1>", "h2>", "<h1", "<h2").Replace(text)
				if !strings.Contains(page, clean) || strings.Count(page, "<h1") != 1 {
					t.Errorf("%s: %q is not in %s", tt.page, clean, page)
				}
			}
			if tt.api != "" {
				wantFields(t, tt.api, anyone.Get("/api/v1/instance/"+tt.api).Want(200).Object(), apptest.Doc{"content": text})
				wantFields(t, tt.name, anyone.Get("/api/v2/instance").Want(200).Object(), apptest.Doc{"configuration.urls." + tt.member: srv.URL + tt.page})
			}
		}
		wantFields(t, "deleted", root.Do("DELETE", address, "", nil).Want(200).Object(), apptest.Doc{"url": srv.URL + tt.path})
		wantLog(t, root.Client, "@root deleted instance document "+tt.name)
		wantStandard()
	}
	anyone.Get("/terms").Want(200) // the default
	anyone.Get("/privacy").Want(404)
}

// TestInvalidDocuments checks that documents that could run code, and those that do not exist, are refused.
func TestInvalidDocuments(t *testing.T) {
	srv := apptest.Start(t)
	root := srv.SignUpAdmin()
	const address = documentsPath + "instance-panel"
	good := "<p>good <a href=\"https://example.org/a:b\">link</a><img src=\"data:image/png;base64,AA==\"></p>"
	root.SendForm("PATCH", address, apptest.FilePart([]byte(good))).Want(200)
	for text, want := range map[string]string{
		" ":                                     "The document is empty. Delete it to show the default.",
		"\xff\xfe":                              "The document is not HTML text in UTF-8",
		"a\x00b":                                "The document is not HTML text in UTF-8",
		"<p><SCRIPT>alert(1)</SCRIPT>":          "The document has the element <script>, which is not allowed",
		"<iframe src=https://a.example>":        "The document has the element <iframe>, which is not allowed",
		"<base href=https://a.example>":         "The document has the element <base>, which is not allowed",
		"<img src=x onerror=alert(1)>":          `The document has the attribute onerror="alert(1)" of <img>, which is not allowed`,
		"<a href='java\nscript:alert(1)'>":      `The document has the attribute href="java\nscript:alert(1)" of <a>, which is not allowed`,
		"<a href='data:text/html,x'>":           `The document has the attribute href="data:text/html,x" of <a>, which is not allowed`,
		"<meta http-equiv=refresh content=0>":   `The document has the attribute http-equiv="refresh" of <meta>, which is not allowed`,
		"<form action=\" JavaScript:alert()\">": `The document has the attribute action=" JavaScript:alert()" of <form>, which is not allowed`,
	} {
		root.SendForm("PATCH", address, apptest.FilePart([]byte(text))).WantError(400, want)
	}
	root.SendForm("PATCH", address, apptest.FilePart([]byte(strings.Repeat("x", admin.MaxDocument+1)))).WantError(413, "The document has more than 524288 bytes")
	root.SendForm("PATCH", address).WantError(400, "Missing field: file.")
	root.SendForm("PATCH", address, apptest.ValuePart("file", "text")).Want(400)
	if got := string(root.Get(address).Want(200).Body); got != good {
		t.Errorf("the document is %s", got)
	}
	for _, name := range []string{"panel", "..%2Fx", "terms-of-service.html"} {
		root.Get(documentsPath+name).WantError(404, "Not found")
		root.SendForm("PATCH", documentsPath+name, apptest.FilePart([]byte(good))).WantError(404, "Not found")
		root.Do("DELETE", documentsPath+name, "", nil).WantError(404, "Not found")
	}
	srv.As(nil).Get(address).WantError(403, "Invalid credentials.")
	srv.SignUp("alice").Get(address).WantError(403, "User is not a staff member.")
	moderator := srv.SignUp("moderator")
	srv.SetRole(moderator, false, true)
	moderator.Get(address).WantError(403, "User is not an admin.")
	srv.NewToken(root, "admin:read").Do("DELETE", address, "", nil).Want(403)
}
