package rest

import (
	"net/http"
	"strings"
)

// Bounds of a Range header. Players ask for one range at a time. Each range is a part of its own in the answer, and parsing costs time before
// anything is known about the file.
const (
	maxRanges     = 4
	maxRangeBytes = 256
)

// limitRanges removes a Range header that asks for too many ranges, before any handler reads it: the answer is the whole file, which RFC 9110
// section 14.2 permits, because Range is optional. Overlapping ranges that together are longer than the file are ignored by net/http.
func limitRanges(h http.Header) {
	values := h["Range"]
	if len(values) == 0 {
		return
	}
	if len(values) > 1 || len(values[0]) > maxRangeBytes || strings.Count(values[0], ",") >= maxRanges {
		delete(h, "Range")
	}
}
