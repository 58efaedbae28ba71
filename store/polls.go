package store

import (
	"context"
	"time"
)

// Poll is what a status asks. The counts of one from elsewhere are what its server says, and the votes from here in between.
type Poll struct {
	ID          PollID
	StatusID    StatusID
	Multiple    bool
	HideTotals  bool  // of each option, until the end
	ExpiresAt   *Time // nil: open for good
	Closed      bool  // its end has been told of
	VotersCount *int  // nil: unknown
	FetchedAt   *Time // when the counts of one from elsewhere were heard of; nil: it was made here
	Options     JSON[[]PollOption]
}

// PollOption is an answer to choose.
type PollOption struct {
	Title string `json:"title"`
	Votes int    `json:"votes"`
}

// Ended tells whether the poll takes no more votes.
func (p *Poll) Ended(now time.Time) bool { return p.ExpiresAt != nil && !p.ExpiresAt.Time().After(now) }

// Titles returns the texts of the options, none if there is no poll.
func (p *Poll) Titles() []string {
	titles := []string{}
	if p != nil {
		for _, o := range p.Options.V {
			titles = append(titles, o.Title)
		}
	}
	return titles
}

// VotesCount returns the number of votes. Who chose several options has several.
func (p *Poll) VotesCount() int {
	n := 0
	for _, o := range p.Options.V {
		n += o.Votes
	}
	return n
}

// PollVote is somebody's vote for an option.
type PollVote struct {
	PollID    PollID
	AccountID AccountID
	Choice    int // place among the options
}

// Poll returns a poll whoever may see its status, and errs.ErrRecordNotFound if there is none.
func (r reader) Poll(ctx context.Context, id PollID) (*Poll, error) {
	p, err := one[Poll](ctx, r, "poll", `SELECT * FROM polls WHERE id = ?`, id)
	if p == nil && err == nil {
		err = notFound
	}
	return p, err
}

// PollOf returns the poll of a status, nil if it has none.
func (r reader) PollOf(ctx context.Context, id StatusID) (*Poll, error) {
	return one[Poll](ctx, r, "poll", `SELECT * FROM polls WHERE status_id = ?`, id)
}

// PollsOf returns the polls of the statuses, in no order.
func (r reader) PollsOf(ctx context.Context, ids []StatusID) ([]*Poll, error) {
	return list[*Poll](ctx, r, "polls", `
		SELECT p.*
		FROM json_each(?) j
		CROSS JOIN polls p ON p.status_id = j.value`, jsonArray(ids))
}

// VotesBy returns what an account voted in the polls, in order of poll and option.
func (r reader) VotesBy(ctx context.Context, account AccountID, polls []PollID) ([]PollVote, error) {
	return list[PollVote](ctx, r, "votes", `
		SELECT v.*
		FROM json_each(?2) j
		CROSS JOIN poll_votes v ON v.poll_id = j.value AND v.account_id = ?1
		ORDER BY j.key, v.choice`, account, jsonArray(polls))
}

// LocalVoters returns the accounts here that voted in a poll.
func (r reader) LocalVoters(ctx context.Context, id PollID) ([]AccountID, error) {
	return ids[AccountID](ctx, r, "voters", `
		SELECT DISTINCT v.account_id
		FROM poll_votes v
		CROSS JOIN users u ON u.account_id = v.account_id
		WHERE v.poll_id = ?`, id)
}

// PollsVotedIn returns some of the polls that an account voted in.
func (r reader) PollsVotedIn(ctx context.Context, account AccountID, limit int) ([]*Poll, error) {
	return list[*Poll](ctx, r, "polls voted in", `
		SELECT p.*
		FROM polls p
		WHERE p.id IN (SELECT poll_id FROM poll_votes WHERE account_id = ? LIMIT ?)`, account, limit)
}

// AddPoll gives a status a poll. Its ID is set.
func (tx *Tx) AddPoll(ctx context.Context, p *Poll) error {
	p.ID = PollID(tx.newID())
	_, err := tx.exec(ctx, "add poll", `
		INSERT INTO polls (id, status_id, multiple, hide_totals, expires_at, closed, voters_count, fetched_at, options)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.StatusID, p.Multiple, p.HideTotals, p.ExpiresAt, p.Closed, p.VotersCount, p.FetchedAt, p.Options)
	tx.invalidateStatus(p.StatusID)
	return err
}

// SavePoll writes a poll. The votes stay.
func (tx *Tx) SavePoll(ctx context.Context, p *Poll) error {
	_, err := tx.exec(ctx, "save poll", `
		UPDATE polls
		SET multiple = ?, hide_totals = ?, expires_at = ?, closed = ?, voters_count = ?, fetched_at = ?, options = ?
		WHERE id = ?`,
		p.Multiple, p.HideTotals, p.ExpiresAt, p.Closed, p.VotersCount, p.FetchedAt, p.Options, p.ID)
	tx.invalidateStatus(p.StatusID)
	return err
}

// RemovePoll takes a poll from its status, with the votes.
func (tx *Tx) RemovePoll(ctx context.Context, p *Poll) error {
	_, err := tx.exec(ctx, "remove poll", `DELETE FROM polls WHERE id = ?`, p.ID)
	tx.invalidateStatus(p.StatusID)
	return err
}

// AddVotes stores votes and counts them. voted tells whether the voter has voted in the poll before.
func (tx *Tx) AddVotes(ctx context.Context, p *Poll, voter AccountID, choices []int, voted bool) error {
	for _, c := range choices {
		if _, err := tx.exec(ctx, "add vote", `
			INSERT INTO poll_votes (poll_id, account_id, choice)
			VALUES (?, ?, ?)`, p.ID, voter, c); err != nil {
			return err
		}
		p.Options.V[c].Votes++
	}
	if p.VotersCount != nil && !voted {
		*p.VotersCount++
	}
	return tx.SavePoll(ctx, p)
}

// RemoveVotes takes away what an account voted in a poll. They are taken from the counts too, unless those are another server's.
func (tx *Tx) RemoveVotes(ctx context.Context, p *Poll, voter AccountID) error {
	votes, err := tx.VotesBy(ctx, voter, []PollID{p.ID})
	if err != nil || len(votes) == 0 {
		return err
	}
	if _, err := tx.exec(ctx, "remove votes", `
		DELETE FROM poll_votes
		WHERE poll_id = ? AND account_id = ?`, p.ID, voter); err != nil || p.FetchedAt != nil {
		return err
	}
	for _, v := range votes {
		p.Options.V[v.Choice].Votes--
	}
	if p.VotersCount != nil {
		*p.VotersCount--
	}
	return tx.SavePoll(ctx, p)
}

// DeleteVotes deletes some of the votes in the poll of a status, because it is about to go itself. Their number is not kept up.
func (tx *Tx) DeleteVotes(ctx context.Context, id StatusID, limit int) (n int64, err error) {
	return tx.exec(ctx, "forget votes", `
		DELETE FROM poll_votes
		WHERE (poll_id, account_id, choice) IN (
			SELECT v.poll_id, v.account_id, v.choice
			FROM polls p
			CROSS JOIN poll_votes v ON v.poll_id = p.id
			WHERE p.status_id = ?
			LIMIT ?)`, id, limit)
}

// DeleteAllVotes deletes the votes in a poll that begins anew.
func (tx *Tx) DeleteAllVotes(ctx context.Context, id PollID) error {
	_, err := tx.exec(ctx, "forget all votes", `DELETE FROM poll_votes WHERE poll_id = ?`, id)
	return err
}

// RemovePollNotifications takes back what was told of the end of the poll of a status, because it is another poll now.
func (tx *Tx) RemovePollNotifications(ctx context.Context, id StatusID) error {
	_, err := tx.exec(ctx, "withdraw poll notifications", `DELETE FROM notifications WHERE status_id = ? AND type = 'poll'`, id)
	return err
}
