package pages

import (
	"html/template"

	"svc/server/entity"
	"svc/server/web"
)

// maxBranchDepth bounds the lists of replies inside of each other, so that the deepest ones are still wide enough on a phone.
const maxBranchDepth = 6

// reply is a post of a thread, with the indexes of those that reply to it.
type reply struct {
	id      string
	html    template.HTML
	replies []int
}

// branches arranges the replies to a status as a tree. A reply whose parent is not among them stands at the top, and names the account to which it replies.
func (p *page) branches(root string, list entity.List[*entity.Status]) ([]web.Branch, error) {
	thread := make(replies, len(list))
	index := make(map[string]int, len(list))
	var top []int
	for i, s := range list {
		parent, placed := index[s.ParentID().String()]
		placed = placed && s.ParentID().String() != root
		html, err := p.post(s, web.Article{InThread: placed || s.ParentID().String() == root})
		if err != nil {
			return nil, err
		}
		thread[i] = reply{id: s.ID().String(), html: html}
		index[thread[i].id] = i
		if placed {
			thread[parent].replies = append(thread[parent].replies, i)
		} else {
			top = append(top, i)
		}
	}
	return thread.branches(top, 1), nil
}

// replies are the posts of a thread below the one that the page shows.
type replies []reply

// branches returns posts with the replies below them. A single reply follows its parent in the same list, and so on, until one has several.
func (r replies) branches(list []int, depth int) []web.Branch {
	var branches []web.Branch
	for len(list) == 1 {
		single := &r[list[0]]
		if len(single.replies) > 1 {
			return append(branches, r.branch(list[0], depth))
		}
		branches = append(branches, web.Branch{Post: single.html})
		list = single.replies
	}
	for _, i := range list {
		branches = append(branches, r.branch(i, depth))
	}
	return branches
}

// branch returns a post with the replies below it in a list of its own, or with a link to it if the lists are as deep as they may be.
func (r replies) branch(i, depth int) web.Branch {
	b := web.Branch{Post: r[i].html}
	switch {
	case len(r[i].replies) == 0:
	case depth < maxBranchDepth:
		b.Replies = r.branches(r[i].replies, depth+1)
	default:
		b.Hidden, b.URL = r.below(i), "/web/statuses/"+r[i].id
	}
	return b
}

// below returns how many posts are below a post.
func (r replies) below(i int) int {
	n := len(r[i].replies)
	for _, reply := range r[i].replies {
		n += r.below(reply)
	}
	return n
}
