package entity

import (
	"context"

	"svc/store"
)

// Bounds of the list of grouped reports.
const (
	maxReportGroups   = 100
	maxReportsOfGroup = 20
)

// GroupedReport has the reports of one status. They show only this status.
type GroupedReport struct {
	Date    store.Time     `json:"date"` // of the latest report
	Account Account        `json:"account"`
	Status  groupedStatus  `json:"status"`
	Actors  []Account      `json:"actors"` // who reported it
	Reports []*StaffReport `json:"reports"`
}

// groupedStatus is a status with whether it is deleted.
type groupedStatus struct {
	*Status
	id store.StatusID
}

// MarshalJSON adds the member deleted. Of a deleted status it shows only the id.
func (s groupedStatus) MarshalJSON() ([]byte, error) {
	if s.cachedStatus.id == 0 {
		return marshal(map[string]any{"id": s.id, "deleted": true})
	}
	dst := s.AppendJSON(nil)
	return append(dst[:len(dst)-1], `,"deleted":false}`...), nil
}

// GroupedReports groups reports, newest first, by the statuses that they are about. The status with the latest report comes first.
func (b *Builder) GroupedReports(ctx context.Context, viewer *store.Account, ids []store.ReportID) ([]*GroupedReport, error) {
	p, err := b.loadReportParts(ctx, viewer, ids, listedStatuses)
	if err != nil {
		return nil, err
	}
	reports := p.render()
	seen := make(map[store.ReportID]int, len(ids)) // statuses of a report that were grouped
	groupOf := make(map[store.StatusID]*GroupedReport)
	groups := []*GroupedReport{}
	for _, row := range p.reported {
		report := reports[row.ReportID]
		if report == nil {
			continue
		}
		status := report.Statuses[seen[row.ReportID]]
		seen[row.ReportID]++
		g := groupOf[row.OriginalStatusID]
		if g == nil {
			if len(groups) == maxReportGroups {
				continue
			}
			g = &GroupedReport{Date: report.CreatedAt, Account: report.Account, Status: groupedStatus{status, row.OriginalStatusID}}
			groupOf[row.OriginalStatusID] = g
			groups = append(groups, g)
		}
		g.add(report, status)
	}
	return groups, nil
}

// add adds a report of the status.
func (g *GroupedReport) add(report *StaffReport, status *Status) {
	if len(g.Reports) == maxReportsOfGroup {
		return
	}
	one := *report
	one.Statuses = List[*Status]{status}
	g.Reports = append(g.Reports, &one)
	for _, a := range g.Actors {
		if a.cachedAccount != nil && report.Actor.cachedAccount != nil && a.id == report.Actor.id {
			return
		}
	}
	g.Actors = append(g.Actors, report.Actor)
}
