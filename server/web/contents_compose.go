package web

import (
	"html/template"
	"strings"
)

// Compose is the form for a post.
type Compose struct {
	Title        string // key of the messages
	Action       string
	Error        string
	Context      template.HTML // the post that it answers or quotes
	Preview      template.HTML
	Once         string // keeps a form that is sent twice from posting twice
	Back         string
	HiddenFields []Field
	Whole        bool   // it has all fields
	Prefix       string // of the ids of its elements, so that a page can have several forms; "": it is the form of its page
	Edit         string // id of the status that is edited; "": a new one

	Text          string
	SpoilerText   string
	Visibility    string
	Visibilities  []Choice
	MaxCharacters int
	Sensitive     bool
	Language      string
	ContentType   string
	Formats       []string // content types
	QuotePolicy   string

	Media     []Media
	MoreMedia bool // there may be more

	Options       []string // texts of the fields for the options of a poll
	HasPoll       bool
	MaxOption     int // characters
	MaxOptions    int
	Multiple      bool
	HideTotals    bool
	PollDuration  string
	PollDurations []Choice // in seconds

	ScheduledAt string
	ExpiresIn   string
	Expiries    []Choice // in seconds
}

// LastMedia returns the index of the last file.
func (c Compose) LastMedia() int { return len(c.Media) - 1 }

// NoMedia returns the picture that stands for one that a script adds.
func (c Compose) NoMedia() Media { return Media{Type: "image"} }

// Position returns the number of an entry as people count.
func (c Compose) Position(i int) int { return i + 1 }

// HasOptions returns true if something is entered in the fields that are hidden at first.
func (c Compose) HasOptions() bool {
	return c.QuotePolicy != "" || c.ScheduledAt != "" || c.ExpiresIn != "" || c.ContentType != "" && c.ContentType != "text/plain"
}

// FormatKey returns the key of the messages for a content type.
func (c Compose) FormatKey(contentType string) string {
	_, name, _ := strings.Cut(contentType, "/")
	return strings.TrimPrefix(name, "x.")
}

// QuotePolicies returns who may be allowed to quote a post.
func (c Compose) QuotePolicies() []string { return []string{"public", "followers", "nobody"} }

// Languages returns the languages that a post can be said to be in, with the present one.
func (c Compose) Languages() []Choice {
	for _, l := range postLanguages {
		if l.Value == c.Language {
			return postLanguages
		}
	}
	if c.Language == "" {
		return postLanguages
	}
	return append([]Choice{{Value: c.Language, Label: c.Language}}, postLanguages...)
}

// postLanguages are offered where the language of a post is chosen, by their own names. Others can be set by apps.
var postLanguages = []Choice{
	named("ar", "العربية"), named("eu", "Euskara"), named("bn", "বাংলা"), named("bg", "Български"), named("ca", "Català"), named("zh", "中文"), named("zh-TW", "繁體中文"),
	named("hr", "Hrvatski"), named("cs", "Čeština"), named("da", "Dansk"), named("nl", "Nederlands"), named("en", "English"), named("eo", "Esperanto"), named("et", "Eesti"),
	named("fi", "Suomi"), named("fr", "Français"), named("gl", "Galego"), named("ka", "ქართული"), named("de", "Deutsch"), named("el", "Ελληνικά"), named("he", "עברית"), named("hi", "हिन्दी"),
	named("hu", "Magyar"), named("is", "Íslenska"), named("id", "Bahasa Indonesia"), named("ga", "Gaeilge"), named("it", "Italiano"), named("ja", "日本語"), named("ko", "한국어"),
	named("lv", "Latviešu"), named("lt", "Lietuvių"), named("nb", "Norsk bokmål"), named("nn", "Norsk nynorsk"), named("fa", "فارسی"), named("pl", "Polski"), named("pt", "Português"),
	named("pt-BR", "Português do Brasil"), named("ro", "Română"), named("ru", "Русский"), named("gd", "Gàidhlig"), named("sr", "Српски"), named("sk", "Slovenčina"), named("sl", "Slovenščina"),
	named("es", "Español"), named("sv", "Svenska"), named("ta", "தமிழ்"), named("th", "ไทย"), named("tr", "Türkçe"), named("uk", "Українська"), named("ur", "اردو"), named("vi", "Tiếng Việt"), named("cy", "Cymraeg"),
}

// named returns a language with its own name.
func named(code, name string) Choice { return Choice{Value: code, Label: name} }

// Posted is what the script of the form shows after the form was sent.
type Posted struct {
	Done string        // key of the messages below "done."
	Next string        // URL of the page on which it is seen
	Link string        // URL of the post; "": there is none yet
	Post template.HTML // "": there is none yet
}

func (Compose) Name() string { return "compose" }
func (Posted) Name() string  { return "posted" }
