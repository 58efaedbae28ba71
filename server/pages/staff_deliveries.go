package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/server/rest"
	"svc/server/web"
)

// deliveryRoutes are the pages about what other servers are sent.
func (h *Handlers) deliveryRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/admin/deliveries": {rest.SignedIn, h.page((*page).deliveries)},
		"GET /web/admin/explain":    {rest.SignedIn, h.page((*page).explain)},
	}
}

const deliveriesPath = "/api/v1/svc/admin/federation/deliveries"

// peer is the state of another server.
type peer struct {
	Software         string     `json:"software"`
	Failures         int        `json:"failures"`
	UnreachableSince *time.Time `json:"unreachable_since"`
	LastSuccessAt    *time.Time `json:"last_success_at"`
	LastError        string     `json:"last_error"`
}

// delivery is a queued or parked delivery.
type delivery struct {
	ID          int64      `json:"id"`
	Host        string     `json:"host"`
	Type        string     `json:"type"`
	Activity    string     `json:"activity"`
	Attempts    int        `json:"attempts"`
	QueuedAt    time.Time  `json:"queued"`
	NextAttempt *time.Time `json:"next_attempt"`
	Parked      bool       `json:"parked"`
	LastError   string     `json:"last_error"`
}

// incomingActivity is an incoming activity that is queued or parked.
type incomingActivity struct {
	ID         int64     `json:"id"`
	Type       string    `json:"type"`
	Activity   string    `json:"activity"`
	Signer     string    `json:"signer"`
	ReceivedAt time.Time `json:"received"`
	Attempts   int       `json:"attempts"`
	Parked     bool      `json:"parked"`
	LastError  string    `json:"last_error"`
}

// timeText returns a time as tables show it, "" for none.
func timeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04") + " UTC"
}

// changeButtons are the buttons that retry and drop what a parameter of the endpoints selects.
func changeButtons(name, value, question, about string) []web.RowButton {
	return []web.RowButton{
		button("admin.retry", "POST", deliveriesPath+"/retry", name, value, doneParam, "retried"),
		button("admin.drop", "POST", deliveriesPath+"/drop", name, value, doneParam, "deleted", askParam, question, namedParam, about),
	}
}

// maxShownHosts bounds the rows of the pages about deliveries. The endpoint lists the longest queues first.
const maxShownHosts = 40

// deliveries shows what waits for each server, or for the one that the query names.
func (p *page) deliveries() (any, error) {
	host := p.URL.Query().Get("host")
	var queue struct {
		Hosts []struct {
			Host        string     `json:"host"`
			Queued      int        `json:"queued"`
			Parked      int        `json:"parked"`
			Oldest      time.Time  `json:"oldest"`
			NextAttempt *time.Time `json:"next_attempt"`
			LastError   string     `json:"last_error"`
			Peer        peer       `json:"peer"`
		} `json:"hosts"`
		Deliveries []delivery `json:"deliveries"`
		Incoming   struct {
			Queued int `json:"queued"`
			Failed int `json:"failed"`
			Parked int `json:"parked"`
		} `json:"received"`
		Failed []incomingActivity `json:"failed"`
	}
	arguments := url.Values{}
	if host != "" {
		arguments.Set("host", host)
	}
	if err := p.get(deliveriesPath, arguments, &queue); err != nil {
		return nil, err
	}
	content := web.StaffPage{
		Title: "admin.deliveries.title", Intro: "admin.deliveries.intro",
		Forms: []web.StaffForm{explainForm("")},
		Texts: []string{p.text("admin.deliveries.incoming", queue.Incoming.Queued, queue.Incoming.Failed, queue.Incoming.Parked)},
	}
	hosts := web.Table{
		Title: "admin.deliveries.hosts", Empty: "admin.deliveries.none",
		Columns: []string{"admin.domain", "admin.jobs.queued_count", "admin.deliveries.parked", "admin.deliveries.oldest", "admin.deliveries.next", "admin.deliveries.since", "admin.last_error", "admin.actions"},
	}
	for _, q := range queue.Hosts[:min(len(queue.Hosts), maxShownHosts)] {
		hosts.Rows = append(hosts.Rows, web.Row{
			Cells:   []string{q.Host, strconv.Itoa(q.Queued), strconv.Itoa(q.Parked), timeText(&q.Oldest), timeText(q.NextAttempt), timeText(q.Peer.UnreachableSince), q.LastError},
			URL:     "/web/admin/deliveries?host=" + url.QueryEscape(q.Host),
			Buttons: changeButtons("host", q.Host, "drop_host", q.Host),
		})
	}
	content.Tables = []web.Table{hosts}
	if host != "" {
		content.BackURL, content.BackTitle = "/web/admin/deliveries", "admin.deliveries.title"
		content.Tables = append(content.Tables, deliveryTable(p, queue.Deliveries))
		return p.show(http.StatusOK, content)
	}
	if err := p.get(deliveriesPath, url.Values{"failed": {"true"}}, &queue); err != nil {
		return nil, err
	}
	content.Tables = append(content.Tables, incomingTable(p, queue.Failed))
	return p.show(http.StatusOK, content)
}

// deliveryTable lists single deliveries.
func deliveryTable(p *page, list []delivery) web.Table {
	t := web.Table{
		Title: "admin.deliveries.single", Empty: "admin.none",
		Columns: []string{"admin.deliveries.activity", "admin.since", "admin.attempts", "admin.deliveries.next", "admin.last_error", "admin.actions"},
	}
	for _, d := range list[:min(len(list), maxShownHosts)] {
		next := timeText(d.NextAttempt)
		if d.Parked {
			next = p.text("admin.deliveries.ended")
		}
		id := strconv.FormatInt(d.ID, 10)
		t.Rows = append(t.Rows, web.Row{
			Cells:   []string{d.Type + " " + d.Activity, timeText(&d.QueuedAt), strconv.Itoa(d.Attempts), next, d.LastError},
			Buttons: changeButtons("id", id, "drop_delivery", d.Type+" → "+d.Host),
		})
	}
	return t
}

// incomingTable lists incoming activities that failed. Only parked ones can be dropped.
func incomingTable(p *page, list []incomingActivity) web.Table {
	t := web.Table{
		Title: "admin.deliveries.failed", Empty: "admin.none",
		Columns: []string{"admin.deliveries.activity", "admin.deliveries.signer", "admin.since", "admin.attempts", "admin.last_error", "admin.actions"},
	}
	for _, r := range list[:min(len(list), maxShownHosts)] {
		buttons := changeButtons("id", strconv.FormatInt(r.ID, 10), "drop_activity", r.Type+" "+r.Activity)
		if !r.Parked {
			buttons = buttons[:1]
		}
		t.Rows = append(t.Rows, web.Row{Cells: []string{r.Type + " " + r.Activity, r.Signer, timeText(&r.ReceivedAt), strconv.Itoa(r.Attempts), r.LastError}, Buttons: buttons})
	}
	return t
}

// explainForm asks for the address of what is to be explained.
func explainForm(address string) web.StaffForm {
	return web.StaffForm{Submit: "admin.explain.submit", Action: "/web/admin/explain", Get: true, Open: true, Inputs: []web.Input{
		{Name: "address", Kind: "text", Label: "admin.explain.address", Hint: "admin.explain.hint", Value: address, Required: true, MaxLength: 2000},
	}}
}

// explain shows what the server knows of a post, an account, an activity or another server.
func (p *page) explain() (any, error) {
	address := p.URL.Query().Get("address")
	content := web.StaffPage{
		Title: "admin.explain.title", Intro: "admin.explain.about", BackURL: "/web/admin/deliveries", BackTitle: "admin.deliveries.title",
		Forms: []web.StaffForm{explainForm(address)},
	}
	var e explanation
	err := p.get("/api/v1/svc/admin/federation/explain", url.Values{"address": {address}}, &e)
	if failed := forUser(err); failed != nil && failed.Status != http.StatusForbidden {
		if address != "" {
			content.Error = failed.Message
		}
		status := failed.Status
		if address == "" {
			status = http.StatusOK
		}
		return p.show(status, content)
	}
	if err != nil {
		return nil, err
	}
	if n := len(e.Recipients); n > maxShownHosts {
		content.Texts = append(content.Texts, p.text("admin.explain.more", n, maxShownHosts))
	}
	content.Tables = append([]web.Table{{Title: "admin.explain.facts", Columns: []string{"admin.explain.what", "admin.explain.known"}, Rows: p.facts(&e)}}, p.explained(&e)...)
	return p.show(http.StatusOK, content)
}

// explanation is the answer of the endpoint.
type explanation struct {
	URL          string `json:"url"`
	Host         string `json:"host"`
	Local        bool   `json:"local"`
	RejectReason string `json:"reject_reason"`
	Peer         *peer  `json:"peer"`
	Account      *struct {
		Acct        string     `json:"acct"`
		Unavailable bool       `json:"unavailable"`
		FetchedAt   *time.Time `json:"fetched_at"`
	} `json:"account"`
	Status *struct {
		Author     string     `json:"author"`
		Visibility string     `json:"visibility"`
		CreatedAt  time.Time  `json:"created_at"`
		FetchedAt  *time.Time `json:"fetched_at"`
	} `json:"status"`
	DeletedAt *time.Time `json:"deleted_at"`
	Incoming  string     `json:"incoming"`
	Fetched   *struct {
		Error   string `json:"error"`
		ID      string `json:"id"`
		Type    string `json:"type"`
		Verdict string `json:"verdict"`
	} `json:"fetched"`
	Refusals []struct {
		At       time.Time `json:"at"`
		Host     string    `json:"host"`
		Activity string    `json:"activity"`
		Reason   string    `json:"reason"`
	} `json:"refusals"`
	Queued     []incomingActivity `json:"queued"`
	Deliveries []delivery         `json:"deliveries"`
	Recipients []recipient        `json:"recipients"`
}

// recipient is a server that a local post is for.
type recipient struct {
	Host      string `json:"host"`
	State     string `json:"state"`
	LastError string `json:"last_error"`
}

// rank sorts servers that the post did not reach before others.
func (r recipient) rank() int {
	switch r.State {
	case "refused", "parked":
		return 0
	case "delivered":
		return 2
	}
	return 1
}

// facts are the rows of what is known.
func (p *page) facts(e *explanation) []web.Row {
	var rows []web.Row
	fact := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			rows = append(rows, web.Row{Cells: []string{p.text("admin.explain." + key), text}})
		}
	}
	fact("url", "%s", e.URL)
	server := e.Host
	switch {
	case e.Local:
		server += " (" + p.text("admin.explain.local") + ")"
	case e.RejectReason != "":
		server += ": " + e.RejectReason
	case e.Peer == nil:
		server += " (" + p.text("admin.explain.no_contact") + ")"
	default:
		server += " " + e.Peer.Software
	}
	fact("server", "%s", server)
	if e.Peer != nil {
		fact("last_success", "%s", timeText(e.Peer.LastSuccessAt))
		fact("unreachable", "%s", timeText(e.Peer.UnreachableSince))
		fact("failing", "%s", e.Peer.LastError)
	}
	if a := e.Account; a != nil {
		fact("account", "@%s", a.Acct)
		fact("fetched", "%s", timeText(a.FetchedAt))
	}
	if st := e.Status; st != nil {
		fact("post", "%s, @%s, %s", st.Visibility, st.Author, timeText(&st.CreatedAt))
		fact("fetched", "%s", timeText(st.FetchedAt))
	}
	fact("deleted", "%s", timeText(e.DeletedAt))
	fact("incoming", "%s", e.Incoming)
	if f := e.Fetched; f != nil {
		fact("now", "%s %s %s", f.Type, f.ID, f.Error)
		fact("verdict", "%s", f.Verdict)
	}
	return rows
}

// explained are the lists of an explanation that have rows.
func (p *page) explained(e *explanation) []web.Table {
	var tables []web.Table
	add := func(t web.Table) {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	recipients := web.Table{Title: "admin.explain.recipients", Columns: []string{"admin.domain", "admin.explain.state", "admin.last_error"}}
	slices.SortStableFunc(e.Recipients, func(a, b recipient) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, to := range e.Recipients[:min(len(e.Recipients), maxShownHosts)] {
		state := p.text("admin.explain.state_" + strings.NewReplacer(":", "", " ", "_").Replace(to.State))
		recipients.Rows = append(recipients.Rows, web.Row{Cells: []string{to.Host, state, to.LastError}, URL: "/web/admin/deliveries?host=" + url.QueryEscape(to.Host)})
	}
	refusals := web.Table{Title: "admin.explain.refusals", Columns: []string{"admin.time", "admin.domain", "admin.deliveries.activity", "admin.comment"}}
	for _, r := range e.Refusals {
		refusals.Rows = append(refusals.Rows, web.Row{Cells: []string{timeText(&r.At), r.Host, r.Activity, r.Reason}})
	}
	add(recipients)
	add(deliveryTable(p, e.Deliveries))
	add(refusals)
	add(incomingTable(p, e.Queued))
	return tables
}
