package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"svc/internal/activity"
	"svc/internal/text"
)

// maxAcceptRanges bounds how much of an Accept header is read.
const maxAcceptRanges = 40

// preference ranks a content type of an Accept header: by weight, then by position.
type preference struct {
	weight   float64
	position int
}

func (c preference) preferredTo(d preference) bool {
	return c.weight > d.weight || c.weight == d.weight && c.weight > 0 && c.position < d.position
}

// acceptPreferences returns the preferences for some content types. Wildcards for all types do not count.
func acceptPreferences(r *http.Request, kinds ...func(media string, params map[string]string) bool) []preference {
	list := make([]preference, len(kinds))
	for i := range list {
		list[i].weight = -1 // not in the header
	}
	ranges := strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",")
	for place, accepted := range ranges[:min(len(ranges), maxAcceptRanges)] {
		media, params, err := text.ParseMediaType(accepted)
		if err != nil {
			continue
		}
		c := preference{1, place}
		if q, ok := params["q"]; ok {
			if c.weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		for i, is := range kinds {
			if is(media, params) && (list[i].weight < 0 || c.preferredTo(list[i])) {
				list[i] = c
			}
		}
	}
	return list
}

// isActivityType returns true for the content types with which servers and scripts request documents (federation 1.6).
func isActivityType(media string, params map[string]string) bool {
	switch media {
	case activity.MediaType, "application/json", "application/*":
		return true
	case activity.LDMediaType:
		profile, given := params["profile"]
		return !given || slices.Contains(strings.Fields(profile), activity.LDProfile)
	}
	return false
}

func isPageType(media string, _ map[string]string) bool {
	return media == "text/html" || media == "application/xhtml+xml" || media == "text/*"
}

// wantsActivity returns true if a request prefers a document to a page. A request without preference gets the page if there is one.
func wantsActivity(r *http.Request, hasPage bool) bool {
	list := acceptPreferences(r, isActivityType, isPageType)
	document, page := list[0], list[1]
	if document.weight <= 0 && page.weight <= 0 {
		return !hasPage
	}
	return document.preferredTo(page)
}
