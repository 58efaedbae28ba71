package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The statements of a takeover that only it needs: with ids that it has chosen.
var (
	takeFavourite = insert[Favourite]("INSERT INTO favourites", "")
	takeApp       = insert[App]("INSERT INTO oauth_apps", "")
	takeMarker    = insert[Marker]("INSERT INTO markers", "")
	takePollVote  = insert[PollVote]("INSERT INTO poll_votes", "")
)

// Take inserts a row of svc takeover with the ids and times that it has, and its entry in the search of accounts. Counters, the search of posts and
// home timelines are left to a recount. It returns false, and no error, if a constraint refuses the row, for instance because its URI is not unique.
// Nothing is sent to streams or other servers.
func (tx *Tx) Take(ctx context.Context, row any) (bool, error) {
	err := tx.take(ctx, row)
	if e := new(sqlite.Error); errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT {
		return false, nil
	}
	return err == nil, err
}

func (tx *Tx) take(ctx context.Context, row any) error {
	switch row := row.(type) {
	case *Account:
		return tx.AddAccount(ctx, row)
	case *User:
		return tx.AddUser(ctx, row)
	case *Actor:
		return tx.SaveActor(ctx, row)
	case *ActorKey:
		return tx.AddActorKey(ctx, row)
	case *Status:
		orEmpty(&row.Emojis.V)
		return insertTaken(ctx, tx, &insertStatus, row)
	case *Recipient:
		return insertTaken(ctx, tx, &insertRecipient, row)
	case *RemoteStatus:
		return insertTaken(ctx, tx, &saveRemoteStatus, row)
	case *StatusEdit:
		return tx.AddStatusEdit(ctx, row)
	case *Poll:
		return insertTaken(ctx, tx, &insertPoll, row)
	case *PollVote:
		return insertTaken(ctx, tx, &takePollVote, row)
	case *Media:
		if err := checkType(row.Type, MediaTypes); err != nil {
			return err
		}
		return insertTaken(ctx, tx, &insertMedia, row)
	case *Follow:
		row.ID = FollowID(tx.newID())
		orEmpty(&row.Languages.V)
		return insertTaken(ctx, tx, &insertFollow, row)
	case *Mute:
		return insertTaken(ctx, tx, &saveMute, row)
	case *Favourite:
		row.ID = FavouriteID(tx.newID())
		return insertTaken(ctx, tx, &takeFavourite, row)
	case *Reaction:
		row.ID = ReactionID(tx.newID())
		return insertTaken(ctx, tx, &insertReaction, row)
	case *ChatMessage:
		return insertTaken(ctx, tx, &insertChatMessage, row)
	case *Chat:
		return insertTaken(ctx, tx, &insertChat, row)
	case *ChatCopy:
		return insertTaken(ctx, tx, &insertChatCopy, row)
	case *List:
		return insertTaken(ctx, tx, &insertList, row)
	case *UserFilter:
		return insertTaken(ctx, tx, &insertFilter, row)
	case *Marker:
		return insertTaken(ctx, tx, &takeMarker, row)
	case *App:
		return insertTaken(ctx, tx, &takeApp, row)
	case *Token:
		id, err := value[TokenID](ctx, tx.reader, "take token", insertToken.text, insertToken.args(row)...)
		row.ID = id
		return err
	case *Report:
		orEmpty(&row.Rules.V)
		orEmpty(&row.Collections.V)
		return insertTaken(ctx, tx, &insertReport, row)
	case *ReportedStatus:
		return insertTaken(ctx, tx, &insertReportedStatus, row)
	case *ReportNote:
		return insertTaken(ctx, tx, &insertReportNote, row)
	case *Announcement:
		return insertTaken(ctx, tx, &insertAnnouncement, row)
	}
	return fmt.Errorf("takeover: there is no statement for %T", row)
}

func insertTaken[T any](ctx context.Context, tx *Tx, s *rowStatement[T], row *T) error {
	return tx.exec(ctx, "take over", s.text, s.args(row)...)
}

// TakeBlock inserts a block with the id of its activity, "" if there is none.
func (tx *Tx) TakeBlock(ctx context.Context, account, target AccountID, uri string) error {
	return tx.exec(ctx, "take block", `
		INSERT OR IGNORE INTO blocks (account_id, target_id, uri)
		VALUES (?, ?, nullif(?, ''))`, account, target, uri)
}

// TakePin pins a post at a time.
func (tx *Tx) TakePin(ctx context.Context, id StatusID, author AccountID, at Time) error {
	return tx.exec(ctx, "take pin", `
		INSERT OR IGNORE INTO pins (status_id, account_id, pinned_at)
		VALUES (?, ?, ?)`, id, author, at)
}

// TakeFeaturedTag adds a hashtag to a profile.
func (tx *Tx) TakeFeaturedTag(ctx context.Context, account AccountID, name string) error {
	id, err := tx.addTag(ctx, name)
	if err != nil {
		return err
	}
	return tx.exec(ctx, "take featured tag", `
		INSERT OR IGNORE INTO featured_tags (id, account_id, tag_id)
		VALUES (?, ?, ?)`, tx.newID(), account, id)
}

// TakeListMember adds a member to a list.
func (tx *Tx) TakeListMember(ctx context.Context, id ListID, member AccountID) error {
	return tx.exec(ctx, "take list member", `INSERT OR IGNORE INTO list_members (list_id, account_id) VALUES (?, ?)`, id, member)
}

// TakeParent makes a post a reply to another one that was stored after it.
func (tx *Tx) TakeParent(ctx context.Context, id, parent StatusID) error {
	return tx.exec(ctx, "take parent", `UPDATE statuses SET in_reply_to_id = ? WHERE id = ?`, parent, id)
}

// SetTakenPictures gives a local account the files of its avatar and header.
func (tx *Tx) SetTakenPictures(ctx context.Context, a *Account) error {
	return tx.exec(ctx, "take pictures", `
		UPDATE accounts
		SET avatar = ?, avatar_static = ?, header = ?, header_static = ?
		WHERE id = ?`, a.Avatar, a.AvatarStatic, a.Header, a.HeaderStatic, a.ID)
}

// takeoverGroup is the group of settings whose rows are the positions of a takeover. No setting has it.
const takeoverGroup = "takeover"

// TakeoverPosition returns how far a step of a takeover is: the position that SetTakeoverPosition has stored, 0 if there is none.
func (r reader) TakeoverPosition(ctx context.Context, step string) (int64, error) {
	found, err := one[string](ctx, r, "takeover position", `SELECT value FROM settings WHERE group_name = ? AND key = ?`, takeoverGroup, step)
	if err != nil || found == nil {
		return 0, err
	}
	return strconv.ParseInt(*found, 10, 64)
}

// SetTakeoverPosition stores how far a step is, in the transaction of its rows.
func (tx *Tx) SetTakeoverPosition(ctx context.Context, step string, position int64) error {
	return tx.SetSettingRow(ctx, SettingRow{takeoverGroup, step, strconv.FormatInt(position, 10)})
}

// EndTakeover removes the positions.
func (tx *Tx) EndTakeover(ctx context.Context) error {
	return tx.exec(ctx, "end takeover", `DELETE FROM settings WHERE group_name = ?`, takeoverGroup)
}

// TakenConversations returns direct posts after an id that local accounts are recipients of, oldest first.
func (r reader) TakenConversations(ctx context.Context, after StatusID, limit int) ([]*Status, error) {
	return list[*Status](ctx, r, "direct posts", `
		SELECT *
		FROM statuses
		WHERE id > ? AND visibility = 4 AND reblog_of_id IS NULL
		ORDER BY id
		LIMIT ?`, after, limit)
}

// SetTakenMove stores where an account has moved to.
func (tx *Tx) SetTakenMove(ctx context.Context, id, to AccountID) error {
	return tx.exec(ctx, "take move", `UPDATE accounts SET moved_to_id = ? WHERE id = ?`, to, id)
}

// CountTakenMedia sets whether a post has attachments, because one did not come along.
func (tx *Tx) CountTakenMedia(ctx context.Context, id StatusID) error {
	return tx.exec(ctx, "count attachments", `
		UPDATE statuses
		SET has_media = EXISTS (SELECT 1 FROM media WHERE status_id = ?1 AND position >= 0)
		WHERE id = ?1`, id)
}

// TakeRule inserts a rule with its id, which reports name.
func (tx *Tx) TakeRule(ctx context.Context, rule *Rule) error {
	return tx.exec(ctx, "take rule", `INSERT OR IGNORE INTO rules (id, priority, text, hint) VALUES (?, ?, ?, ?)`, rule.ID, rule.Priority, rule.Text, rule.Hint)
}

// SetTakenRead marks the conversation of an account as read.
func (tx *Tx) SetTakenRead(ctx context.Context, owner AccountID, id ConversationID) error {
	return tx.exec(ctx, "take read conversation", `UPDATE direct_conversations SET read_id = last_status_id WHERE account_id = ? AND conversation_id = ?`, owner, id)
}
