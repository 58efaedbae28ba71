package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/store"
)

// mediaBanCommands are the commands for banned files and the cache of the media proxy.
func (a *cli) mediaBanCommands() []*cobra.Command {
	return []*cobra.Command{
		a.mediaBansCommand(),
		a.mediaURLsCommand("ban", "Ban files",
			`Ban files. URL is the address of the file on its server, or its address on this server. A banned file is not served any more, copies of
remote files are removed, and the same content cannot be uploaded or become an emoji. If this server has no copy of it, it fetches the file once in
the background to know its content; "svc media bans" shows the SHA-256 then.`,
			app.BanMedia, "Banned %s.", "%s is already banned."),
		a.mediaURLsCommand("unban", "Remove bans of files", "",
			app.UnbanMedia, "%s is not banned any more.", "%s was not banned."),
		a.mediaURLsCommand("purge", "Remove copies of remote files, so that they are fetched again", "",
			app.PurgeMedia, "Purged %s.", "Purged %s."),
	}
}

func (a *cli) mediaBansCommand() *cobra.Command {
	var query string
	cmd := &cobra.Command{
		Use:   "bans",
		Short: "List banned files, newest first",
		Args:  noArgs,
	}
	cmd.Flags().StringVar(&query, "search", "", "only URLs that contain this text")
	bans := func() store.MediaBanQuery { return store.MediaBanQuery{Text: query, Limit: store.MaxMediaBans} }
	list := func(page *admin.MediaBans) []admin.MediaBan { return page.Bans }
	return listCommand(a, cmd, app.MediaBans, bans, list, func(page *admin.MediaBans) {
		table := a.table("URL", "SHA-256", "SINCE")
		for _, b := range page.Bans {
			row(table, b.URL, b.SHA256, ago(&b.BannedAt))
		}
		table.Flush()
	})
}

// mediaURLsCommand returns a command that changes something about files. It prints done, or already if nothing changed.
func (a *cli) mediaURLsCommand(name, short, long string, call app.Call[admin.MediaURLs, *admin.ChangedMedia], done, already string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   name + " URL…",
		Short: short,
		Long:  long,
		Args:  someArgs("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			changed, err := perform(cmd.Context(), a, call, admin.MediaURLs{URLs: args})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(changed)
			}
			for _, address := range changed.URLs {
				fmt.Fprintf(a.out, done+"\n", address)
			}
			for _, address := range changed.Unchanged {
				fmt.Fprintf(a.out, already+"\n", address)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
