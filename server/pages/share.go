package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"svc/internal/keys"
	"svc/server/rest"
)

// sharePath is where other programs of the device send what their users share, by the web app manifest.
const sharePath = "/web/share"

func (h *Handlers) shareRoutes() rest.Routes {
	return rest.Routes{
		"GET " + sharePath:  {rest.SignedIn, h.page((*page).share)},
		"POST " + sharePath: {rest.SignedIn.Uploads().Shared(), h.page((*page).share)},
	}
}

// share shows the form for a post with what another program shares. Nothing is published before the user presses the button.
func (p *page) share() (any, error) {
	var form struct {
		Title string         `param:"title"`
		Text  string         `param:"text"`
		URL   string         `param:"url"`
		Files []*rest.Upload `param:"file"`
	}
	if err := p.Bind(&form); err != nil {
		return nil, err
	}
	f := composeForm{Visibility: p.User.DefaultVisibility.String(), Text: sharedText(form.Title, form.Text, form.URL), Once: keys.NewToken(), Back: homePath}
	f.fillDefaults(p.User)
	var failed []string
	for _, file := range form.Files {
		id, err := p.upload(file)
		if e := forUser(err); e != nil {
			failed = append(failed, p.frame.Messages.Fault(e.Message))
			continue
		}
		if err != nil {
			return nil, err
		}
		if id != "" {
			f.MediaIDs, f.Descriptions = append(f.MediaIDs, id), append(f.Descriptions, "")
		}
	}
	message := ""
	if len(failed) > 0 {
		slices.Sort(failed)
		message = p.text("share.failed", strings.Join(slices.Compact(failed), " "))
	}
	return p.composePage(http.StatusOK, &f, nil, message)
}

// maxSharedLink bounds the text that an address takes along, in bytes.
const maxSharedLink = 4 << 10

// shareLink returns the path that shares the text of a request again, for a browser that has to sign in first. It has no files; a text that is
// too long is left out.
func shareLink(r *rest.Request) string {
	query := make(url.Values)
	for _, name := range []string{"title", "text", "url"} {
		if text := r.Query(name); text != "" {
			query.Set(name, text)
		}
	}
	if link := sharePath + "?" + query.Encode(); len(query) > 0 && len(link) <= maxSharedLink {
		return link
	}
	return sharePath
}

// sharedText joins what a program shares. Many say the same twice, such as the address in the text.
func sharedText(parts ...string) string {
	var list []string
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if slices.ContainsFunc(list, func(have string) bool { return strings.Contains(have, part) }) {
			continue
		}
		list = slices.DeleteFunc(list, func(have string) bool { return strings.Contains(part, have) })
		list = append(list, part)
	}
	return strings.TrimSpace(strings.Join(list, "\n\n"))
}
