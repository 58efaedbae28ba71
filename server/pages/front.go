package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/server/entity"
	"svc/server/rest"
	"svc/server/web"
)

// Front shows visitors what the server is and how to join. Signed-in users are led to their home page.
func (h *Handlers) Front(r *rest.Request) (any, error) { return h.page((*page).front)(r) }

// apps are some well-known apps by device. They are links, so that nothing is loaded from their sites.
var apps = []web.AppGroup{
	{Title: "front.on_android", Apps: []web.App{{Name: "Tusky", Website: "https://tusky.app/"}, {Name: "Fedilab", Website: "https://fedilab.app/"}, {Name: "Moshidon", Website: "https://lucasggamerm.github.io/moshidon/"}}},
	{Title: "front.on_apple", Apps: []web.App{{Name: "Ice Cubes", Website: "https://github.com/Dimillian/IceCubesApp"}, {Name: "Ivory", Website: "https://tapbots.com/ivory/"}, {Name: "Mona", Website: "https://mastodon.social/@MonaApp"}}},
	{Title: "front.on_computers", Apps: []web.App{{Name: "Tuba", Website: "https://tuba.geopjr.dev/"}, {Name: "Phanpy", Website: "https://phanpy.social/"}, {Name: "Elk", Website: "https://elk.zone/"}}},
}

func (p *page) front() (any, error) {
	if p.Viewer != nil {
		return rest.Redirect(homePath), nil
	}
	var c web.Front
	if err := p.get("/api/v1/instance", nil, &c.Instance); err != nil {
		return nil, err
	}
	settings := p.Settings.Load()
	var posts *rest.Answer
	if n := settings.Web.RecentPosts; n > 0 && settings.Instance.Public {
		var err error
		query := url.Values{"local": {"true"}, "limit": {strconv.Itoa(min(frontFactor*n, maxFrontPosts))}}
		if posts, err = p.fetch("/api/v1/timelines/public", query); err != nil {
			return nil, err
		}
	}
	return p.keep(func() (web.Content, error) {
		i := &c.Instance
		c.Meta = p.serverMeta(i, i.Title, "/")
		c.Apps, c.SignUpURL = apps, p.OAuth.SignUpURL("")
		c.More = settings.Web.PublicTimeline && settings.Instance.Public
		if posts == nil {
			return c, nil
		}
		var err error
		c.Posts, err = p.posts(topLevel(posts.Value, settings.Web.RecentPosts))
		return c, err
	})
}

// The front page reads more posts than it shows, because replies are left out.
const (
	frontFactor   = 2
	maxFrontPosts = 40
)

// topLevel returns the first n posts of a list that stand for themselves.
func topLevel(value any, n int) any {
	list, ok := value.(entity.List[*entity.Status])
	if !ok {
		return value
	}
	var top entity.List[*entity.Status]
	for _, s := range list {
		if len(top) < n && s.ParentID() == 0 {
			top = append(top, s)
		}
	}
	return top
}

// serverMeta returns what the head of a page about the server says.
func (p *page) serverMeta(i *web.Instance, title, path string) web.Meta {
	return web.Meta{
		Title: title, Description: excerpt(cmp.Or(i.ShortDescription, text.HTMLToText(i.Description)), 200), Canonical: p.Settings.BaseURL + path, Type: "website",
		Image: i.Thumbnail, LargeImage: true, Index: true,
	}
}

// maxBlocks bounds the hosts that the page about the server lists.
const maxBlocks = 500

// hostRules are the rules of federation by host, the strictest first.
var hostRules = []string{
	"reject", "accept", "followers_only", "federated_timeline_removal", "media_removal", "media_nsfw", "avatar_removal", "banner_removal", "report_removal", "reject_deletes",
}

// about tells about the server: its description, rules, staff and numbers, and which servers it blocks if that is public.
func (p *page) about() (any, error) {
	var c web.About
	if err := p.get("/api/v1/instance", nil, &c.Instance); err != nil {
		return nil, err
	}
	var description struct {
		Content string `json:"content"`
	}
	if err := p.get("/api/v1/instance/extended_description", nil, &description); err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		c.Meta = p.serverMeta(&c.Instance, p.text("about.title", c.Instance.Title), "/about")
		c.Description = web.InstanceHTML(description.Content)
		c.Blocks, c.MoreBlocks = blocksOf(&c.Instance)
		c.Source = p.Settings.Load().Instance.SourceURL
		return c, nil
	})
}

// blocksOf returns the hosts to which rules apply, at most maxBlocks, and how many were left out.
func blocksOf(i *web.Instance) (list []web.HostBlocks, more int) {
	federation, left := &i.Svc.Metadata.Federation, maxBlocks
	for _, rule := range hostRules {
		hosts := slices.Sorted(slices.Values(federation.Hosts[rule]))
		shown := hosts[:min(len(hosts), left)]
		left, more = left-len(shown), more+len(hosts)-len(shown)
		blocks := web.HostBlocks{Rule: rule}
		for _, host := range shown {
			blocks.Hosts = append(blocks.Hosts, web.HostBlock{Host: host, Reason: federation.Reasons[rule][host].Reason})
		}
		if len(shown) > 0 {
			list = append(list, blocks)
		}
	}
	return list, more
}

func (p *page) terms() (any, error) {
	var text struct {
		Date    string `json:"effective_date"`
		Content string `json:"content"`
	}
	err := p.get("/api/v1/instance/terms_of_service", nil, &text)
	return p.instanceText("terms", text.Content, text.Date, http.StatusOK, err)
}

func (p *page) privacy() (any, error) {
	var text struct {
		UpdatedAt string `json:"updated_at"`
		Content   string `json:"content"`
	}
	err := p.get("/api/v1/instance/privacy_policy", nil, &text)
	date, _, _ := strings.Cut(text.UpdatedAt, "T")
	return p.instanceText("privacy", text.Content, date, http.StatusNotFound, err)
}

// instanceText shows a text of the instance, or with another status that there is none.
func (p *page) instanceText(name, content, date string, none int, err error) (any, error) {
	title := p.text("nav." + name)
	if errs.IsNotFound(err) {
		return p.show(none, web.Notice{Title: title, Paragraphs: []string{p.text(name + ".none")}})
	}
	if err != nil {
		return nil, err
	}
	return p.keep(func() (web.Content, error) {
		meta := web.Meta{Title: title, Description: p.text(name+".description", p.Settings.Load().Instance.Name), Canonical: p.Settings.BaseURL + "/" + name, Type: "website", Index: true}
		return web.InstanceText{Meta: meta, Updated: date, Text: web.InstanceHTML(content)}, nil
	})
}
