package text

import "testing"

func TestPlain(t *testing.T) {
	mention := `<a href="https://example.com/@carol" class="u-url mention">@<span>carol</span></a>`
	known := Account{ID: "C1", Username: "carol", Acct: "carol@example.com", URL: "https://example.com/@carol"}
	for _, tt := range []struct {
		name     string
		source   string
		mentions []Account
		want     string
	}{
		{"empty", "", nil, ""},
		{"no markup", " a\nb ", nil, "a\nb"},
		{"paragraphs and line breaks", "<p>a<br>b</p><p>c</p>", nil, "a\nb\n\nc"},
		{"blanks of the source", "<p>a<br />\n  b\n c</p>\n\n<p>d</p>\n", nil, "a\nb c\n\nd"},
		{"several line breaks", "a<br><br><br>b", nil, "a\n\n\nb"},
		{"entities", "<p>&lt;b&gt; &amp;amp; &quot;&#39; &nbsp;c</p>", nil, "<b> &amp; \"' \u00a0c"},
		{"lists, quotes and code", "<p>a</p><ul><li>b</li><li>c</li></ul><blockquote>d</blockquote><pre>e\n  f\n</pre>g", nil, "a\n\nb\nc\nd\ne\n  f\ng"},
		{"scripts and styles", "a<script>b</script><style>c</style>d", nil, "ad"},
		{"unknown mention", "<p>" + mention + " hi</p>", nil, "@carol hi"},
		{"known mention", "<p>" + mention + " hi</p>", []Account{known}, "@carol@example.com hi"},
		{"a mention left open", `<p><a href="https://example.com/@carol" class="mention">x</p><p>y`, []Account{known}, "@carol@example.com\n\ny"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := HTMLToText(tt.source, tt.mentions...); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
