package social

import (
	"svc/internal/text"
	"svc/store"
)

// cut cuts what an incoming status contains to what may be stored of it (store.MaxRemoteStatus). Policies have changed it before.
func (r *IncomingStatus) cut() {
	if r.QuoteLinkRemoved { // newIncomingStatus may add a link
		room := store.MaxRemoteContent - text.JSONSize(quoteLink(&store.Status{URL: r.QuoteURI}))
		r.Content = text.CutHTML(r.Content, room, r.original())
	}
	if r.Poll != nil {
		r.Poll.CutRemote()
	}
	st := store.Status{URL: r.original(), Content: r.Content, SpoilerText: r.SpoilerText}
	st.Emojis.V = r.Emojis
	st.CutRemote(r.Poll.Titles()...)
	r.Content, r.SpoilerText, r.Emojis = st.Content, st.SpoilerText, st.Emojis.V
	r.Media = store.CutRemoteMedia(r.Media)
}

// original returns where the whole status is shown.
func (r *IncomingStatus) original() string {
	if r.URL != "" {
		return r.URL
	}
	return r.URI
}
