package server

// allRoutes are the tables of all resources. Each stands at the top of the file that has its handlers.
func allRoutes() []routes {
	return []routes{
		pageRoutes,
		publicRoutes,
		accountRoutes,
		profileRoutes,
		followRoutes,
		blockRoutes,
		listRoutes,
		statusRoutes,
		editRoutes,
		threadRoutes,
		reblogRoutes,
		favouriteRoutes,
		bookmarkRoutes,
		pinRoutes,
		timelineRoutes,
		notificationRoutes,
		streamRoutes,
		mediaRoutes,
		fileRoutes,
		searchRoutes,
		instanceRoutes,
		healthRoutes,
		appRoutes,
		oauthRoutes,
		registrationRoutes,
		passwordRoutes,
		setupRoutes,
	}
}
