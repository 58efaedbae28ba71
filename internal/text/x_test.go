package text
import ("testing";"fmt")
func TestX(t *testing.T){
 acc:=map[string]Account{"bob":{"B1","bob","bob","https://example.org/@bob"},"carol@example.com":{"C1","carol","carol@example.com","https://example.com/users/carol?a=1&b=2"}}
 for _,x:=range []struct{t ContentType;s string}{
 {PlainText,"hi @bob, and @Carol@Example.com: see https://example.com/a_b(c)?x=1&y=2. #Foo_bar #123 #日本語 example.org/x, :blob_cat: <b>\n\n  next\nline @nobody a@bob.com"},
 {Markdown,"# Title #tag\n\nhi **@bob** and _@carol@example.com_ `@bob` ~~x~~ https://example.com/_foo_bar_ [l](https://example.com) ![alt @bob](https://x.example/y.png)\nnl *em*\n\n- a\n- b\n\n> q\n\n```go\nx < y @bob\n```\n<b>raw<script>alert(1)</script>"},
 {BBCode,"[b]bold @bob[/b] [i]x[/b] [url]https://example.com[/url] [url=example.com]l @bob[/url]\n[quote=bob]hey\nyou[/quote]\n[list][*]a\n[*]b #tag[/list]\n[code]x <y> @bob[/code] [foo]z[/foo] [color=red]r[/color]"},
 {HTML,"<div>a @bob</div><div>b</div><h2>T</h2><p>x<p>y <a href='javascript:x'>bad</a> <a href=' HTTPS://example.com/x y'>sp</a> <a href='https://example.com' rel='me tag'>@bob</a> <img src=x alt=':cat:'><table><tr><td>1<td>2</table><b onclick=x>q"},
 }{ d:=Parse(x.s,x.t); r:=d.Render("https://example.org",acc); fmt.Printf("%s\n%+v\n%s\n\n",r.HTML,r,Plain(r.HTML,r.Mentions...)); if s:=Sanitize(r.HTML);s!=r.HTML{t.Errorf("got %s",s)}; fmt.Println(d.Mentions(),d.Tags()); fmt.Println(Strict(r.HTML));fmt.Println(LinksOnly(r.HTML))
 }
 fmt.Println(ParseField("https://example.com/me and\n@bob").Render("https://example.org",acc).HTML)
}
func BenchmarkPlainPost(b *testing.B){
 s:="Good morning @bob, the weather is fine today and we go out to the lake with all the people who have said they wanted to come along, see you there at about ten, bring some food and drink. #lakeside it's fun"
 acc:=map[string]Account{"bob":{"B1","bob","bob","https://example.org/@bob"}}
 b.ReportAllocs()
 for b.Loop(){ Parse(s,PlainText).Render("https://example.org",acc)}
}
func BenchmarkSanitize(b *testing.B){
 s:=`<p><span class="h-card"><a class="u-url mention" data-user="B1" href="https://example.org/@bob" rel="ugc">@<span>bob</span></a></span> good morning, see <a href="https://example.com/a" rel="nofollow noopener noreferrer" target="_blank">https://example.com/a</a> and tell<br>me what you think of it</p><p>second</p>`
 b.ReportAllocs()
 for b.Loop(){ Sanitize(s)}
}
func BenchmarkMarkdown(b *testing.B){
 s:="Good morning **@bob**, the weather is fine today and we go out to the lake with all the people who have said they wanted to come along, see you there at about ten, bring some food and drink. #lakeside it's fun"
 b.ReportAllocs()
 for b.Loop(){ Parse(s,Markdown)}
}
func BenchmarkPlainX(b *testing.B){
 s:=`<p><span class="h-card"><a class="u-url mention" data-user="B1" href="https://example.org/@bob" rel="ugc">@<span>bob</span></a></span> good morning, see <a href="https://example.com/a" rel="nofollow noopener noreferrer" target="_blank">https://example.com/a</a> and tell<br>me what you think of it</p><p>second</p>`
 b.ReportAllocs()
 for b.Loop(){ Plain(s)}
}
