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

type setupOptions struct {
	url     string
	host    string // of handles; "": that of url
	listen  string
	dataDir string
	tls     string // yes or no
	tlsMail string
	api     config.API
	source  string
	who     string // may register: a name of registrationModes
	admin   admin.NewUser
	yes     bool
	force   bool
	newKeys bool
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

For an https address behind a reverse proxy on this machine, it lists the proxy in server.trusted_proxies. Without a proxy, --tls makes the server
get certificates from Let's Encrypt.

--registrations says who may register: anyone (open), anyone whom staff approve (approval), whoever has the link of an invite (invites), nobody
(closed).

The address (--url) becomes part of every account and post. It cannot be changed later. --host gives accounts handles with another host, such as
@alice@example.org on https://social.example.org, and prints what the web server of that host needs. --api-name and --api-compatible let
apps and front ends made for another server of this family work with this one.

--new-keys is for a server whose keys/ are lost or damaged and in no backup: it makes new ones, and lists the losses. All else
stays as it is.`,
		Example: `  svc setup
  svc setup --yes --url https://social.example.org --data-dir /var/lib/svc/data \
      --admin alice --email alice@example.org
  svc setup --yes --url https://social.example.org --listen :443 --tls --tls-email you@example.org
  svc setup --new-keys --config /var/lib/svc/config.toml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.setup(cmd, &s) },
	}
	f := cmd.Flags()
	f.StringVar(&s.url, "url", defaults.Server.URL, "public base `URL` of the server")
	f.StringVar(&s.host, "host", "", "`HOST` in handles, if it is not that of --url")
	f.StringVar(&s.listen, "listen", defaults.Server.Listen, "`ADDRESS` and port, or path of a Unix socket, to listen on")
	f.StringVar(&s.dataDir, "data-dir", defaults.Data.Dir, "data `DIRECTORY`")
	f.StringVar(&s.api.Name, "api-name", defaults.API.Name, "`NAME` in the identifiers of the API")
	f.StringVar(&s.api.Compatible, "api-compatible", defaults.API.Compatible, "`PRODUCT` and version in the answer to clients, as in \"Pleroma 2.7.1\"")
	f.Var((*yesNoValue)(&s.tls), "tls", "get certificates from Let's Encrypt, for a server without a reverse proxy")
	f.Lookup("tls").NoOptDefVal = "yes"
	f.StringVar(&s.tlsMail, "tls-email", "", "e-mail `ADDRESS` for Let's Encrypt")
	f.StringVar(&s.who, "registrations", registrationsApproval, "who may register: `open|approval|invites|closed`")
	f.StringVar(&s.source, "source-url", defaults.Instance.SourceURL, "`URL` of the source code of the program, which pages and NodeInfo show")
	f.StringVar(&s.admin.Nickname, "admin", "", "`NICK` of the first account")
	f.StringVar(&s.admin.Email, "email", "", "e-mail `ADDRESS` of the first account")
	f.StringVar(&s.admin.Password, "password", "", "`PASSWORD` of the first account (default: generated and printed)")
	f.BoolVar(&s.yes, "yes", false, "do not ask; use defaults")
	f.BoolVar(&s.force, "force", false, "set up even if a settings file or a database exists")
	f.BoolVar(&s.newKeys, "new-keys", false, "replace the lost or damaged keys of a server that is set up")
	cmd.RegisterFlagCompletionFunc("registrations", cobra.FixedCompletions(registrationNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *cli) setup(cmd *cobra.Command, s *setupOptions) error {
	if s.newKeys {
		return a.newKeys(cmd, s)
	}
	path, _ := app.SettingsFile(a.configFile)
	if _, err := os.Lstat(path); err == nil && !s.force {
		return fmt.Errorf("%s already exists: --force replaces it and keeps a copy", path)
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
		if yes, err := a.confirmOr(cmd.Context(), fmt.Sprintf("Set up %s with settings in %s and data in %s?", c.Server.URL, path, c.Data.Dir), true); err != nil || !yes {
			return errors.Join(err, errors.New("setup canceled, nothing was changed"))
		}
	}
	return a.runSetup(cmd.Context(), s, c, path)
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
	if err := a.giveToOwner(c.Data.Dir, path); err != nil {
		return err
	}
	for _, w := range app.Warnings(c) {
		fmt.Fprintln(a.out, "Warning: "+w+".")
	}
	if port := lowPort(c); port > 0 {
		fmt.Fprintf(a.out, "Port %d is for root only: as another user, the server needs the capability CAP_NET_BIND_SERVICE (AmbientCapabilities= in a systemd unit).\n", port)
	}
	a.printRedirects(c)
	fmt.Fprintf(a.out, "Start the server with: %s\n", app.WithSettingsFlag("svc serve", path))
	return nil
}
