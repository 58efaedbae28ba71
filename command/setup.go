package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/password"
	"svc/internal/text"
	"svc/store"
)

type setupOptions struct {
	url     string
	listen  string
	dataDir string
	api     config.API
	open    bool // registrations
	admin   admin.NewUser
	yes     bool
	force   bool
}

func (a *cli) setupCommand() *cobra.Command {
	var s setupOptions
	defaults := config.Default()
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up a new server",
		Long: `Set up a new server: write the settings file, create the database, the keys and the first account, an administrator.

The command asks for values that no flag gives; with --yes it uses the defaults instead. It writes the settings to the file
that --config or $SVC_CONFIG names, else to config.toml in the current folder. If a settings file or a database exists, it fails
without --force. With --force it keeps the data, and keeps the old settings file as FILE.old. A setup that was cut off can be repeated.

For an https address behind a reverse proxy on this machine, it lists the proxy in server.trusted_proxies.

The address (--url) becomes part of every account and post. It cannot be changed later. --api-name and --api-compatible let
apps and front ends made for another server of this family work with this one.`,
		Example: `  svc setup
  svc setup --yes --url https://social.example.org --data-dir /var/lib/svc/data \
      --admin alice --email alice@example.org`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.setup(cmd, &s) },
	}
	f := cmd.Flags()
	f.StringVar(&s.url, "url", defaults.Server.URL, "public base `URL` of the server")
	f.StringVar(&s.listen, "listen", defaults.Server.Listen, "`ADDRESS` and port, or path of a Unix socket, to listen on")
	f.StringVar(&s.dataDir, "data-dir", defaults.Data.Dir, "data `DIRECTORY`")
	f.StringVar(&s.api.Name, "api-name", defaults.API.Name, "`NAME` in the identifiers of the API")
	f.StringVar(&s.api.Compatible, "api-compatible", defaults.API.Compatible, "`PRODUCT` and version in the answer to clients, as in \"Pleroma 2.7.1\"")
	f.BoolVar(&s.open, "open-registrations", defaults.Instance.RegistrationsOpen, "let anyone create an account")
	f.StringVar(&s.admin.Nickname, "admin", "", "`NICK` of the first account")
	f.StringVar(&s.admin.Email, "email", "", "e-mail `ADDRESS` of the first account")
	f.StringVar(&s.admin.Password, "password", "", "`PASSWORD` of the first account (default: generated and printed)")
	f.BoolVar(&s.yes, "yes", false, "do not ask; use defaults")
	f.BoolVar(&s.force, "force", false, "set up even if a settings file or a database exists")
	return cmd
}

func (a *cli) setup(cmd *cobra.Command, s *setupOptions) error {
	path, _ := app.SettingsFile(a.configFile)
	if _, err := os.Lstat(path); err == nil && !s.force {
		return fmt.Errorf("%s already exists: --force replaces it and keeps a copy", path)
	}
	if s.yes && s.admin.Nickname != "" && s.admin.Email == "" {
		return usage("the first account needs an e-mail address: --email ADDRESS")
	}
	if s.yes && s.admin.Nickname == "" && (s.admin.Email != "" || s.admin.Password != "") {
		return usage("the first account needs a nickname: --admin NICK")
	}
	c, err := a.setupSettings(cmd, s)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); err == nil && !s.force && !app.SetupUnfinished(c.Data.Dir) {
		return fmt.Errorf("%s already contains a database: --force sets up a server with it", c.Data.Dir)
	}
	if !s.yes {
		if yes, err := a.confirm(cmd.Context(), fmt.Sprintf("Set up %s with settings in %s and data in %s?", c.Server.URL, path, c.Data.Dir)); err != nil || !yes {
			return errors.Join(err, errors.New("setup canceled, nothing was changed"))
		}
	}
	return a.runSetup(cmd.Context(), s, c, path)
}

// setupSettings returns the settings of the new server. It asks for values that no flag gives.
func (a *cli) setupSettings(cmd *cobra.Command, s *setupOptions) (*config.Config, error) {
	c := config.Default()
	for _, q := range []struct {
		flag, question, group, key string
		value                      *string
	}{
		{"url", "Public base URL of the server. It cannot be changed later", "server", "url", &s.url},
		{"listen", "Address to listen on", "server", "listen", &s.listen},
		{"data-dir", "Data directory", "data", "dir", &s.dataDir},
		{"api-name", "Name in the API. If your users have apps or front ends made for another server of this family, its name, as in pleroma", "api", "name", &s.api.Name},
		{"api-compatible", "Product and version that such apps expect, as in Pleroma 2.7.1 (empty: that of this server)", "api", "compatible", &s.api.Compatible},
	} {
		given := s.yes || cmd.Flags().Changed(q.flag)
		first := *q.value // the default
		for {
			if !given {
				answer, err := a.ask(cmd.Context(), q.question, first)
				if err != nil {
					return nil, err
				}
				*q.value = answer
			}
			err := c.Set(q.group, q.key, *q.value)
			if err == nil {
				break
			}
			if given {
				return nil, usage("--%s: %v", q.flag, errors.Unwrap(err))
			}
			fmt.Fprintf(a.errOut, "%v\n", errors.Unwrap(err))
		}
	}
	dir, err := filepath.Abs(s.dataDir) // the server may be started in another directory
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	c.Data.Dir = dir
	if err := a.setupAccess(cmd, s, c); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, a.setupAdmin(cmd.Context(), s)
}

// setupAccess sets who may register, and the reverse proxy on this machine that an https address needs.
func (a *cli) setupAccess(cmd *cobra.Command, s *setupOptions, c *config.Config) error {
	c.Instance.RegistrationsOpen = s.open
	for asked := s.yes || cmd.Flags().Changed("open-registrations"); !asked; {
		answer, err := a.ask(cmd.Context(), "Open registrations: may anyone create an account? (yes or no)", yesNo(s.open))
		if err != nil {
			return err
		}
		if c.Instance.RegistrationsOpen, asked = parseYesNo(answer); !asked {
			fmt.Fprintln(a.errOut, "Answer yes or no.")
		}
	}
	if app.BehindProxy(c) {
		c.Server.TrustedProxies = []string{"127.0.0.1", "::1"}
	}
	return nil
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
	for s.admin.Email == "" {
		if s.admin.Email, err = a.ask(ctx, "E-mail address of the account", ""); err != nil {
			return err
		}
		if s.admin.Email != "" && !text.ValidEmail(s.admin.Email) {
			fmt.Fprintf(a.errOut, "%s is not an e-mail address.\n", s.admin.Email)
			s.admin.Email = ""
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

// runSetup creates the server and prints the result.
func (a *cli) runSetup(ctx context.Context, s *setupOptions, c *config.Config, path string) error {
	created, err := app.Setup(ctx, c, a.options(), path, s.admin)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Wrote %s.\nCreated the data directory %s.\n", path, c.Data.Dir)
	if created != nil {
		a.printCreated(created)
	}
	for _, w := range app.Warnings(c) {
		fmt.Fprintln(a.out, "Warning: "+w+".")
	}
	fmt.Fprintf(a.out, "Start the server with: %s\n", app.WithSettingsFlag("svc serve", path))
	return nil
}
