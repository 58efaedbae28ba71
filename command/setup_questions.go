package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/config"
	"svc/internal/password"
	"svc/internal/text"
)

// registrationsApproval is what svc setup proposes.
const registrationsApproval = "approval"

// registrationModes are the answers to the question who may register, with their settings.
var registrationModes = []struct {
	name string
	set  config.Instance // the members below only
}{
	{"open", config.Instance{RegistrationsOpen: true}},
	{registrationsApproval, config.Instance{RegistrationsOpen: true, AccountApprovalRequired: true}},
	{"invites", config.Instance{InvitesEnabled: true}},
	{"closed", config.Instance{}},
}

func registrationNames() (names []string) {
	for _, m := range registrationModes {
		names = append(names, m.name)
	}
	return names
}

// setRegistrations sets who may register.
func setRegistrations(c *config.Config, name string) error {
	for _, m := range registrationModes {
		if m.name == name {
			i := &c.Instance
			i.RegistrationsOpen, i.AccountApprovalRequired, i.InvitesEnabled = m.set.RegistrationsOpen, m.set.AccountApprovalRequired, m.set.InvitesEnabled
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(registrationNames(), ", "))
}

// yesNoValue is a flag that is yes or no, "" if it is not given.
type yesNoValue string

func (v *yesNoValue) String() string { return string(*v) }
func (v *yesNoValue) Type() string   { return "yes|no" }
func (v *yesNoValue) Set(s string) error {
	yes, ok := parseYesNo(s)
	if is, err := strconv.ParseBool(s); err == nil {
		yes, ok = is, true
	}
	if !ok {
		return errors.New("must be yes or no")
	}
	*v = yesNoValue(yesNo(yes))
	return nil
}

// setupQuestion is a value of a new server, which a flag or an answer gives.
type setupQuestion struct {
	flag, question string
	value          *string
	set            func(answer string) error
	needed         func() bool // nil: always
}

// setupSettings returns the settings of the new server. It asks for values that no flag gives.
func (a *cli) setupSettings(cmd *cobra.Command, s *setupOptions) (*config.Config, error) {
	c := config.Default()
	for _, q := range s.questions(c) {
		if err := a.answer(cmd, s.yes, q); err != nil {
			return nil, err
		}
	}
	if s.host != "" {
		if err := c.Set("server", "host", s.host); err != nil {
			return nil, err
		}
	}
	dir, err := filepath.Abs(s.dataDir) // the server may be started in another directory
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	c.Data.Dir = dir
	if app.BehindProxy(c) {
		c.Server.TrustedProxies = []string{"127.0.0.1", "::1"}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, a.setupAdmin(cmd.Context(), s)
}

// questions returns the values of a new server in the order in which they are asked for. Their setters change c.
func (s *setupOptions) questions(c *config.Config) []setupQuestion {
	setting := func(group, key string) func(string) error {
		return func(answer string) error { return errors.Unwrap(c.Set(group, key, answer)) }
	}
	return []setupQuestion{
		{"url", "Public base URL of the server. It cannot be changed later", &s.url, setting("server", "url"), nil},
		{"listen", "Address to listen on", &s.listen, setting("server", "listen"), nil},
		{"tls", "Get certificates from Let's Encrypt? Ports 80 and 443 must reach this server. No, if a reverse proxy has them (yes or no)", &s.tls, func(answer string) error {
			yes, ok := parseYesNo(answer)
			if !ok {
				return errors.New("answer yes or no")
			}
			if c.Server.TLS.Enabled = yes; yes && c.URL().Scheme != "https" {
				return errors.New("certificates need an address that begins with https://")
			}
			return nil
		}, func() bool {
			if s.tls == "" && mayServeTLS(c) {
				s.tls = yesNo(onHTTPSPort(c) && !s.yes) // proposed
			}
			return s.tls != ""
		}},
		{"tls-email", "E-mail address that Let's Encrypt may write to (empty: none)", &s.tlsMail, setting("server.tls", "email"), func() bool { return c.Server.TLS.Enabled }},
		{"data-dir", "Data directory", &s.dataDir, setting("data", "dir"), nil},
		{"registrations", "Who may register: anyone (open), anyone whom staff approve (approval), with the link of an invite (invites), nobody (closed)", &s.who, func(answer string) error {
			return setRegistrations(c, strings.ToLower(answer))
		}, nil},
		{"source-url", "Address of the source code of the program, which its licence (AGPL) makes you offer to users if you change it (empty: none)", &s.source, setting("instance", "source_url"), nil},
		{"api-name", "Name in the API. If your users have apps or front ends made for another server of this family, its name, as in pleroma", &s.api.Name, setting("api", "name"), nil},
		{"api-compatible", "Product and version that such apps expect, as in Pleroma 2.7.1 (empty: that of this server)", &s.api.Compatible, setting("api", "compatible"), nil},
	}
}

// mayServeTLS returns true if the server itself could serve an https address: other machines reach it.
func mayServeTLS(c *config.Config) bool {
	network, _ := c.ListenAddress()
	return c.URL().Scheme == "https" && network == "tcp" && !app.OnLoopback(c)
}

// onHTTPSPort returns true if the server listens on the port of https.
func onHTTPSPort(c *config.Config) bool {
	_, address := c.ListenAddress()
	_, port, err := net.SplitHostPort(address)
	return err == nil && port == "443"
}

// answer sets a value: that of its flag or, unless the defaults are wanted, the answer of the user. The question is repeated until the answer is valid.
func (a *cli) answer(cmd *cobra.Command, defaults bool, q setupQuestion) error {
	if q.needed != nil && !q.needed() {
		return nil
	}
	given := defaults || cmd.Flags().Changed(q.flag)
	first := *q.value // the default
	for {
		if !given {
			answer, err := a.ask(cmd.Context(), q.question, first)
			if err != nil {
				return err
			}
			*q.value = answer
		}
		err := q.set(*q.value)
		if err == nil {
			return nil
		}
		if given {
			return usage("--%s: %v", q.flag, err)
		}
		fmt.Fprintf(a.errOut, "%v\n", err)
	}
}

// parseYesNo reads an answer. It returns false if it is neither.
func parseYesNo(answer string) (yes, ok bool) {
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}

// setupAdmin asks for the values of the first account that no flag gives.
func (a *cli) setupAdmin(ctx context.Context, s *setupOptions) (err error) {
	if s.yes {
		return nil
	}
	for s.admin.Nickname == "" {
		if s.admin.Nickname, err = a.ask(ctx, "Nickname of the first account, an administrator (empty: create none)", ""); err != nil || s.admin.Nickname == "" {
			return err
		}
		if err := app.CheckFirstNickname(s.api.Name, s.admin.Nickname); err != nil {
			fmt.Fprintln(a.errOut, err)
			s.admin.Nickname = ""
		}
	}
	for asked := s.admin.Email != ""; !asked; {
		if s.admin.Email, err = a.ask(ctx, "E-mail address of the account (empty: none)", ""); err != nil {
			return err
		}
		if asked = s.admin.Email == "" || text.ValidEmail(s.admin.Email); !asked {
			fmt.Fprintf(a.errOut, "%s is not an e-mail address.\n", s.admin.Email)
		}
	}
	for s.admin.Password == "" {
		if s.admin.Password, err = a.askPassword(ctx, "Password of the account (empty: generate one)"); err != nil || s.admin.Password == "" {
			return err
		}
		if err := password.Check(s.admin.Password, config.Default().Accounts.PasswordMinLength, s.admin.Nickname, s.admin.Email); err != nil {
			fmt.Fprintf(a.errOut, "The password %v.\n", err)
			s.admin.Password = ""
		}
	}
	return nil
}

// lowPort returns the port to listen on if only root may do so, else 0.
func lowPort(c *config.Config) int {
	network, address := c.ListenAddress()
	_, text, err := net.SplitHostPort(address)
	port, _ := strconv.Atoi(text)
	if network != "tcp" || err != nil || port >= 1024 {
		return 0
	}
	return port
}
