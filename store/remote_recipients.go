package store

import "context"

// RemoteRecipient is where an account elsewhere takes things in.
type RemoteRecipient struct {
	AccountID   AccountID
	URI         string
	Domain      string
	Inbox       string
	SharedInbox string // "": the server has none
}

// DeliveryInbox returns where the account takes what many on its server get.
func (m *RemoteRecipient) DeliveryInbox() string {
	if m.SharedInbox != "" {
		return m.SharedInbox
	}
	return m.Inbox
}

// RemoteRecipients returns where those of the accounts that live elsewhere take things in, in the order of ids. Left out are accounts that are
// withheld and those that block sender or are blocked by it; 0 is a sender whom nobody blocks.
func (r reader) RemoteRecipients(ctx context.Context, sender AccountID, ids []AccountID) ([]*RemoteRecipient, error) {
	return list[*RemoteRecipient](ctx, r, "mailboxes", `
		SELECT DISTINCT x.account_id, a.uri, a.domain, x.inbox, x.shared_inbox
		FROM json_each(?1) j
		CROSS JOIN actors x ON x.account_id = j.value
		CROSS JOIN accounts a ON a.id = x.account_id
		WHERE a.unavailable = 0
			AND NOT EXISTS (SELECT 1 FROM blocks WHERE account_id = ?2 AND target_id = x.account_id)
			AND NOT EXISTS (SELECT 1 FROM blocks WHERE account_id = x.account_id AND target_id = ?2)
		ORDER BY x.account_id`, jsonArray(ids), sender)
}
