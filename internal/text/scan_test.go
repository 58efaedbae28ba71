package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMentions(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   string // keys
	}{
		{"@bob", "bob"},
		{"@Bob, (@a_b-c) .@d: @e.", "bob a_b-c d e"},
		{"@bobさん 、@bob", "bob"},
		{"❤️@a 👍🏽@b “@c”", "a b c"},
		{"a@b @@c /@d é@e _@f x@g.com", ""},
		{"@ @. @.a @-@ @@ @", ""},
		{"@bob@example.com", "bob@example.com"},
		{"@bob@example.com.", "bob@example.com"},
		{"@BOB@EXAMPLE.com: hi", "bob@example.com"},
		{"@Bär@example.com @日本@example.com, (@a+b@example.com) @naïve.user@example.com.", "bär@example.com 日本@example.com a+b@example.com naïve.user@example.com"},
		{"@bo\u0301b@example.com @bób@example.com", "bób@example.com"},
		{"@bob+@carol @bob's@carol", "bob carol"},
		{"@b.o.b@example.com/@x", "b.o.b@example.com"},
		{"@bob@example.com:8080 @bob@localhost:4000 @bob@127.0.0.1:1", "bob@example.com:8080 bob@localhost:4000 bob@127.0.0.1:1"},
		{"@bob@example.com:99999 @bob@example.com:0", ""},
		{"@bob@bücher.example", "bob@xn--bcher-kva.example"},
		{"@bob@home @bob@1.5 @bob@-a.com @bob@a..com @a@b.com@c @.a@b.com @a.@b.com", ""},
		{"@alice.example.com", "alice.example.com"},
		{"@alice:matrix.org @alice:m.example.org:8448, @bob: @carol:x", "bob carol"},
		{"@bob@example.comさん @bob@bücher.comは", "bob@example.com bob@xn--bcher-kva.com"},
		{"https://example.com/@bob example.com/@bob #a/@bob", ""},
		{"@" + strings.Repeat("a", 257), ""},
	} {
		var got []string
		for _, m := range Parse(tt.source, PlainText).Mentions() {
			got = append(got, m.Key())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("mentions in %q: %v, want %s", tt.source, got, tt.want)
		}
	}
}

func TestHashtags(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   string // names
	}{
		{"#a #B1 #1c #d_e #9_11", "a b1 1c d_e 9_11"},
		{"#_ #__ #_1 #1_", ""},
		{"#1 #123 # ## #-a #. 1#a a#b /#c ##d &#e", ""},
		{"(#a) #b. #c-d #e/f \"#g\"", "a b c e g"},
		{"#Straße #ÑANDÚ #日本語 #สวัสดี #हिन्दी #ТЕГ", "straße ñandú 日本語 สวัสดี हिन्दी тег"},
		{"#col·lecció #ア・イ #a· #·b", "col·lecció ア・イ a"},
		{"#می\u200cخواهم #a\u200c", "می\u200cخواهم a"},
		{"#️⃣ #1️⃣ #❤️", ""},
		{"#ｆｕｌｌ #full", "full"},
		{"#one/#two/＃three a/#b #1/#c #d//#e", "one two three d"},
		{"＃tag （＃a） a＃b ＃1 ＃＃c", "tag a"},
		{"#らーめん〜ライス #スター～ト #東京〜大阪 #a〜b #ア〜", "らーめん〜ライス スター〜ト 東京 a ア"},
		{"#room:matrix.org #room:m.example.org:8448 #news:today #a:b", "news a"},
		{"#" + strings.Repeat("a", 128), strings.Repeat("a", 128)},
		{"#" + strings.Repeat("a", 129), ""},
		{"https://example.com/#a", ""},
	} {
		var got []string
		for _, tag := range Parse(tt.source, PlainText).Tags() {
			got = append(got, tag.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("hashtags in %q: %v, want %s", tt.source, got, tt.want)
		}
	}
}

func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   []string // hrefs
	}{
		{"https://example.com HTTP://EXAMPLE.com/", []string{"https://example.com", "HTTP://EXAMPLE.com/"}},
		{"(https://example.com/a_(b)) [http://example.com/c], <https://example.com/d>", []string{"https://example.com/a_(b)", "http://example.com/c", "https://example.com/d"}},
		{"https://example.com/a... https://example.com/b?! \"https://example.com/c\" **https://example.com/d**",
			[]string{"https://example.com/a", "https://example.com/b", "https://example.com/c", "https://example.com/d"}},
		{"https://example.com/x_ https://example.com/~a/@b#c:d", []string{"https://example.com/x_", "https://example.com/~a/@b#c:d"}},
		{"見てhttps://example.com/あ。次", []string{"https://example.com/あ"}},
		{"https://example.com/a\u202egpj", []string{"https://example.com/a"}},
		{"http://localhost:3000/x http://[::1]:80/ http://bücher.example", []string{"http://localhost:3000/x", "http://[::1]:80/", "http://bücher.example"}},
		{"http:// https:///x http:a https:/a http://. http://[ http://a:b", nil},
		{"javascript:alert(1) data:text/html,x file:///etc vbscript:x ahttps://example.com", nil},
		{"gemini://example.org/ magnet:?xt=urn:a mailto:a@example.com xmpp:a@example.com ssb:x ipfs://Qm1 irc://example.org/a",
			[]string{"gemini://example.org/", "magnet:?xt=urn:a", "mailto:a@example.com", "xmpp:a@example.com", "ssb:x", "ipfs://Qm1", "irc://example.org/a"}},
		{"magnet: mailto:a mailto:@b irc: x xmpp: ssb:", nil},
		{"example.com/ Example.ORG/a?b example.com:8080/c www.example.co.uk. bücher.com/d WWW.example.org:80?e", []string{
			"http://example.com/", "http://Example.ORG/a?b", "http://example.com:8080/c", "http://www.example.co.uk", "http://bücher.com/d", "http://WWW.example.org:80?e"}},
		{"README.md archive.zip done.So call.me ASP.NET example.com example.com:80 example.com?a", nil},
		{"@user:matrix.org #room:matrix.org !room:matrix.org see:example.com/a @a:www.example.com", nil},
		{"“https://example.com/a“ ‘https://example.com/b’ »https://example.com/c» https://example.com/d—e https://example.com/f؟ https://example.com/g، https://example.com/h। https://example.com/i۔ （https://example.com/j）",
			[]string{"https://example.com/a", "https://example.com/b", "https://example.com/c", "https://example.com/d", "https://example.com/f", "https://example.com/g",
				"https://example.com/h", "https://example.com/i", "https://example.com/j"}},
		{"https://example.com/a，次 https://example.com/b！次 https://example.com/c…", []string{"https://example.com/a", "https://example.com/b", "https://example.com/c"}},
		{"https://example.com/Foo–Bar https://example.com/ア・イ", []string{"https://example.com/Foo–Bar", "https://example.com/ア・イ"}},
		{"https://example.comは https://127.0.0.1:80は https://例え.jpは https://example.com🎉 https://example.com*a",
			[]string{"https://example.com", "https://127.0.0.1:80", "https://例え.jp", "https://example.com", "https://example.com"}},
		{"https://例え.テスト/は https://пример.рф https://beispiel.vermögensberater https://example.org,b www.example.comは",
			[]string{"https://例え.テスト/は", "https://пример.рф", "https://beispiel.vermögensberater", "https://example.org", "http://www.example.com"}},
		{"見てwww.example.org/a 見てWWW.example.com。 кафеwww.example.org www.example.comとwww.example.org", []string{
			"http://www.example.org/a", "http://WWW.example.com", "http://www.example.org", "http://www.example.com", "http://www.example.org"}},
		{"見てwww 草www.そして 見てwww.bob@example.com awww.example.com あwwww.example.com", nil},
		{"日本example.com/a", []string{"http://日本example.com/a"}}, // a host name
		{"https://🍕.ws/ https://👩🏽‍💻.example/a https://i❤️.ws https://🍕 https://🍕.🍕", []string{"https://🍕.ws/", "https://👩🏽‍💻.example/a", "https://i❤️.ws"}},
		{"https://user:pw@example.com:80/a https://example.com:/a https://example.com:, https://a_b.example.com",
			[]string{"https://user:pw@example.com:80/a", "https://example.com:/a", "https://example.com", "https://a_b.example.com"}},
		{"https://example.com/*a* **https://example.com/b** **https://example.com/*c*** https://example.com/*d https://example.com/a*b*c*",
			[]string{"https://example.com/*a*", "https://example.com/b", "https://example.com/*c*", "https://example.com/*d", "https://example.com/a*b*c"}},
		{"a.example foo.invalid e.g. 3.14 1.2.3.4 a..com -a.com a_b.com v1.2", nil},
		{"a@example.com me.me@example.com ./example.com /example.com x.example.com@y", nil},
	} {
		var got []string
		for i, prev := 0, ' '; i < len(tt.source); {
			tok := tokenAt(tt.source, i, prev)
			if tok.kind == linkToken {
				got = append(got, tok.href)
			}
			i = tok.end
			prev, _ = utf8.DecodeLastRuneInString(tt.source[:i])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("links in %q:\ngot  %q\nwant %q", tt.source, got, tt.want)
		}
	}
}

func TestShortcodes(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   string
	}{
		{":a: x:b:y ::c:: :d::e: :+1: :f_g-h:", "a b c d e +1 f_g-h"},
		{":a:b:", "a"},
		{": a: :a : :é: :: :https://example.com:", ""},
		{":" + strings.Repeat("a", 64) + ": :" + strings.Repeat("b", 65) + ":", strings.Repeat("a", 64)},
	} {
		got := strings.Join(Parse(tt.source, PlainText).Render(base, nil).Shortcodes, " ")
		if got != tt.want {
			t.Errorf("shortcodes in %q: %s, want %s", tt.source, got, tt.want)
		}
	}
}
