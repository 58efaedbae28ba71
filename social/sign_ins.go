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

// NoteLoginIn records the network of a sign-in for KnowsNetwork, and sends mail about it if the user has not signed in from there for a
// while. app is the name of the app, "" for a browser. The database holds keyed hashes of the networks only.
func (s *Service) NoteLoginIn(ctx context.Context, tx *store.Tx, user *store.User, from netip.Addr, app string) error {
	if !from.IsValid() {
		return nil
	}
	c := s.Settings.Load()
	isNew, err := tx.MarkSignIn(ctx, user.AccountID, s.networkHash(user.AccountID, from))
	if err != nil || !isNew || user.Email == "" || !c.Mail.Enabled || !c.Accounts.SignInMails {
		return err
	}
	return s.sendMail(ctx, tx, store.SendMail{Mail: store.MailNewSignIn, AccountID: user.AccountID, Values: map[string]string{
		"network": signInNetwork(from).String(), "app": app, "time": s.db.Now().UTC().Format(time.RFC3339),
	}})
}

// KnowsNetwork returns true if the user signed in from the network of an address in the last 90 days.
func (s *Service) KnowsNetwork(ctx context.Context, id store.AccountID, from netip.Addr) (bool, error) {
	if !from.IsValid() {
		return false, nil
	}
	return s.db.HasSignedInFrom(ctx, id, s.networkHash(id, from))
}

func (s *Service) networkHash(id store.AccountID, from netip.Addr) []byte {
	mac := hmac.New(sha256.New, s.SignInKey)
	mac.Write([]byte(id.String() + " " + signInNetwork(from).String()))
	return mac.Sum(nil)[:signInHashLength]
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
