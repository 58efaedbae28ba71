package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	"svc/app/apptest"
	"svc/internal/config"
)

// TestPublicDomainBlocks checks which hosts the public list has, and who may read it.
func TestPublicDomainBlocks(t *testing.T) {
	blocks := func(c *config.Config) {
		c.MRFSimple.Reject = []config.HostReason{{Host: "*.spam.example", Reason: "spam"}, {Host: "hidden-server.example", Reason: "shown reason"}}
		c.MRFSimple.FederatedTimelineRemoval = []config.HostReason{{Host: "loud.example"}, {Host: "spam.example"}}
		c.MRFSimple.MediaRemoval = []config.HostReason{{Host: "media.example", Reason: "not listed"}}
		c.MRF.TransparencyExclusions = []config.HostReason{{Host: "hidden-server.example"}}
	}
	const path = "/api/v1/instance/domain_blocks"
	for _, tt := range []struct {
		who               string
		transparency      bool
		anonymous, member int
	}{
		{config.ToAnyone, true, 200, 200}, {config.ToMembers, true, 401, 200}, {config.ToNobody, true, 404, 404}, {config.ToAnyone, false, 404, 404},
	} {
		srv := apptest.Start(t, blocks, func(c *config.Config) { c.Instance.ListDomainBlocks, c.MRF.Transparency = tt.who, tt.transparency })
		srv.As(nil).Get(path).Want(tt.anonymous)
		a := srv.SignUp("alice").Get(path).Want(tt.member)
		if tt.member != 200 {
			continue
		}
		WantEntity(t, "the list", a, "[]DomainBlock")
		got := ""
		for _, b := range a.List() {
			got += fmt.Sprint(b.Str("domain"), " ", b.Str("severity"), " ", b.Str("comment"), "; ")
		}
		if want := "hidden*******.**ample suspend shown reason; loud.example silence ; spam.example suspend spam; "; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		digest := sha256.Sum256([]byte("hidden-server.example"))
		if d := a.List()[0].Str("digest"); d != hex.EncodeToString(digest[:]) {
			t.Errorf("the digest is %s", d)
		}
	}
}
