package server

// allRoutes are the tables of all resources. Each stands at the top of the file that has its handlers.
func allRoutes() []routes {
	return []routes{
		statusRoutes,
		timelineRoutes,
		notificationRoutes,
		appRoutes,
		oauthRoutes,
		registrationRoutes,
		passwordRoutes,
		setupRoutes,
	}
}
