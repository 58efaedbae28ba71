export const journeys = {}
