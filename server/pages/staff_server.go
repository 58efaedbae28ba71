package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"svc/admin"
	"svc/internal/doctor"
	"svc/media"
	"svc/server/rest"
	"svc/server/web"
)

// serverRoutes are the pages about the state of the server: its jobs, its storage, and the checks of svc doctor.
func (h *Handlers) serverRoutes() rest.Routes {
	return rest.Routes{
		"GET /web/admin/jobs":    {rest.SignedIn, h.page((*page).jobs)},
		"GET /web/admin/storage": {rest.SignedIn, h.page((*page).storage)},
		"GET /web/admin/doctor":  {rest.SignedIn, h.page((*page).doctor)},
		"POST /web/admin/doctor": {rest.SignedIn, h.page((*page).runDoctor)},
	}
}

const (
	jobsPath    = "/api/v1/svc/admin/jobs"
	storagePath = "/api/v1/svc/admin/storage"
)

// button returns a button that calls an endpoint.
func button(label, method, path string, arguments ...string) web.RowButton {
	query := url.Values{methodParam: {method}}
	for i := 0; i+1 < len(arguments); i += 2 {
		query.Set(arguments[i], arguments[i+1])
	}
	return web.RowButton{Label: label, Action: "/web/do" + path + "?" + query.Encode(), Danger: query.Has(askParam)}
}

// jobs shows the queue of background jobs, and those that failed at their last attempt.
func (p *page) jobs() (any, error) {
	var queue admin.JobQueue
	a, err := p.list(jobsPath, p.cursors(staffPerPage), &queue)
	if err != nil {
		return nil, err
	}
	content := web.StaffPage{Title: "admin.jobs.title", Intro: "admin.jobs.intro"}
	if queue.OverdueSeconds > 0 {
		content.Texts = append(content.Texts, p.text("admin.jobs.overdue", (time.Duration(queue.OverdueSeconds)*time.Second).String()))
	}
	parked := web.Table{
		Title: "admin.jobs.parked", Columns: []string{"admin.jobs.kind", "admin.attempts", "admin.last_error", "admin.actions"}, Empty: "admin.jobs.none",
	}
	for _, j := range queue.Parked {
		path := jobsPath + "/" + strconv.FormatInt(int64(j.ID), 10)
		parked.Rows = append(parked.Rows, web.Row{Cells: []string{j.Kind, strconv.Itoa(j.Attempts), j.LastError}, Buttons: []web.RowButton{
			button("admin.retry", "POST", path+"/retry", doneParam, "retried"),
			button("admin.drop", "DELETE", path, doneParam, "deleted", askParam, "drop_job", namedParam, j.Kind),
		}})
	}
	if len(queue.Parked) > 1 {
		content.Buttons = []web.RowButton{
			button("admin.retry_all", "POST", jobsPath+"/retry", doneParam, "retried"),
			button("admin.drop_all", "DELETE", jobsPath, doneParam, "deleted", askParam, "drop_jobs"),
		}
	}
	queued := web.Table{Title: "admin.jobs.queued", Columns: []string{"admin.jobs.kind", "admin.jobs.queued_count", "admin.jobs.failed"}, Empty: "admin.none"}
	for _, k := range queue.Kinds {
		queued.Rows = append(queued.Rows, web.Row{Cells: []string{k.Kind, strconv.Itoa(k.Queued), strconv.Itoa(k.Parked)}})
	}
	content.Tables = []web.Table{parked, queued}
	content.Newer, content.Older = p.links(a)
	return p.show(http.StatusOK, content)
}

// storage shows what the data directory takes.
func (p *page) storage() (any, error) {
	var usage media.Usage
	if err := p.get(storagePath, nil, &usage); err != nil {
		return nil, err
	}
	content := web.StaffPage{
		Title: "admin.storage.title", Intro: "admin.storage.intro",
		Buttons: []web.RowButton{button("admin.storage.prune", "POST", storagePath+"/prune", doneParam, "pruning")},
		Links:   []web.Link{{Title: "admin.media.title", Hint: "admin.media.about", URL: "/web/admin/media"}},
	}
	if usage.Full {
		content.Texts = append(content.Texts, p.text("admin.storage.full", usage.Reason))
	}
	if usage.Critical {
		content.Texts = append(content.Texts, p.text("admin.storage.critical"))
	}
	content.Texts = append(content.Texts, p.text("admin.storage.free", p.frame.Messages.Bytes(usage.DiskFree), p.frame.Messages.Bytes(usage.MinFree)))
	table := web.Table{Columns: []string{"admin.storage.class", "admin.storage.files", "admin.storage.size", "admin.storage.limit", "admin.storage.used"}}
	row := func(name string, count, bytes, limit int64) {
		r := web.Row{Cells: []string{name, "", p.frame.Messages.Bytes(bytes), ""}}
		if count > 0 {
			r.Cells[1] = strconv.FormatInt(count, 10)
		}
		if limit > 0 {
			r.Cells[3], r.Meter = p.frame.Messages.Bytes(limit), &web.Meter{Value: min(bytes, limit), Max: limit}
		} else {
			r.Cells = append(r.Cells, "") // in place of the meter
		}
		table.Rows = append(table.Rows, r)
	}
	for _, c := range usage.Classes {
		row(p.text("admin.storage.class_"+string(c.Name)), c.Count, c.Bytes, c.Limit)
	}
	row(p.text("admin.storage.remote_posts"), usage.RemotePosts.Count, usage.RemotePosts.EstimatedBytes, usage.RemotePosts.Limit)
	row(p.text("admin.storage.total"), 0, usage.Total, usage.Limit)
	content.Tables = []web.Table{table}
	return p.show(http.StatusOK, content)
}

// doctor offers to run the checks of svc doctor.
func (p *page) doctor() (any, error) {
	if !p.User.IsAdmin {
		return nil, errNoPage
	}
	return p.show(http.StatusOK, doctorPage())
}

func doctorPage() web.StaffPage {
	return web.StaffPage{
		Title: "admin.doctor.title", Intro: "admin.doctor.intro",
		Forms: []web.StaffForm{{Submit: "admin.doctor.run", Action: "/web/admin/doctor", Open: true}},
	}
}

// runDoctor runs the checks and shows their findings.
func (p *page) runDoctor() (any, error) {
	a, err := p.Call("POST", "/api/v1/svc/admin/doctor", nil)
	content := doctorPage()
	if e := forUser(err); e != nil && e.Status == http.StatusConflict {
		content.Error = e.Message
		return p.show(e.Status, content)
	}
	if err != nil {
		return nil, err
	}
	var report doctor.Report
	if err := p.decode(a.Value, &report); err != nil {
		return nil, err
	}
	table := web.Table{Title: "admin.doctor.results", Columns: []string{"admin.doctor.check", "admin.doctor.state", "admin.doctor.seen"}}
	count := make(map[doctor.Status]int)
	for _, r := range report.Results {
		count[r.Status]++
		seen := r.Seen
		if r.Status != doctor.OK && r.Advice != "" {
			seen = fmt.Sprintf("%s → %s", seen, r.Advice)
		}
		table.Rows = append(table.Rows, web.Row{Cells: []string{r.Name, p.text("admin.doctor." + string(r.Status)), seen}})
	}
	content.Texts = []string{p.text("admin.doctor.summary", count[doctor.OK], count[doctor.Warning], count[doctor.Failure])}
	content.Tables = []web.Table{table}
	return p.show(http.StatusOK, content)
}
