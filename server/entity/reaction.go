package entity

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"svc/store"
)

// cachedReaction is how many react to a status with an emoji, as everybody sees it.
type cachedReaction struct {
	emoji string
	count int
	name  []byte // JSON text
	url   []byte // of the picture of a custom emoji, JSON text
}

func reactionsSize(list []cachedReaction) int {
	n := 0
	for _, r := range list {
		n += 100 + len(r.emoji) + len(r.name) + len(r.url)
	}
	return n
}

// loadReactions renders the reactions to statuses.
func (b *Builder) loadReactions(ctx context.Context, ids []store.StatusID) (map[store.StatusID][]cachedReaction, error) {
	counts, err := b.db.ReactionCounts(ctx, ids)
	if err != nil || len(counts) == 0 {
		return nil, err
	}
	of := make(map[store.StatusID][]cachedReaction)
	for _, c := range counts {
		r := cachedReaction{emoji: c.Emoji, count: c.Count}
		if r.name, err = marshal(c.Emoji); err != nil {
			return nil, err
		}
		if r.url, err = marshal(b.reactionPicture(c)); err != nil {
			return nil, err
		}
		of[c.StatusID] = append(of[c.StatusID], r)
	}
	for id, list := range of {
		of[id] = reactionsWithin(list, maxReactionsIn)
	}
	return of, nil
}

// reactionPicture returns the address of the picture of a custom emoji, nil for a unicode one. That of one of this server is where
// its pack has it now, if one still does.
func (r *renderer) reactionPicture(c store.ReactionCount) *string {
	if strings.Contains(c.Emoji, "@") {
		url := r.proxied(c.URL)
		return &url
	}
	if e := r.emojis.Find(c.Emoji); e != nil {
		url := r.Settings.BaseURL + e.Path
		return &url
	}
	return nil
}

// viewerReactions is what of the reactions to a status depends on the viewer.
type viewerReactions struct {
	own    []string       // what the viewer reacts with
	hidden map[string]int // how many with each emoji the viewer is not shown
}

// maxReactionsFiltered is up to how many reactions of a status those of hidden accounts are subtracted, because all have to be
// searched for them.
const maxReactionsFiltered = 500

// addReactions sets the viewer's own reactions, and those that are hidden from the viewer.
func (b *Builder) addReactions(ctx context.Context, viewer *store.Account, originals List[*Status]) error {
	var with []*Status
	var ids, countHidden []store.StatusID
	for _, s := range originals {
		if len(s.reactions) == 0 {
			continue
		}
		with, ids = append(with, s), append(ids, s.id)
		total := 0
		for _, r := range s.reactions {
			total += r.count
		}
		if total <= maxReactionsFiltered {
			countHidden = append(countHidden, s.id)
		}
	}
	if len(with) == 0 {
		return nil
	}
	of, err := b.viewerReactions(ctx, viewer, unique(ids), unique(countHidden), false)
	for _, s := range with {
		s.reactionsOfViewer = of[s.id]
	}
	return err
}

// viewerReactions returns what of the reactions depends on the viewer: the own ones, and the hidden ones of the statuses in countHidden.
func (b *Builder) viewerReactions(ctx context.Context, viewer *store.Account, ids, countHidden []store.StatusID, withMuted bool) (map[store.StatusID]*viewerReactions, error) {
	of := make(map[store.StatusID]*viewerReactions)
	at := func(id store.StatusID) *viewerReactions {
		if of[id] == nil {
			of[id] = &viewerReactions{hidden: make(map[string]int)}
		}
		return of[id]
	}
	if viewer != nil {
		own, err := b.db.ReactionsTo(ctx, viewer.ID, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range own {
			at(r.StatusID).own = append(at(r.StatusID).own, r.Emoji)
		}
	}
	hidden, err := b.db.HiddenReactions(ctx, idOf(viewer), countHidden, withMuted)
	for _, r := range hidden {
		at(r.StatusID).hidden[r.Emoji] = r.Count
	}
	return of, err
}

// counts returns the number of visible reactions with an emoji, and whether the viewer's is one of them.
func (v *viewerReactions) counts(emoji string, count int) (shown int, me bool) {
	if v == nil {
		return count, false
	}
	return count - v.hidden[emoji], slices.Contains(v.own, emoji)
}

// appendReactions appends the reactions without their accounts (spec 2.10).
func (s *Status) appendReactions(dst []byte) []byte {
	s = s.original()
	dst = append(dst, '[')
	first := true
	for _, r := range s.reactions {
		count, me := s.reactionsOfViewer.counts(r.emoji, r.count)
		if count <= 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, `{"name":`...), r.name...)
		dst = strconv.AppendInt(append(dst, `,"count":`...), int64(count), 10)
		dst = appendBool(dst, `,"me":`, me)
		dst = append(append(append(dst, `,"url":`...), r.url...), '}')
	}
	return append(dst, ']')
}

// Reaction are the reactions to a status with one emoji.
type Reaction struct {
	Name     string        `json:"name"`
	Count    int           `json:"count"`
	Me       bool          `json:"me"`
	Accounts List[Account] `json:"accounts"` // the newest first, bounded
	URL      *string       `json:"url"`
}

// Bounds of the accounts of reactions.
const (
	MaxReactors         = 1000 // in all
	maxReactorsPerEmoji = 80
	maxReactorBytes     = 1 << 20 // of their JSON
)

// Reactions returns the reactions to a status in order of first use, with one emoji unless it is "". withMuted includes those of muted
// accounts. There are at most so many accounts in all.
func (b *Builder) Reactions(ctx context.Context, viewer *store.Account, id store.StatusID, emoji string, withMuted bool, most int) ([]Reaction, error) {
	counts, err := b.db.ReactionCounts(ctx, []store.StatusID{id})
	if err != nil {
		return nil, err
	}
	total := 0
	for _, c := range counts {
		total += c.Count
	}
	if emoji != "" {
		counts = slices.DeleteFunc(counts, func(c store.ReactionCount) bool { return c.Emoji != emoji })
	}
	if len(counts) == 0 {
		return []Reaction{}, nil
	}
	ids := []store.StatusID{id}
	countHidden := ids
	if total > maxReactionsFiltered {
		countHidden = nil
	}
	of, err := b.viewerReactions(ctx, viewer, ids, countHidden, withMuted)
	if err != nil {
		return nil, err
	}
	reactors, err := b.db.Reactors(ctx, idOf(viewer), id, emoji, withMuted, min(maxReactorsPerEmoji, most/len(counts)))
	if err != nil {
		return nil, err
	}
	accountIDs := make([]store.AccountID, 0, len(reactors))
	for _, r := range reactors {
		accountIDs = append(accountIDs, r.AccountID)
	}
	accounts, err := b.loadAccounts(ctx, unique(accountIDs))
	if err != nil {
		return nil, err
	}
	list := make([]Reaction, 0, len(counts))
	left := maxReactorBytes
	for _, c := range counts {
		r := Reaction{Name: c.Emoji, Accounts: List[Account]{}, URL: b.reactionPicture(c)}
		if r.Count, r.Me = of[id].counts(c.Emoji, c.Count); r.Count <= 0 {
			continue
		}
		for _, by := range reactors {
			a, ok := accounts[by.AccountID]
			if !ok || by.Emoji != c.Emoji {
				continue
			}
			if left -= len(a.json); left < 0 {
				break
			}
			r.Accounts = append(r.Accounts, a)
		}
		list = append(list, r)
	}
	return list, nil
}
