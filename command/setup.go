package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/store"
)

// setupOptions is what a new server is to be.
type setupOptions struct {
	url     string
	listen  string
	dataDir string
	admin   admin.NewUser
	yes     bool
	force   bool
}

func (a *cli) setupCommand() *cobra.Command {
	var s setupOptions
	usual := config.Default()
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up a new server",
		Long: `Set up a new server: write the settings file, make the database, the keys and the first account, an administrator.

What the flags do not say is asked for; with --yes the usual is taken instead. The settings are written to the file that
--config or $SVC_CONFIG names, else to config.toml in the current folder. Settings or data that are there already are not
touched without --force, and even then the data are kept, and the old settings as well, under another name.

The address (--url) becomes part of every account and post. It cannot be changed later.`,
		Example: `  svc setup
  svc setup --yes --url https://social.example.org --data-dir /var/lib/svc/data \
      --admin alice --email alice@example.org`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.setup(cmd, &s) },
	}
	f := cmd.Flags()
	f.StringVar(&s.url, "url", usual.Server.URL, "`ADDRESS` under which people reach the server")
	f.StringVar(&s.listen, "listen", usual.Server.Listen, "`ADDRESS` and port, or socket, on which it listens")
	f.StringVar(&s.dataDir, "data-dir", usual.Data.Dir, "`FOLDER` for the data")
	f.StringVar(&s.admin.Nickname, "admin", "", "`NICK` of the first account")
	f.StringVar(&s.admin.Email, "email", "", "its e-mail `ADDRESS`")
	f.StringVar(&s.admin.Password, "password", "", "its `PASSWORD`; without one, it is made up and printed")
	f.BoolVar(&s.yes, "yes", false, "ask nothing")
	f.BoolVar(&s.force, "force", false, "even if there are settings or data already")
	return cmd
}

func (a *cli) setup(cmd *cobra.Command, s *setupOptions) error {
	path, _ := app.SettingsFile(a.configFile)
	if _, err := os.Lstat(path); err == nil && !s.force {
		return fmt.Errorf("%s is there already: --force replaces it and keeps a copy", path)
	}
	if s.yes && s.admin.Nickname != "" && s.admin.Email == "" {
		return usage("the first account needs an address: --email ADDRESS")
	}
	if s.yes && s.admin.Nickname == "" && (s.admin.Email != "" || s.admin.Password != "") {
		return usage("the first account needs a nickname: --admin NICK")
	}
	c, err := a.setupSettings(cmd, s)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Data.Dir, store.File)); err == nil && !s.force {
		return fmt.Errorf("%s holds a database already: --force sets up a server with it", c.Data.Dir)
	}
	if !s.yes {
		if sure, err := a.confirm(cmd.Context(), fmt.Sprintf("A server at %s, with settings in %s and data in %s. Go on?", c.Server.URL, path, c.Data.Dir)); err != nil || !sure {
			return errors.Join(err, errors.New("nothing was done"))
		}
	}
	return a.runSetup(cmd.Context(), s, c, path)
}

// setupSettings returns the settings for the new server. It asks for what the flags do not say.
func (a *cli) setupSettings(cmd *cobra.Command, s *setupOptions) (*config.Config, error) {
	c := config.Default()
	for _, q := range []struct {
		flag, question, group, key string
		value                      *string
	}{
		{"url", "Address under which people reach the server. It cannot be changed later", "server", "url", &s.url},
		{"listen", "Where it listens", "server", "listen", &s.listen},
		{"data-dir", "Folder for the data", "data", "dir", &s.dataDir},
	} {
		given := s.yes || cmd.Flags().Changed(q.flag)
		for {
			if !given {
				answer, err := a.ask(cmd.Context(), q.question, *q.value)
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
	dir, err := filepath.Abs(s.dataDir) // the server may be started elsewhere
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	c.Data.Dir = dir
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, a.setupAdmin(cmd.Context(), s)
}

// setupAdmin asks for what is missing of the first account.
func (a *cli) setupAdmin(ctx context.Context, s *setupOptions) (err error) {
	if s.yes {
		return nil
	}
	if s.admin.Nickname == "" {
		if s.admin.Nickname, err = a.ask(ctx, "Nickname of the first account, an administrator (nothing: none now)", ""); err != nil || s.admin.Nickname == "" {
			return err
		}
	}
	for s.admin.Email == "" {
		if s.admin.Email, err = a.ask(ctx, "Its e-mail address", ""); err != nil {
			return err
		}
	}
	if s.admin.Password == "" {
		s.admin.Password, err = a.askPassword(ctx, "Its password (nothing: one is made up)")
	}
	return err
}

// runSetup makes what was asked for. The settings come last, so that what fails before can simply be tried again.
func (a *cli) runSetup(ctx context.Context, s *setupOptions, c *config.Config, path string) error {
	created, err := app.Setup(ctx, c, a.options(), path, s.admin)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Wrote %s.\nMade the data directory %s.\n", path, c.Data.Dir)
	if created != nil {
		a.printCreated(created)
	}
	for _, w := range app.Warnings(c) {
		fmt.Fprintln(a.out, "Note: "+w+".")
	}
	fmt.Fprintf(a.out, "Now start it with: %s\n", app.WithSettingsFlag("svc serve", path))
	return nil
}
