package store

import (
	"context"
	"fmt"
)

// allDomains is the domain of the rows with the sums of status_counts.
const allDomains = "*"

// StatusCount is how many posts with a visibility are stored of a domain, without boosts.
type StatusCount struct {
	Domain     string // "": local; "*": all
	Visibility Visibility
	Count      int
}

// statusClass is what posts are counted by.
type statusClass struct {
	domain     string
	visibility Visibility
}

// countVisibility adds n to the counts of a status. Boosts are not counted.
func (tx *Tx) countVisibility(s *Status, n int) {
	if s.ReblogOfID != nil {
		return
	}
	if tx.statusCounts == nil {
		tx.statusCounts = make(map[statusClass]int)
	}
	tx.statusCounts[statusClass{s.Domain, s.Visibility}] += n
	tx.statusCounts[statusClass{allDomains, s.Visibility}] += n
}

// countStatuses writes the changes of the numbers of posts that a group has made, all at once.
func (w *writer) countStatuses(group []*request) error {
	sum := make(map[statusClass]int)
	for _, r := range group {
		if r.err == nil {
			for class, n := range r.tx.statusCounts {
				sum[class] += n
			}
		}
	}
	for class, n := range sum {
		if n == 0 {
			continue
		}
		if _, err := w.q.ExecContext(context.Background(), `
			INSERT INTO status_counts (domain, visibility, count) VALUES (?, ?, ?)
			ON CONFLICT (domain, visibility) DO UPDATE SET count = count + excluded.count`, class.domain, class.visibility, n); err != nil {
			return fmt.Errorf("count statuses: %w", err)
		}
		if n > 0 {
			continue
		}
		if _, err := w.q.ExecContext(context.Background(), `
			DELETE FROM status_counts
			WHERE domain = ? AND visibility = ? AND count <= 0`, class.domain, class.visibility); err != nil {
			return fmt.Errorf("count statuses: %w", err)
		}
	}
	return nil
}

// StatusCounts returns how many posts of a domain are stored, by visibility; "*" for all domains.
func (r reader) StatusCounts(ctx context.Context, domain string) ([]StatusCount, error) {
	return list[StatusCount](ctx, r, "status counts", `SELECT * FROM status_counts WHERE domain = ?`, domain)
}

// SetVisibility changes the audience of a status that is no boost, and the counters that depend on it. It emits StatusRemoved, also for
// its boosts, if the audience becomes smaller.
func (tx *Tx) SetVisibility(ctx context.Context, s *Status, v Visibility) error {
	if s.Visibility.Wider(v) {
		if err := tx.emitNarrowed(ctx, s); err != nil {
			return err
		}
	}
	return tx.setVisibility(ctx, s, v)
}

// setVisibility is SetVisibility without an event.
func (tx *Tx) setVisibility(ctx context.Context, s *Status, v Visibility) error {
	if err := tx.countStatus(ctx, s, -1); err != nil {
		return err
	}
	if err := tx.uncountTags(ctx, s); err != nil {
		return err
	}
	tx.countVisibility(s, -1)
	s.Visibility = v
	tx.invalidateStatus(s.ID)
	if err := tx.exec(ctx, "set visibility", `UPDATE statuses SET visibility = ? WHERE id = ?`, v, s.ID); err != nil {
		return err
	}
	if err := tx.exec(ctx, "set visibility of tags", `UPDATE status_tags SET visibility = ? WHERE status_id = ?`, v, s.ID); err != nil {
		return err
	}
	if err := tx.invalidateReplies(ctx, s.ID); err != nil {
		return err
	}
	tx.countVisibility(s, 1)
	if err := tx.countTags(ctx, s); err != nil {
		return err
	}
	return tx.countStatus(ctx, s, 1)
}
