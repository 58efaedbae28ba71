package federation

import (
	"strconv"
	"strings"
	"time"
)

// Fact is what people are shown of an explanation. It has at least one of a text, a state and a time.
type Fact struct {
	Name  string     // key of the messages of pages, below admin.explain
	Text  string     // in no language
	State string     // key below admin.explain.state
	At    *time.Time // nil: none
}

// Facts returns what is known, without the lists.
func (e *Explanation) Facts() (list []Fact) {
	add := func(name, text, state string, at *time.Time) {
		if text != "" || state != "" || at != nil {
			list = append(list, Fact{name, text, state, at})
		}
	}
	add("url", e.URL, "", nil)
	peer := e.Peer
	switch {
	case e.Local:
		add("server", e.Host, "this_server", nil)
	case peer == nil && e.RejectReason == "":
		add("server", e.Host, "no_contact_yet", nil)
	case peer == nil:
		add("server", e.Host, "", nil)
	default:
		add("server", strings.TrimSpace(e.Host+" "+peer.Software), "", nil)
	}
	add("rejected", e.RejectReason, "", nil)
	if peer != nil {
		add("last_success", "", "", peer.LastSuccessAt)
		add("unreachable_since", "", "", peer.UnreachableSince)
		if peer.Failures > 0 {
			add("failures", strconv.Itoa(peer.Failures), "", nil)
		}
		add("last_error", peer.LastError, "", nil)
	}
	if a := e.Account; a != nil {
		state := ""
		if a.Deleted {
			state = "deleted"
		} else if a.Unavailable {
			state = "unavailable"
		}
		add("account", "@"+a.Acct+", "+a.ID, state, nil)
		add("fetched", "", "", a.FetchedAt)
	}
	if st := e.Status; st != nil {
		add("post", st.Visibility+", @"+st.Author+", "+st.ID, "", &st.CreatedAt)
		switch {
		case st.FetchedAt != nil:
			add("arrived", "", "fetched", st.FetchedAt)
		case !e.Local:
			add("arrived", "", "delivered", &st.ArrivedAt)
		}
		if st.ParentURI != "" {
			add("reply_to", st.ParentURI, "not_stored", nil)
		}
	}
	switch aboutHost := !e.Local && e.Incoming == ""; {
	case aboutHost && len(e.Deliveries) == 0:
		add("queued", "", "nothing", nil)
	case !aboutHost && e.Account == nil && e.Status == nil:
		add("stored", "", "no", nil)
	}
	add("incoming", e.Incoming, "", nil)
	add("deleted", "", "", e.DeletedAt)
	if e.Seen {
		add("seen", "", "yes", nil)
	}
	if f := e.Fetched; f != nil {
		if f.Error != "" {
			add("fetch_now", f.Error, "", nil)
		} else {
			add("fetch_now", strings.TrimSpace(f.Type+" "+f.ID+" "+f.Owner), "", nil)
		}
		add("verdict", f.Verdict, "", nil)
	}
	return list
}
