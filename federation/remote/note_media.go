package remote

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"svc/internal/activity"
	"svc/store"
)

const (
	maxMediaSide     = 100_000 // pixels
	maxMediaDuration = 1000 * time.Hour
	maxBlurhash      = 100 // characters
	maxDurationText  = 64  // bytes
)

// readMediaProperties sets what a document says about the file: width, height, duration, blurhash, focal point, and the picture of a video
// or sound. Values that are not valid are ignored (federation 4.2).
func (r *Reader) readMediaProperties(m *store.Media, o activity.Object) {
	if width, height := o.Count("width"), o.Count("height"); width > 0 && height > 0 && width < maxMediaSide && height < maxMediaSide {
		m.Width, m.Height = width, height
	}
	if d := parseDuration(o.Text("duration")); d > 0 {
		m.Duration = d.Milliseconds()
	}
	if hash := o.Text("blurhash"); validBlurhash(hash) {
		m.Blurhash = hash
	}
	if point := o.Values("focalPoint"); len(point) == 2 {
		x, okX := point[0].(float64)
		y, okY := point[1].(float64)
		if okX && okY && x >= -1 && x <= 1 && y >= -1 && y <= 1 {
			m.FocusX, m.FocusY = x, y
		}
	}
	if m.Type == "video" || m.Type == "audio" {
		m.PreviewURL = cmp.Or(m.PreviewURL, r.pictureURL(o, "icon"))
	}
}

// isoDuration matches the durations of XML Schema without years and months, whose length varies.
var isoDuration = regexp.MustCompile(`^P(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8}(?:\.\d{1,9})?)S)?)?$`)

// parseDuration returns an ISO 8601 duration, 0 if it is not valid.
func parseDuration(s string) time.Duration {
	if len(s) > maxDurationText {
		return 0
	}
	match := isoDuration.FindStringSubmatch(s)
	if match == nil {
		return 0
	}
	sum := 0.0
	for i, seconds := range []float64{24 * 60 * 60, 60 * 60, 60, 1} {
		if v, err := strconv.ParseFloat(match[i+1], 64); err == nil {
			sum += v * seconds
		}
	}
	if sum > maxMediaDuration.Seconds() {
		return 0
	}
	return time.Duration(sum * float64(time.Second))
}

const base83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"

// validBlurhash returns true if an app can decode a blurhash: the first digit says how many components follow. Apps fail on others.
func validBlurhash(hash string) bool {
	if len(hash) < 6 || len(hash) > maxBlurhash || strings.Trim(hash, base83) != "" {
		return false
	}
	sizes := strings.IndexByte(base83, hash[0])
	return len(hash) == 4+2*(sizes%9+1)*(sizes/9+1)
}
