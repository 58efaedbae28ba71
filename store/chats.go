package store

import "context"

// Chat is one side of a chat of an account with another one, or with itself. A local account on the other side has a Chat of its own.
type Chat struct {
	ID        ChatID
	AccountID AccountID // the owner
	OtherID   AccountID
	Position  ChatMessageID // of the last message, or a new id if there is none: lists are ordered and paged by it
	UpdatedAt Time
}

// ChatSummary is a chat with the figures that the API returns.
type ChatSummary struct {
	Chat
	Unread int            // up to 1000
	LastID *ChatMessageID // nil: there are no messages
}

// chatFigures selects summaries of chats.
const chatFigures = `
		SELECT c.*, (
			SELECT count(*)
			FROM (
				SELECT 1
				FROM chat_copies x INDEXED BY chat_copies_unread
				WHERE x.chat_id = c.id AND x.unread = 1
				LIMIT 1000)
			) AS unread, (
			SELECT max(x.id)
			FROM chat_copies x INDEXED BY chat_copies_chat
			WHERE x.chat_id = c.id) AS last_id
		FROM chats c`

// chatSummary selects summaries of the chats of the owner ?1 with the lookups ?2, without chats with unavailable accounts.
var chatSummary = chatFigures + `
		WHERE c.account_id = ?1
			AND (c.other_id = ?1 OR ` + available("c.other_id") + `)`

// chatList are the queries of a page of chats. It leaves out chats with unavailable and blocked accounts and, unless ?3 is set, with muted
// ones (extension API 11.3). Clients that ignore Link headers page by chat ids, which stand for the current position of the chat.
var chatList = newKeyset(`
		SELECT CASE WHEN (c.other_id = ?1 OR ` + available("c.other_id") + `)
			AND ` + notBlocked("c.other_id") + `
			AND ` + notOfBlockedDomain("c.other_id") + `
			AND (?3 OR ` + notMuted("c.other_id") + `) THEN c.position ELSE -c.position END AS marked
		FROM chats c
		WHERE c.account_id = ?1
			AND c.position < ifnull((SELECT x.position FROM chats x WHERE x.id = ?4 AND x.account_id = ?1), ?4)
			AND c.position > ifnull((SELECT x.position FROM chats x WHERE x.id = ?5 AND x.account_id = ?1), ?5)
		ORDER BY c.position DESC
		LIMIT ?6`)

// Chats returns a page of an account's chats, latest update first, paged by Position.
func (r reader) Chats(ctx context.Context, owner AccountID, withMuted bool, p Page) (Part[*ChatSummary], error) {
	l, err := r.lookups(ctx, owner)
	if err != nil {
		return Part[*ChatSummary]{}, err
	}
	query, below, above, _ := chatList.query(p)
	budget := max(scanBudget, p.Limit)
	found, err := scanPart(ctx, r, "chats", query, p, budget, scanMarkedID[ChatMessageID], owner, l, withMuted, below, above, budget)
	if err != nil || len(found.Rows) == 0 {
		return Part[*ChatSummary]{Next: found.Next}, err
	}
	rows, err := list[*ChatSummary](ctx, r, "chats", chatFigures+`
		WHERE c.account_id = ? AND c.position IN (SELECT value FROM json_each(?))
		ORDER BY c.position DESC`, owner, jsonArray(found.Rows))
	return Part[*ChatSummary]{Rows: rows, Next: found.Next}, err
}

// VisibleChat returns a chat of the owner, and errs.ErrRecordNotFound if there is none or the other account is unavailable.
func (r reader) VisibleChat(ctx context.Context, owner AccountID, id ChatID) (*ChatSummary, error) {
	l, err := r.lookups(ctx, owner)
	if err != nil {
		return nil, err
	}
	return get[ChatSummary](ctx, r, "chat", chatSummary+` AND c.id = ?3`, owner, l, id)
}

// StaffChats returns an account's chats, latest update first, with those of blocked accounts.
func (r reader) StaffChats(ctx context.Context, owner AccountID, limit int) ([]*ChatSummary, error) {
	return list[*ChatSummary](ctx, r, "chats for staff", chatFigures+`
		WHERE c.account_id = ?
		ORDER BY c.position DESC
		LIMIT ?`, owner, limit)
}

// StaffChat returns a chat of any account, and errs.ErrRecordNotFound if there is none.
func (r reader) StaffChat(ctx context.Context, id ChatID) (*ChatSummary, error) {
	return get[ChatSummary](ctx, r, "chat for staff", chatFigures+` WHERE c.id = ?`, id)
}

// OwnChat returns a chat of the owner, visible or not, and errs.ErrRecordNotFound if there is none.
func (r reader) OwnChat(ctx context.Context, owner AccountID, id ChatID) (*Chat, error) {
	return get[Chat](ctx, r, "chat", `SELECT * FROM chats WHERE id = ? AND account_id = ?`, id, owner)
}

// ChatWith returns the owner's chat with another account, nil if there is none.
func (r reader) ChatWith(ctx context.Context, owner, other AccountID) (*Chat, error) {
	return one[Chat](ctx, r, "chat", `SELECT * FROM chats WHERE account_id = ? AND other_id = ?`, owner, other)
}

// CountChats counts the chats of an account, up to limit.
func (r reader) CountChats(ctx context.Context, owner AccountID, limit int) (int, error) {
	return value[int](ctx, r, "count chats", `
		SELECT count(*)
		FROM (SELECT 1 FROM chats WHERE account_id = ? LIMIT ?)`, owner, limit)
}

// AddChat inserts a chat. There must be none with the same accounts. Its ID, Position and UpdatedAt are set.
func (tx *Tx) AddChat(ctx context.Context, c *Chat) error {
	c.ID, c.Position, c.UpdatedAt = ChatID(tx.newID()), ChatMessageID(tx.newID()), At(tx.db.now())
	return tx.exec(ctx, "add chat", insertChat.text, insertChat.args(c)...)
}

// ReadChat marks the messages of a chat up to upTo as read.
func (tx *Tx) ReadChat(ctx context.Context, id ChatID, upTo ChatMessageID) error {
	return tx.exec(ctx, "read chat", `
		UPDATE chat_copies INDEXED BY chat_copies_unread
		SET unread = 0
		WHERE chat_id = ? AND unread = 1 AND id <= ?`, id, upTo)
}
