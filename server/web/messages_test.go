package web

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"svc/internal/errs"
	"svc/internal/packed/packedtest"
)

var update = flag.Bool("update", false, "pack the catalogues again")

// TestPackedCatalogues checks that the catalogues in the binary are those of the repository.
func TestPackedCatalogues(t *testing.T) {
	for _, pattern := range []string{"messages/*.toml", "messages/settings/*.toml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", pattern, files, err)
		}
		for _, path := range files {
			if text, err := os.ReadFile(path); err != nil {
				t.Fatal(err)
			} else if *update {
				packedtest.Write(t, path, text)
			}
			packedtest.Compare(t, path)
		}
	}
}

// TestCatalogues checks that all languages have the same texts, with the same arguments.
func TestCatalogues(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-z]`)
	standard := Languages()[0]
	if standard.Language != StandardLanguage {
		t.Fatalf("the first language is %s", standard.Language)
	}
	for _, m := range Languages()[1:] {
		for key, text := range standard.texts {
			if !slices.Equal(verbs.FindAllString(m.texts[key], -1), verbs.FindAllString(text, -1)) {
				t.Errorf("%s: %s is %q, in English %q", m.Language, key, m.texts[key], text)
			}
			if m.texts[key] == "" {
				t.Errorf("%s: %s is missing", m.Language, key)
			}
		}
		for key := range m.texts {
			if _, ok := standard.texts[key]; !ok {
				t.Errorf("%s: %s is not in the English catalogue", m.Language, key)
			}
		}
	}
}

// TestUsedTexts checks that the texts that templates and handlers name are in the catalogue.
func TestUsedTexts(t *testing.T) {
	calls := []*regexp.Regexp{
		regexp.MustCompile(`\{\{t "([a-z0-9_.]+)"`),
		regexp.MustCompile(`\(t "([a-z0-9_.]+)"`),
		regexp.MustCompile(`\{\{th "([a-z0-9_.]+)"`),
		regexp.MustCompile(`[Tt]ext\((?:r, )?"([a-z0-9_]+\.[a-z0-9_.]*[a-z0-9_])"[,)]`),
		regexp.MustCompile(`"((?:sign_up|confirmed|interact)\.[a-z_]+[a-z])"`),
		regexp.MustCompile(`(?:Title|Intro|Hint|Label|Submit):\s*"([a-z0-9_]+\.[a-z0-9_.]*[a-z0-9_])"`),
	}
	notices, quoted := regexp.MustCompile(`\.Notice\(r, [A-Za-z.]+, (".*)\)`), regexp.MustCompile(`"([a-z0-9_.]+[a-z])"`)
	counted := regexp.MustCompile(`tn "([a-z0-9_.]+)"`)
	texts := Languages()[0].texts
	n := 0
	check := func(file, key string) {
		n++
		if _, ok := texts[key]; !ok {
			t.Errorf("%s uses %s", file, key)
		}
	}
	for _, root := range []string{"templates", "../pages", "../oauth", "../interact.go", "../remote.go"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, list := range notices.FindAllStringSubmatch(string(source), -1) {
				for _, m := range quoted.FindAllStringSubmatch(list[1], -1) {
					check(file, m[1])
				}
			}
			for _, call := range calls {
				for _, m := range call.FindAllStringSubmatch(string(source), -1) {
					check(file, m[1])
				}
			}
			for _, m := range counted.FindAllStringSubmatch(string(source), -1) {
				check(file, m[1]+".one")
				check(file, m[1]+".other")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 100 {
		t.Errorf("only %d texts are used", n)
	}
}

// TestLanguages checks which language a visitor gets.
func TestLanguages(t *testing.T) {
	for _, tt := range []struct{ choice, accept, want string }{
		{"", "", "en"},
		{"", "de-AT,de;q=0.9,en;q=0.5", "de"},
		{"", "fr-FR,fr", "en"},
		{"", "fr;q=0.9,de;q=0.5", "de"},
		{"", "*;;;broken", "en"},
		{"de", "en", "de"},
		{"xx", "de", "de"},
	} {
		if got := MessagesFor(tt.choice, tt.accept).Language; got != tt.want {
			t.Errorf("choice %q, Accept-Language %q: %s, want %s", tt.choice, tt.accept, got, tt.want)
		}
	}
}

// TestFaults checks that errors of the API are shown in the language of the page, with their arguments.
func TestFaults(t *testing.T) {
	german := MessagesFor("de", "")
	for _, tt := range []struct{ text, want string }{
		{"Invalid Username/Password", "Name oder Passwort stimmt nicht."},
		{"The password should be at least 12 characters", "Das Passwort muss mindestens 12 Zeichen lang sein"},
		{"The password should be at least many characters", "The password should be at least many characters"},
		{"Files of this type are not accepted", "Dateien dieser Art werden nicht angenommen."},
		{"an error without a translation %d", "an error without a translation %d"},
		{"", ""},
	} {
		if got := german.Fault(tt.text); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, got, tt.want)
		}
		if got := MessagesFor("en", "").Fault(tt.text); got != tt.text {
			t.Errorf("%q is %q in English", tt.text, got)
		}
	}
}

// TestEnglishFaults checks that an error without a translation says that it is in English, and that texts of the catalogue do not.
func TestEnglishFaults(t *testing.T) {
	german := MessagesFor("de", "")
	for text, want := range map[string]string{
		"no such <thing>":                 `<span lang="en">no such &lt;thing&gt;</span>`,
		"Name: no such thing":             `<span lang="en">Name: no such thing</span>`,
		"Invalid Username/Password":       "Name oder Passwort stimmt nicht.",
		german.Text("tags.missing"):       "Gib einen Hashtag ein.",
		german.Text("post.filtered", "x"): german.Text("post.filtered", "x"),
	} {
		if got := string(german.FaultHTML(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for status, want := range map[int]string{400: "en", 403: "en", 422: "en", 429: "", 500: ""} {
		if got := german.ErrorNotice(&errs.Error{Status: status, Message: "no such thing"}).Language; got != want {
			t.Errorf("%d: the language is %q, want %q", status, got, want)
		}
	}
}

// composedFault matches the keys of errors that are put together of a subject and a message, which the tests of those pages produce.
var composedFault = regexp.MustCompile(`^fault\.(nickname|address|password|reason|birthday|reset)_(blank|format|taken|reserved|long|short|name|young|blocked|different)$|^fault\.agreement$`)

// TestFaultsAreSent checks that the English texts of errors are still those of the handlers.
func TestFaultsAreSent(t *testing.T) {
	var source strings.Builder
	for _, root := range []string{"..", "../../media", "../../admin", "../../social", "../../store", "../../internal"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	all := source.String()
	for key, text := range Languages()[0].texts {
		if strings.HasPrefix(key, faultPrefix) && !composedFault.MatchString(key) && !strings.Contains(all, `"`+text+`"`) {
			t.Errorf("no handler sends %s: %q", key, text)
		}
	}
}
