package web

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"svc/store"
)

const evil = `"><script>alert(1)</script>'&`

// plainPages are the pages without navigation, with hostile texts.
func plainPages() map[string]Content {
	app := App{Name: "App " + evil, Website: "https://example.org/?a=" + evil}
	hidden := []Field{{"state", evil}, {"client_id", "x"}}
	account := &Account{DisplayName: evil, Acct: "bob@example.org", URL: "https://example.org/@bob", AvatarStatic: "/images/avi.png", Note: evil + "<p>hello</p>"}
	return map[string]Content{
		"sign in":         SignIn{App: &app, Action: "/x", HiddenFields: hidden, Nested: true},
		"sign in again":   SignIn{App: &app, Action: "/x", HiddenFields: hidden, Nickname: evil, Error: evil, SignUpURL: "/auth/sign_up?continue=" + evil},
		"challenge":       Challenge{App: app, Token: evil},
		"challenge again": Challenge{App: app, Token: "t", Error: evil},
		"consent":         Consent{App: app, Acct: "alice", Scopes: []string{evil, "b"}, Target: "example.org" + evil, HiddenFields: hidden},
		"consent oob":     Consent{App: App{Name: "App", Website: "javascript:alert(1)"}, Acct: "alice", Scopes: []string{"a"}},
		"code":            Code{App: app, Code: "abcdefghijklmnopqrstuvwxyz"},
		"notice":          Notice{Title: evil, Paragraphs: []string{evil, "b"}},
		"set-up":          SignUp{FirstAdmin: true, Action: "/setup/x"},
		"set-up again": SignUp{FirstAdmin: true, Action: "/setup/x", Nickname: evil, Email: evil, Errors: []FormError{
			{"nickname", evil}, {"email", "x"}, {"password", "x"}, {"password_confirmation", "x"}}},
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
		"registered, the first admin":   Registered{Nickname: evil, FirstAdmin: true},
		"interact": Interact{
			Title: evil, Acct: "alice", Result: evil, HiddenFields: hidden, Account: account, Handle: "@bob@example.org", Actions: []Action{{"follow", "account.follow"}},
		},
		"interact with a post": Interact{Title: "A post", Acct: "alice", Error: evil, HiddenFields: hidden, Post: "<p>hello</p>", Actions: []Action{{"reply", "post.reply"}}, Reply: true},
		"front ends":           FrontendChoice{Chosen: true, Choices: []Choice{{evil, evil, true}}},
		"front ends, standard": FrontendChoice{Standard: evil},
		"remote":               Remote{Subject: "Follow " + evil, HiddenFields: hidden, Handle: evil, Error: evil},
		"forgot":               ForgotPassword{Action: "/x"},
		"forgot again":         ForgotPassword{Action: "/x", Error: evil},
		"password":             NewPassword{Action: "/x", Token: evil, Nickname: "alice"},
		"password again":       NewPassword{Action: "/x", Token: "t", Nickname: "alice", Error: evil},
	}
}

// renderPlain renders a page without navigation in a language.
func renderPlain(t *testing.T, m *Messages, page Content) string {
	t.Helper()
	html, err := new(Pages).render("frame.html", Site{Name: "Example " + evil, Host: "example.org", SendsMail: true, MinPassword: 8}, Frame{Messages: m, Plain: true}, page)
	if err != nil {
		t.Fatal(err)
	}
	return string(html)
}

// textOf returns the text of a page that its user sees, hidden or not.
func textOf(t *testing.T, source string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data + "\n")
		}
	}
	return b.String()
}

// TestPlainPagesInGerman checks that the pages have no text of another language: their German shares no line with their English, apart
// from names.
func TestPlainPagesInGerman(t *testing.T) {
	english, german := MessagesFor("en", ""), MessagesFor("de", "")
	names := regexp.MustCompile(`alert|App|Example|example\.org|alice|hello|^">'&$|^A post$|^[a-z]{26}$`)
	for name, page := range plainPages() {
		lines := make(map[string]bool)
		for line := range strings.SplitSeq(textOf(t, renderPlain(t, english, page)), "\n") {
			lines[strings.TrimSpace(line)] = true
		}
		for line := range strings.SplitSeq(textOf(t, renderPlain(t, german, page)), "\n") {
			if line = strings.TrimSpace(line); len(line) > 2 && lines[line] && !names.MatchString(line) {
				t.Errorf("%s: %q is not in German", name, line)
			}
		}
	}
}

// TestPages checks that each page is safe and accessible.
func TestPages(t *testing.T) {
	for name, page := range plainPages() {
		t.Run(name, func(t *testing.T) {
			doc, err := html.Parse(strings.NewReader(renderPlain(t, MessagesFor("", ""), page)))
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
				case "style", "script", "nav":
					t.Errorf("there is a %s", n.Data)
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
	text := renderPlain(t, MessagesFor("", ""), Consent{App: App{Name: "App"}})
	first, _, _ := strings.Cut(text[strings.Index(text, "<button"):], "</button>")
	if !strings.Contains(first, `name="decision" value="approve"`) {
		t.Errorf("the first button is %s", first)
	}
}

// TestAppNamesAreIsolated checks that an app name with a right-to-left override does not change the direction of the text around it.
func TestAppNamesAreIsolated(t *testing.T) {
	const name = "App\u202e"
	for what, page := range map[string]Content{
		"sign in": SignIn{App: &App{Name: name}}, "with a website": SignIn{App: &App{Name: name, Website: "https://example.org"}},
		"consent": Consent{App: App{Name: name}}, "code": Code{App: App{Name: name}},
	} {
		if _, content, _ := strings.Cut(renderPlain(t, MessagesFor("", ""), page), "</h1>"); !strings.Contains(content, "<bdi>"+name+"</bdi>") {
			t.Errorf("%s: the name is not isolated in %s", what, content)
		}
	}
}

// TestScopes checks the descriptions of scopes in all languages.
func TestScopes(t *testing.T) {
	m := MessagesFor("", "")
	for _, scope := range store.KnownScopes {
		for _, m := range Languages() {
			if texts := m.Scopes(store.Scopes{scope}); len(texts) != 1 || texts[0] == "" {
				t.Errorf("%s is described as %q", scope, texts)
			}
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
		if texts := m.Scopes(store.ParseScopes(scopes)); len(texts) != want {
			t.Errorf("%q is described as %q, want %d", scopes, texts, want)
		}
	}
}
