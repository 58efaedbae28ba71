package doctor

import (
	"context"
	"io"
	"net/http"
	"strings"
)

// maxBodyCheck bounds the body that checkBodySize sends.
const maxBodyCheck = 32 << 20

func checkWebSocket(ctx context.Context, d *doctor) Result {
	if _, not, found := d.ours(); !found {
		return not
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.String()+"/api/v1/streaming", nil)
	if err != nil {
		return failure("", "%v", err)
	}
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "ZG9jdG9yLWRvY3Rvci1kbw==",
	} {
		r.Header.Set(name, value)
	}
	resp, err := d.client.Do(r)
	if err != nil {
		return failure("Let the reverse proxy pass WebSockets; README.md has an example.", "no WebSocket: %v", err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return failure("Let the reverse proxy pass the headers Upgrade and Connection; README.md has an example.",
			"the public address does not open WebSockets (%s): apps do not show new posts by themselves", resp.Status)
	}
	return ok("the public address opens WebSockets")
}

// checkBodySize sends an upload of the largest size without a token. This server refuses it; a proxy with a lower limit answers 413.
func checkBodySize(ctx context.Context, d *doctor) Result {
	if _, not, found := d.ours(); !found {
		return not
	}
	size := min(d.Settings.Media.UploadLimit, maxBodyCheck)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url.String()+"/api/v1/media", io.LimitReader(zeros{}, size))
	if err != nil {
		return failure("", "%v", err)
	}
	r.ContentLength = size
	r.Header.Set("Expect", "100-continue") // so that a refusal arrives before the body is sent
	r.Header.Set("Content-Type", "multipart/form-data; boundary=doctor")
	resp, err := d.client.Do(r)
	switch {
	case err != nil && ctx.Err() != nil:
		return warning("", "not checked: an upload of %d bytes took too long", size)
	case err != nil:
		return failure("Raise the limit of bodies of the reverse proxy (client_max_body_size in nginx).", "an upload of %d bytes was cut off: %s", size, lastPart(err))
	}
	resp.Body.Close()
	if resp.StatusCode == http.StatusRequestEntityTooLarge {
		return failure("Raise the limit of bodies of the reverse proxy (client_max_body_size in nginx) to that of media.upload_limit.",
			"the proxy refuses an upload of %d bytes (%s)", size, resp.Status)
	}
	return ok("the public address accepts uploads of %d bytes", size)
}

// lastPart returns the cause at the end of an error.
func lastPart(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+1:]
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
