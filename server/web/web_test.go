package web

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"svc/store"
)

const evil = `"><script>alert(1)</script>'&`

func pages() map[string]Page {
	app := App{Name: "App " + evil, Website: "https://example.org/?a=" + evil}
	hidden := []Field{{"state", evil}, {"client_id", "x"}}
	post := Post{
		Name: evil, Handle: "@alice@example.org", ProfileURL: "https://example.org/@alice", AvatarURL: "/images/avi.png", URL: "https://example.org/@alice/1",
		CreatedAt: "2026-01-02T03:04:05.000Z", Date: "2 January 2026", SpoilerText: evil, Content: "<p>hello</p>", Sensitive: true,
		Media: []Attachment{{"image", "/media/a.png", "/media/b.png", evil}, {"video", "/media/a.mp4", "", "x"}, {"audio", "/media/a.mp3", "", ""}, {"unknown", "/media/a.bin", "", ""}},
	}
	return map[string]Page{
		"login":           Login{App: app, HiddenFields: hidden},
		"login again":     Login{App: app, HiddenFields: hidden, Name: evil, Error: evil, SignUpURL: "/auth/sign_up?continue=" + evil},
		"challenge":       Challenge{App: app, Token: evil},
		"challenge again": Challenge{App: app, Token: "t", Error: evil},
		"consent":         Consent{App: app, Acct: "alice", Scopes: []string{evil, "b"}, Target: "example.org", HiddenFields: hidden},
		"consent oob":     Consent{App: App{Name: "App"}, Acct: "alice", Scopes: []string{"a"}},
		"code":            Code{App: app, Code: "abcdefghijklmnopqrstuvwxyz"},
		"message":         Message{Title: evil, Paragraphs: []string{evil, "b"}},
		"setup":           Setup{Action: "/setup/x"},
		"setup again": Setup{Action: "/setup/x", Nickname: evil, Email: evil, Errors: map[string][]string{
			"nickname": {evil}, "email": {"x"}, "password": {"x"}, "password_confirmation": {"x"}}},
		"sign up": SignUp{Action: "/auth/sign_up", HiddenFields: hidden, EmailRequired: true, AskReason: true, AskBirthday: true, MinAge: 16,
			Captcha: &Captcha{URL: "data:image/png;base64,AAAA", Text: "Type " + evil}},
		"sign up again": SignUp{
			Action: "/auth/sign_up", Nickname: evil, Email: evil, Reason: evil, Birthday: evil, Agreement: true, AskReason: true, AskBirthday: true,
			Captcha: &Captcha{URL: "https://captcha.example.org/a.png"}, Errors: []FormError{
				{"nickname", evil}, {"nickname", "x"}, {"email", evil}, {"password", evil}, {"password_confirmation", evil},
				{"registration_reason", evil}, {"birthday", evil}, {"captcha", evil}, {"agreement", evil},
			},
		},
		"sign up with a solved captcha": SignUp{Action: "/auth/sign_up", CaptchaSolved: true},
		"registered":                    Registered{Nickname: evil},
		"registered, unconfirmed":       Registered{Nickname: evil, Email: evil, Unconfirmed: true, Unapproved: true},
		"registered, unapproved":        Registered{Nickname: evil, Email: evil, Unapproved: true},
		"welcome":                       Welcome{Nickname: evil},
		"password":                      Password{Action: "/x", Token: evil, Nickname: "alice"},
		"interact": Interact{
			Title: evil, Acct: "alice", Result: evil, HiddenFields: hidden,
			Account: &AccountSummary{Name: evil, Handle: "@bob@example.org", ProfileURL: "https://example.org/@bob", AvatarURL: "/images/avi.png", Note: evil},
			Actions: []Action{{"follow", "Follow"}},
		},
		"interact with a post": Interact{Title: "A post", Acct: "alice", Error: evil, HiddenFields: hidden, Post: &post, Actions: []Action{{"favourite", "Favourite"}}, Reply: true},
		"front ends":           FrontendChoice{[]Choice{{"", "The pages of this server", false}, {evil, evil, true}}},
		"remote":               Remote{Subject: "Follow " + evil, HiddenFields: hidden, Handle: evil, Error: evil},
		"forgot":               ForgotPassword{Action: "/x"},
		"forgot again":         ForgotPassword{Action: "/x", Error: evil},
		"password again":       Password{Action: "/x", Token: "t", Nickname: "alice", Error: evil},
	}
}

// TestPages checks that each page is safe and accessible.
func TestPages(t *testing.T) {
	for name, page := range pages() {
		t.Run(name, func(t *testing.T) {
			text, err := Render(Site{Name: "Example " + evil, Host: "example.org", SendsMail: true}, page)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := html.Parse(strings.NewReader(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			count := make(map[string]int)
			ids := make(map[string]bool)
			labels := make(map[string]bool)
			var described []string
			var inputs []*html.Node
			for n := range doc.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				count[n.Data]++
				if id := attribute(n, "id"); id != "" {
					if ids[id] {
						t.Errorf("two elements have the id %s", id)
					}
					ids[id] = true
				}
				described = append(described, strings.Fields(attribute(n, "aria-describedby"))...)
				if target, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok {
					described = append(described, target)
				}
				switch n.Data {
				case "label":
					labels[attribute(n, "for")] = true
				case "input", "textarea":
					inputs = append(inputs, n)
				case "html":
					if attribute(n, "lang") == "" {
						t.Error("no language")
					}
				case "style":
					sum := sha256.Sum256([]byte(n.FirstChild.Data))
					if !strings.Contains(Policy(), base64.StdEncoding.EncodeToString(sum[:])) {
						t.Error("the policy does not allow the style")
					}
				case "script":
					t.Error("there is a script")
				}
				for _, a := range n.Attr {
					if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
						t.Errorf("attribute %s", a.Key)
					}
				}
			}
			if count["h1"] != 1 || count["main"] != 1 || count["title"] != 1 || count["meta"] < 2 {
				t.Errorf("elements: %v", count)
			}
			for _, d := range described {
				if !ids[d] {
					t.Errorf("no element has the id %s", d)
				}
			}
			for _, n := range inputs {
				if attribute(n, "type") != "hidden" && !labels[attribute(n, "id")] {
					t.Errorf("no label for %v", n.Attr)
				}
			}
		})
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// TestAllowComesFirst checks that approve is the first button, because browsers submit it when the user presses Enter.
func TestAllowComesFirst(t *testing.T) {
	text, err := Render(Site{Name: "Example"}, Consent{App: App{Name: "App"}})
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text)[strings.Index(string(text), "<button"):], "</button>")
	if !strings.Contains(first, `name="decision" value="approve"`) {
		t.Errorf("the first button is %s", first)
	}
}

// TestAppNamesAreIsolated checks that an app name with a right-to-left override does not change the direction of the text around it.
func TestAppNamesAreIsolated(t *testing.T) {
	const name = "App\u202e"
	for what, page := range map[string]Page{
		"login": Login{App: App{Name: name}}, "with a website": Login{App: App{Name: name, Website: "https://example.org"}},
		"consent": Consent{App: App{Name: name}}, "code": Code{App: App{Name: name}},
	} {
		text, err := Render(Site{Name: "Example"}, page)
		if err != nil {
			t.Fatal(err)
		}
		if _, content, _ := strings.Cut(string(text), "</h1>"); !strings.Contains(content, "<bdi>"+name+"</bdi>") {
			t.Errorf("%s: the name is not isolated in %s", what, content)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, scope := range store.KnownScopes {
		if texts := DescribeScopes(store.Scopes{scope}); len(texts) != 1 || texts[0] == "" {
			t.Errorf("%s is described as %q", scope, texts)
		}
	}
	for scopes, want := range map[string]int{
		"":                                   0,
		"unknown":                            0,
		"read write follow push":             4,
		"read read:accounts read:statuses":   1,
		"read:accounts read:statuses":        2,
		"write:follow write:follows":         1,
		"follow read:follows write:statuses": 2,
		"admin admin:read admin:write:apps":  1,
		"admin:read:accounts admin:write":    2,
	} {
		if texts := DescribeScopes(store.ParseScopes(scopes)); len(texts) != want {
			t.Errorf("%q is described as %q, want %d", scopes, texts, want)
		}
	}
}
