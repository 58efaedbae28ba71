package text
import ("testing";"fmt";"strings";"time")
func TestY(t *testing.T){
 rep:=func(p string)func(int)string{return func(n int)string{return strings.Repeat(p,n/len(p)+1)[:n]}}
 pats:=map[string]func(int)string{
 "ramp":func(n int)string{var b strings.Builder;for i:=1;b.Len()<n;i++{b.WriteString("e"+strings.Repeat("`",i))};return b.String()},
 "nl":func(n int)string{return "- a"+strings.Repeat("\n",n)+"b"},
 "dashgrow":func(n int)string{var b strings.Builder;for i:=0;b.Len()<n;i++{b.WriteString(strings.Repeat("  ",i)+"- a\n")};return b.String()},
 "attrs":func(n int)string{var b strings.Builder;b.WriteString("<a ");for i:=0;b.Len()<n;i++{fmt.Fprintf(&b,"a%d=b ",i)};return b.String()+">"},
 "ref5":func(n int)string{var b strings.Builder;for i:=0;b.Len()<n;i++{fmt.Fprintf(&b,"[a%d]: b\n",i)};return b.String()},
 "half":func(n int)string{return strings.Repeat("<b>",n/8)+strings.Repeat("</i>",n/8)},
 "brackpair":func(n int)string{return strings.Repeat("[",n/2)+strings.Repeat("]",n/2)},
 "emphclose":func(n int)string{return strings.Repeat("_a ",n/6)+strings.Repeat("a* ",n/6)},
 "combining":func(n int)string{return "#a"+strings.Repeat("\u0301",n/2)},
 "long999":func(n int)string{return strings.Repeat(strings.Repeat("[a](<b",150)+"\n\n",n/900)},
 "long998":func(n int)string{return strings.Repeat(strings.Repeat("*a_ ",240)+"\n\n",n/960)},
 "long997":func(n int)string{return strings.Repeat(strings.Repeat(">",100)+"a\n",n/102)},
 "long996":func(n int)string{return strings.Repeat(strings.Repeat("- ",99)+"a\n",n/200)},
 }
 for _,p:=range []string{"a","@","@a","@a@","@a@b.c","@a@b","#","#a","#1",":",":a",":a:","http:","http://","http://a","a.b","a.com","a.","あ","あ.","é","\u0301","(((","http://a))))","a:","x@y.com ",">","> ","- ","1. ","[","[a](","[a](<b","![","*a ","*a_ ","~~a ","`a``","<","<a ","<a href=","<b>","</b>","<p>","<li>","<ul>","<div>","<span>","<blockquote>","<script>","<style>","<object>","<iframe>","<pre>","<!--","<![CDATA[","<?","&","&a","&#1;","&#","[b]","[/b]","[b][/i]","[url]","[url=","[url]a","[code]","[/code]","[list]","[*]","[quote]","[quote=a]","[list][*]","[size=1]","[url=http://a]","\n","a\n"," \n","\t","<br>","<br> ","<img alt=a>","<td>","<a href=http://a>","_","__a ","[a]: b\n","[a\n","|","\\","{","\"","<a@a","<a:","$","h","http","- a\n\n","```\n","    a\n", "<ruby><rt>","<h1>","magnet:?","mailto:a@","xn--a.com ","@a@xn--a.b ","\u200c·","1","1:2:"}{pats[fmt.Sprintf("%q",p)]=rep(p)}
 fs:=map[string]func(string){"sanitize":func(s string){Sanitize(s)},"strict":func(s string){Strict(s)},"links":func(s string){LinksOnly(s)},"plain":func(s string){Plain(s)},"length":func(s string){Length(s,s)},"trunc":func(s string){Truncate(s,140)},"bio":func(s string){ParseBio(s)},"field":func(s string){ParseField(s)},"handle":func(s string){SplitHandle(s)},"dom":func(s string){NormalizeDomain(s)},"fold":func(s string){Fold(s)},"foldkey":func(s string){FoldKey(s)},"lang":func(s string){Language(s)},"tag":func(s string){TagName(s)}}
 for _,c:=range ContentTypes(){fs["parse "+string(c)]=func(s string){Parse(s,c).Render("https://example.org",nil)}}
 for fn,f:=range fs{ for pn,p:=range pats{ for _,n:=range []int{65000,260000}{
  s:=p(n); st:=time.Now(); f(s); if d:=time.Since(st);d>60*time.Millisecond*time.Duration(n)/65000{ fmt.Println(fn,pn,n,d)} } } }
}
