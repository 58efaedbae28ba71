package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"svc/federation"
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

// timeText returns a time as tables show it, "" for none.
func (p *page) timeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return p.frame.Messages.DateTime(*t, p.frame.Zone)
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
	var queue federation.QueueStatus
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
			Cells:   []string{q.Host, strconv.Itoa(q.Queued), strconv.Itoa(q.Parked), p.timeText(&q.Oldest), p.timeText(q.NextAttempt), p.timeText(q.Peer.UnreachableSince), q.LastError},
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
	content.Tables = append(content.Tables, incomingTable(p, queue.FailedIncoming))
	return p.show(http.StatusOK, content)
}

// deliveryTable lists single deliveries.
func deliveryTable(p *page, list []*federation.Delivery) web.Table {
	t := web.Table{
		Title: "admin.deliveries.single", Empty: "admin.none",
		Columns: []string{"admin.deliveries.activity", "admin.since", "admin.attempts", "admin.deliveries.next", "admin.last_error", "admin.actions"},
	}
	for _, d := range list[:min(len(list), maxShownHosts)] {
		next := p.timeText(d.NextAttempt)
		if d.Parked {
			next = p.text("admin.deliveries.ended")
		}
		id := strconv.FormatInt(d.ID, 10)
		t.Rows = append(t.Rows, web.Row{
			Cells:   []string{d.Type + " " + d.Activity, p.timeText(&d.QueuedAt), strconv.Itoa(d.Attempts), next, d.LastError},
			Buttons: changeButtons("id", id, "drop_delivery", d.Type+" → "+d.Host),
		})
	}
	return t
}

// incomingTable lists incoming activities that failed. Only parked ones can be dropped.
func incomingTable(p *page, list []*federation.QueuedActivity) web.Table {
	t := web.Table{
		Title: "admin.deliveries.failed", Empty: "admin.none",
		Columns: []string{"admin.deliveries.activity", "admin.deliveries.signer", "admin.since", "admin.attempts", "admin.last_error", "admin.actions"},
	}
	for _, r := range list[:min(len(list), maxShownHosts)] {
		buttons := changeButtons("id", strconv.FormatInt(r.ID, 10), "drop_activity", r.Type+" "+r.Activity)
		if !r.Parked {
			buttons = buttons[:1]
		}
		t.Rows = append(t.Rows, web.Row{Cells: []string{r.Type + " " + r.Activity, r.Signer, p.timeText(&r.ReceivedAt), strconv.Itoa(r.Attempts), r.LastError}, Buttons: buttons})
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
	var e federation.Explanation
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

// facts are the rows of what is known.
func (p *page) facts(e *federation.Explanation) (rows []web.Row) {
	for _, f := range e.Facts() {
		parts := []string{f.Text, "", p.timeText(f.At)}
		if f.State != "" {
			parts[1] = p.text("admin.explain.state_" + f.State)
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		rows = append(rows, web.Row{Cells: []string{p.text("admin.explain." + f.Name), strings.Join(parts, ", ")}})
	}
	return rows
}

// explained are the lists of an explanation that have rows.
func (p *page) explained(e *federation.Explanation) []web.Table {
	var tables []web.Table
	add := func(t web.Table) {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	recipients := web.Table{Title: "admin.explain.recipients", Columns: []string{"admin.domain", "admin.explain.state", "admin.last_error"}}
	for _, to := range e.Recipients[:min(len(e.Recipients), maxShownHosts)] {
		state := p.text("admin.explain.state_" + strings.NewReplacer(":", "", " ", "_").Replace(to.State))
		recipients.Rows = append(recipients.Rows, web.Row{Cells: []string{to.Host, state, to.LastError}, URL: "/web/admin/deliveries?host=" + url.QueryEscape(to.Host)})
	}
	refusals := web.Table{Title: "admin.explain.refusals", Columns: []string{"admin.time", "admin.domain", "admin.deliveries.activity", "admin.comment"}}
	for _, r := range e.Refusals {
		refusals.Rows = append(refusals.Rows, web.Row{Cells: []string{p.timeText(&r.At), r.Host, r.Activity, r.Reason}})
	}
	add(recipients)
	add(deliveryTable(p, e.Deliveries))
	add(refusals)
	add(incomingTable(p, e.Queued))
	return tables
}
