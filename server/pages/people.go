package pages

import "svc/server/rest"

// peopleRoutes are the pages on which people read and write, beside timelines and posts.
func (h *Handlers) peopleRoutes() []rest.Routes {
	return []rest.Routes{
		h.listRoutes(), h.followedTagRoutes(), h.savedRoutes(), h.notificationRoutes(), h.messageRoutes(), h.searchRoutes(), h.scheduledRoutes(),
		h.findPeopleRoutes(), h.exploreRoutes(), h.announcementRoutes(), h.shareRoutes(), h.filterRoutes(), h.postActionRoutes(), h.accountActionRoutes(), h.readingRoutes(),
	}
}
