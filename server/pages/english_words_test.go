package pages_test

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"svc/app/apptest"
)

// englishWords are common words of English that are no words of German, and words that English texts of these pages often have.
var englishWords = wordSet(`
	the and your you yours with not of is are were this that these those there here to for from by has have had been being be it its as or if does did
	than then when which who whom whose what how why where into only other others more most each every any some many few first last second again later
	no none never already yet cannot can may must should would could
	post posts posted reply replies boost boosts boosted favourite favourites favourited follow follows followed followers following account accounts user users people
	setting settings file files page pages notification notifications message messages report reports reported request requests timeline-settings
	sign signed password address delete deleted change changed save saved add added remove removed edit edited show shown hide hidden open closed close back next previous
	invalid unknown missing failed failure error errors wrong too long short large small empty required
	second seconds minutes hour hours day days week weeks month months year years ago today yesterday now until since
	january february march may june july october december monday tuesday wednesday thursday friday saturday sunday
	public unlisted followers-only mentioned language languages search found nothing home about public private
	block blocked mute muted suspend suspended silence silenced limit limited reject rejected accept accepted allowed
	enabled disabled yes default value values number numbers size picture pictures emoji-name upload uploads uploaded
	created updated installed started restarted ended votes voted voters poll choose chosen
	rule rules reason comment invite invites admin-role role roles domain-name server-name hosts
	please try something went`)

// notEnglish are words of the list that German has, too, or that are names on these pages.
var notEnglish = wordSet(`second march may was role silence limit default private hosts uploads`)

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// shownAttributes are the attributes whose values browsers and screen readers present.
var shownAttributes = []string{"alt", "aria-label", "title", "placeholder", "content", "aria-description"}

// keyList matches lists of keys, such as scopes of apps, and names of time zones.
var keyList = regexp.MustCompile(`^([a-z_:]+, )+[a-z_:]+$|^[A-Z][a-z]+/[A-Z]`)

// quotedText matches what German pages quote (values of settings, names of buttons, what users have written), and keys in brackets.
var quotedText = regexp.MustCompile(`„[^“]*“|\(([a-z_]+, )*[a-z_]+\)`)

// englishOn returns the texts of a page in which the server writes English words. What says that it is in another language, code, and values
// that users enter do not count.
func englishOn(page *apptest.Page) (found []string) {
	doc, err := html.Parse(strings.NewReader(string(page.Body)))
	if err != nil {
		page.T.Fatal(err)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			found = append(found, englishIn(n.Data)...)
		case n.Type == html.ElementNode && (slices.Contains([]string{"code", "script", "style", "textarea", "kbd", "pre"}, n.Data) || isForeign(n)):
			return
		case n.Type == html.ElementNode:
			for _, a := range n.Attr {
				if slices.Contains(shownAttributes, a.Key) || strings.HasPrefix(a.Key, "data-") && strings.Contains(a.Val, " ") {
					found = append(found, englishIn(a.Val)...)
				}
			}
		}
		for child := range n.ChildNodes() {
			walk(child)
		}
	}
	walk(doc)
	return found
}

// isForeign returns true if an element says that it is in another language than German.
func isForeign(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "lang" && a.Val != "de" || a.Key == "translate" && a.Val == "no" {
			return true
		}
	}
	return false
}

// englishIn returns the text if it has an English word. Paths, addresses and names with other signs in them are no words.
func englishIn(text string) []string {
	text = strings.Join(strings.Fields(text), " ")
	if keyList.MatchString(text) {
		return nil
	}
	for word := range strings.FieldsSeq(quotedText.ReplaceAllString(text, "")) {
		word = strings.ToLower(strings.Trim(word, `.,:;!?()[]"“”„…–→·`))
		if englishWords[word] && !notEnglish[word] {
			return []string{word + ": " + text}
		}
	}
	return nil
}
