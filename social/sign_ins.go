package social

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"net/netip"
	"time"

	"svc/store"
)

// signInHashLength is the length of a hash of a network, in bytes.
const signInHashLength = 16

// NoteSignIn sends mail about a sign-in from a network from which the user has not signed in for a while. app is the name of the app, "" for
// a browser. The database holds keyed hashes of the networks only.
func (s *Service) NoteSignIn(ctx context.Context, tx *store.Tx, user *store.User, from netip.Addr, app string) error {
	if !s.Settings().MailEnabled || !s.Settings().SignInMails || !from.IsValid() {
		return nil
	}
	network := signInNetwork(from)
	mac := hmac.New(sha256.New, s.SignInKey)
	mac.Write([]byte(user.AccountID.String() + " " + network.String()))
	isNew, err := tx.MarkSignIn(ctx, user.AccountID, mac.Sum(nil)[:signInHashLength])
	if err != nil || !isNew || user.Email == "" {
		return err
	}
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailNewSignIn, AccountID: user.AccountID, Values: map[string]string{
		"network": network.String(), "app": app, "time": s.db.Now().UTC().Format(time.RFC3339),
	}})
}

// signInNetwork returns the network that counts as one place: /24 for IPv4, /48 for IPv6.
func signInNetwork(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	bits := 48
	if address.Is4() {
		bits = 24
	}
	network, _ := address.Prefix(bits) // the address is valid
	return network
}
