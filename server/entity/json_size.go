package entity

// The sizes of entities: estimates of their bytes of JSON, from the rendered parts. They end pages, and decide how much memory an answer takes
// before anything is copied into it.

// smallMembers is what members without a size of their own have together.
const smallMembers = 400

// JSONSize returns about how many bytes of JSON the account has.
func (a Account) JSONSize() int {
	if a.cachedAccount == nil {
		return len("{}")
	}
	n := len(a.json) + len("{}}}")
	if a.relationship != nil {
		n += smallMembers + len(a.relationship.Note)
	}
	if a.staff != nil || a.forStaff {
		n += smallMembers
	}
	return n
}

// JSONSize returns about how many bytes of JSON the status has. A boost has the members of the boosted status twice, and each of them its quote
// twice.
func (s *Status) JSONSize() int {
	o := s.original()
	n := s.account.JSONSize() + o.membersSize()
	if s.reblog != nil {
		n += len(s.json) + s.reblog.JSONSize()
	}
	if s.text != nil {
		n += 2 * len(*s.text)
	}
	return n
}

// membersSize is what a status has, and a boost of it shows.
func (s *Status) membersSize() int {
	n := len(s.document.json) + len(s.quoteURL) + len(s.uri)
	if s.cardAuthor.cachedAccount != nil {
		n += s.cardAuthor.JSONSize()
	}
	if s.poll != nil {
		n += s.poll.size() + smallMembers
	}
	if s.quoteShown != "" {
		n += smallMembers / 2
	}
	if s.quote != nil {
		n += 2 * s.quote.JSONSize()
	}
	if s.reactions != nil {
		n += reactionsSize(s.reactions)
	}
	if s.filtered != nil {
		n += len(s.appendFiltered(nil))
	}
	return n
}

// JSONSize returns about how many bytes of JSON the notification has.
func (n *Notification) JSONSize() int {
	size := n.account.JSONSize() + smallMembers
	if n.status != nil {
		size += n.status.JSONSize()
	}
	return size + n.detailsSize()
}

// detailsSize is what only some types have.
func (n *Notification) detailsSize() int {
	if n.target.cachedAccount == nil && n.report == nil && n.message == nil && n.fallback == nil {
		return 0
	}
	return len(n.appendDetails(nil))
}

// JSONSize returns about how many bytes of JSON the groups have.
func (g *GroupedNotifications) JSONSize() int {
	n := g.Accounts.JSONSize() + g.Statuses.JSONSize() + smallMembers*len(g.Groups)
	for _, a := range g.PartialAccounts {
		n += smallMembers + len(a.URL) + len(a.Avatar) + len(a.AvatarStatic)
	}
	for _, group := range g.Groups {
		n += group.newest.detailsSize()
	}
	return n
}

// JSONSize returns about how many bytes of JSON the conversation has.
func (c *Conversation) JSONSize() int {
	n := c.accounts.JSONSize() + c.recipients.JSONSize() + smallMembers
	if c.last != nil {
		n += c.last.JSONSize()
	}
	return n
}

// JSONSize returns about how many bytes of JSON the context has.
func (c Context) JSONSize() int {
	return c.Ancestors.JSONSize() + c.Descendants.JSONSize() + smallMembers
}
