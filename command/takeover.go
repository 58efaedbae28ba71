package command

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/moving"
)

func (a *cli) takeoverCommand() *cobra.Command {
	var source moving.Source
	var renames []string
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "takeover SOURCE",
		Short: "Take over the data of a server of other software",
		Long: `Take over the accounts, posts, follows and files of a server that runs GoToSocial, Mastodon, Pleroma or Akkoma, so that this server goes on at the same address. SOURCE is
the SQLite database of GoToSocial, or a plain dump of PostgreSQL (pg_dump --format=plain --schema=public). No statement of a dump is executed. The old
server must have been stopped; nothing of it is changed.

Write the settings file before ("svc config example > config.toml"; server.url is the old address) and run this command instead of "svc setup": the data
directory must be empty. With --dry-run the source is read and counted, and nothing is left in the data directory.

Other servers notice an Update of each account: its address, keys, followers and the addresses of posts and files stay. Passwords stay, too. Administrators become
moderators unless --admins names them. Nicknames that are reserved here, or that differ only in case, are listed; nothing is written until --rename names others.

A takeover that was interrupted goes on when the command is repeated; until it has ended, no server starts on the directory. It ends with a report, a
verification of the data, and what remains to be done. docs/moving.md has a guide for each kind of server.`,
		Example: "  svc takeover --media /gotosocial/storage --dry-run /gotosocial/sqlite.db\n  svc takeover --media public/system --secrets .env.production --admins alice mastodon.sql",
		Args:    exactArgs("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source.Database = args[0]
			var err error
			if source.Rename, err = parseRenames(renames); err != nil {
				return err
			}
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			s := a.steps()
			defer s.end()
			report, err := app.Takeover(cmd.Context(), c, app.Options{Schema: a.schema}, source, dryRun, s.report)
			if err != nil {
				return err
			}
			s.end()
			if asJSON {
				return a.printJSON(report)
			}
			a.printTakeover(report, dryRun)
			if dryRun {
				fmt.Fprintln(a.out, "Nothing was written. Repeat the command without --dry-run.")
				return nil
			}
			v, err := app.VerifyData(cmd.Context(), c, admin.VerifyOptions{DataDir: c.Data.Dir, Progress: a.steps().report})
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, "\nVerification:")
			a.printFindings(v)
			a.printRemaining(c, report)
			if v.Left > 0 {
				return damage("damaged or missing: %d", v.Left)
			}
			return a.giveToOwner(c.Data.Dir)
		},
	}
	cmd.Flags().StringVar(&source.Media, "media", "", "`FOLDER` of the old server's files: storage-local-base-path of GoToSocial, public/system of Mastodon, uploads of Pleroma")
	cmd.Flags().StringVar(&source.Secrets, "secrets", "", "`FILE` with the encryption keys of the old server: .env.production of Mastodon")
	cmd.Flags().StringArrayVar(&renames, "rename", nil, "give an account another nickname: `OLD=NEW`; may be repeated")
	cmd.Flags().StringSliceVar(&source.Admins, "admins", nil, "`NICKNAMES` of the accounts that become administrators, separated by commas")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count what comes along")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// parseRenames reads values of --rename.
func parseRenames(values []string) (map[string]string, error) {
	names := make(map[string]string, len(values))
	for _, v := range values {
		old, name, ok := strings.Cut(v, "=")
		if !ok || old == "" || name == "" {
			return nil, usage("--rename %s: write OLD=NEW", v)
		}
		if names[old] != "" {
			return nil, usage("--rename %s: %s is renamed twice", v, old)
		}
		names[old] = name
	}
	return names, nil
}

// printTakeover prints what comes along and what does not.
func (a *cli) printTakeover(r *moving.Report, dryRun bool) {
	came := "CAME"
	if dryRun {
		came = "COMES"
	}
	fmt.Fprintf(a.out, "%s:\n", r.Software)
	table := a.table("WHAT", came, "OF")
	for _, c := range r.Counts {
		row(table, c.Kind, c.Taken, c.Of)
	}
	table.Flush()
	if len(r.LeftOut) > 0 {
		fmt.Fprintln(a.out, "\nLeft out:")
		table = a.table("WHAT", "NUMBER", "WHY")
		for _, l := range r.LeftOut {
			row(table, l.Kind, l.Count, printable(l.Reason))
		}
		table.Flush()
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(a.out, "\nTo know:")
		for _, n := range r.Notes {
			fmt.Fprintf(a.out, "- %s\n", printable(n))
		}
	}
}

// printRemaining prints what the operator has to do.
func (a *cli) printRemaining(c *config.Config, r *moving.Report) {
	paths := map[string]string{"GoToSocial": "/fileserver/", "Mastodon": "/system/", "Pleroma and Akkoma": "/media/"}[r.Software]
	address := c.Server.Listen
	if u := (&url.URL{Scheme: "http", Host: c.Server.Listen}); !strings.HasPrefix(c.Server.Listen, "unix:") {
		address = u.String()
	}
	fmt.Fprintf(a.out, `
What remains:
1. Leave DNS as it is: the address %s stays.
2. Let the web server in front pass every path to this server, also those of the old one's files (%s). Remove rules that served files itself.
   nginx:  location / { proxy_pass %s; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme; }
   Caddy:  reverse_proxy %s
3. Start it: svc serve. It sends one Update for each account.
4. Keep the old server's data until you are content, but never start it at this address again.
`, c.URL(), paths, address, strings.TrimPrefix(address, "http://"))
}
