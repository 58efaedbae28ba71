package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/text"
	"svc/media"
	"svc/moving"
)

func (a *cli) exportCommand() *cobra.Command {
	var dir string
	var noSecrets, noMedia bool
	cmd := &cobra.Command{
		Use:   "export --server DIR",
		Short: "Write the whole server in a plain form, for other software",
		Long: `Write everything of the server into the new folder DIR, for whoever leaves for other software: each table as JSON lines, and uploads, emoji and
documents as files. DIR/README.txt and docs/moving.md describe the form. The server may run meanwhile.

The folder has password hashes, the private keys of the accounts, second factors and the secrets of apps, so that another program can take over the
name of this server; --no-secrets leaves them out. In either case it has mail addresses and direct messages: keep it private.

To go back to svc, use "svc backup". For the posts of one account, use "svc user backup".`,
		Example: "  svc export --server /mnt/usb/export\n  svc export --server export --no-secrets --no-media",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usage("--server DIR says where to")
			}
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			bucket, err := media.OpenBucket(cmd.Context(), c, nil)
			if err != nil {
				return err
			}
			defer bucket.Close()
			if dir, err = filepath.Abs(dir); err != nil {
				return err
			}
			report, end := a.progress("export")
			x := &moving.ServerExport{
				DataDir: c.Data.Dir, Dir: dir, URL: c.URL().String(), Host: c.Host(), Version: app.Version, Secrets: !noSecrets, Media: !noMedia, Bucket: bucket, Progress: report,
			}
			written, err := x.Run(cmd.Context())
			end()
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Wrote %s: %s; %s and %s, with those of other servers that they have to do with; %s.\n", dir, text.Count(int(written.Tables["users"]), "user"),
				text.Count(int(written.Tables["accounts"]), "account"), text.Count(int(written.Tables["statuses"]), "post"), text.Count(written.Files, "file"))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "server", "", "write the whole server into the folder `DIR`")
	cmd.Flags().BoolVar(&noSecrets, "no-secrets", false, "leave out password hashes, private keys, second factors and secrets of apps")
	cmd.Flags().BoolVar(&noMedia, "no-media", false, "leave out uploads, emoji and documents")
	return cmd
}
