package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/disk"
	"svc/internal/text"
	"svc/store"
)

// maxListFile bounds a file to import. The server accepts less; this keeps a wrong file from being read whole.
const maxListFile = 2 << 20

// kindNames returns the kinds of imports and exports for texts.
func kindNames() string {
	var names []string
	for _, k := range store.ImportKinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// parseKind returns the kind of an argument.
func parseKind(name string) (store.ImportKind, error) {
	kind := store.ImportKind(strings.ReplaceAll(name, "-", "_"))
	if !slices.Contains(store.ImportKinds, kind) {
		return "", usage("unknown kind %q: use one of %s", name, kindNames())
	}
	return kind, nil
}

func (a *cli) userImportCommand() *cobra.Command {
	var wait, status, asJSON bool
	var f archiveFlags
	cmd := &cobra.Command{
		Use:   "import NICK KIND FILE | import NICK archive FILE | import NICK --status | import NICK --list | import --undo ID",
		Short: "Import posts, follows, blocks, lists … of an account from a file",
		Long: `Import follows, blocks, mutes, lists, bookmarks, likes or domain blocks of an account from a file: the CSV that Mastodon and its kin
export, or an entry a line. KIND is one of ` + kindNames() + `. FILE - is standard input.

With archive, import the posts of an archive of another server: a zip, a tar.gz or a folder from Mastodon, Pleroma, Akkoma, GoToSocial or this server, or
the notes.json of Misskey and its kin. The server must be able to read it. The posts stand at their dates, say where they are from, and are never federated.
Public ones become unlisted, unless --public is set. Doing it twice changes nothing. --list prints the archives of an account, and --undo removes
all posts of one.

The server imports in the background, and continues after a restart. With --wait, the command waits and prints the skipped
entries. --status prints the imports of an account and the skipped entries of the last one. Results are kept for 30 days.`,
		Example: "  svc user import alice follows following_accounts.csv --wait\n  svc user import alice archive archive-2026.zip --wait\n  svc user import alice --status",
		Args: func(_ *cobra.Command, args []string) error {
			shown := status || f.list
			switch {
			case f.undo != "" && len(args) == 0 && !shown:
				return nil
			case len(args) == 0:
				return usage("NICK is missing")
			case f.undo != "":
			case shown && len(args) == 1 && !wait && status != f.list, !shown && len(args) == 3 && !asJSON:
				return nil
			}
			return usage("name what to import: NICK KIND FILE, NICK archive FILE, NICK --status, NICK --list, or --undo ID")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.undo != "":
				return a.undoArchive(cmd, f.undo, wait)
			case f.list:
				return a.printArchives(cmd, args[0], asJSON)
			case status:
				return a.printImports(cmd, args[0], asJSON)
			case args[1] == archiveKind:
				return a.importArchive(cmd, args[0], args[2], f, wait)
			case f.public || f.origin != "":
				return usage("--public and --origin are for archives")
			}
			kind, err := parseKind(args[1])
			if err != nil {
				return err
			}
			list, err := a.readList(args[2])
			if err != nil {
				return err
			}
			i, err := perform(cmd.Context(), a, app.StartImport, admin.ImportList{Name: args[0], Kind: kind, List: list})
			if err != nil {
				return err
			}
			if !wait {
				fmt.Fprintf(a.out, "The import of %s is queued. See svc user import %s --status.\n", text.Count(i.Total, "entry"), args[0])
				return nil
			}
			return a.waitForImport(cmd, i.ID)
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the result")
	cmd.Flags().BoolVar(&status, "status", false, "print imports and their results")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --status or --list: print JSON")
	f.add(cmd)
	return cmd
}

// readList reads a file to import, or standard input.
func (a *cli) readList(name string) (string, error) {
	file := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		file = f
	}
	list, err := io.ReadAll(io.LimitReader(file, maxListFile+1))
	if err == nil && len(list) > maxListFile {
		err = fmt.Errorf("%s is too large for an import", name)
	}
	return string(list), err
}

// waitForImport waits for an import and prints its result.
func (a *cli) waitForImport(cmd *cobra.Command, id int64) error {
	for {
		i, err := perform(cmd.Context(), a, app.WaitForImport, id)
		if err != nil {
			return err
		}
		if i.FinishedAt == nil && !i.Retrying {
			continue
		}
		fmt.Fprintf(a.out, "Imported %d of %s, skipped %d.\n", i.Imported, text.Count(i.Total, "entry"), i.Skipped)
		if i.Retrying {
			fmt.Fprintf(a.out, "No answer from the servers of %s. The running server tries again in the next hours.\n", text.Count(i.Total-i.Imported-i.Skipped, "entry"))
		}
		return a.printSkipped(cmd, id)
	}
}

// printSkipped prints the entries that an import skipped.
func (a *cli) printSkipped(cmd *cobra.Command, id int64) error {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	page := admin.SkippedPage{ImportID: id}
	for {
		entries, err := perform(cmd.Context(), a, app.SkippedEntries, page)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return table.Flush()
		}
		for _, e := range entries {
			fmt.Fprintf(table, "%d\t%s\t%s\n", e.Position, printable(e.Entry), printable(e.Reason))
			page.After = e.Position
		}
	}
}

// printImports prints the imports of an account, and what the last one skipped.
func (a *cli) printImports(cmd *cobra.Command, name string, asJSON bool) error {
	imports, err := perform(cmd.Context(), a, app.ListImports, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(imports)
	}
	if len(imports) == 0 {
		fmt.Fprintln(a.out, "There are no imports.")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STARTED\tKIND\tSTATE\tENTRIES\tIMPORTED\tSKIPPED")
	for _, i := range imports {
		state := "running"
		if i.FinishedAt != nil {
			state = "finished"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\n", i.StartedAt.Local().Format("2006-01-02 15:04"), i.Kind, state, i.Total, i.Imported, i.Skipped)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return a.printSkipped(cmd, imports[0].ID)
}

func (a *cli) userExportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export NICK KIND [FILE]",
		Short: "Export follows, blocks, mutes, lists … of an account as CSV",
		Long: `Export follows, blocks, mutes, lists, bookmarks or domain blocks of an account as CSV that Mastodon and its kin import. KIND is
one of ` + kindNames() + `. Without FILE the command prints it.`,
		Example: "  svc user export alice follows following_accounts.csv",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 || len(args) > 3 {
				return usage("name what to export: NICK KIND [FILE]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, err := parseKind(args[1])
			if err != nil {
				return err
			}
			page := admin.ExportPage{Name: args[0], Kind: kind}
			exported, err := perform(cmd.Context(), a, app.ExportAccount, page) // before a file is replaced
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return a.writeExport(cmd, a.out, page, exported)
			}
			file, err := disk.Create(args[2])
			if err != nil {
				return err
			}
			return errors.Join(a.writeExport(cmd, file, page, exported), file.Close())
		},
	}
}

// writeExport writes an export, whose first page is read already.
func (a *cli) writeExport(cmd *cobra.Command, out io.Writer, page admin.ExportPage, exported *admin.ExportedPage) (err error) {
	for w := csv.NewWriter(out); ; {
		if err := w.WriteAll(exported.Rows); err != nil || exported.Next == nil {
			return err
		}
		page.From = *exported.Next
		if exported, err = perform(cmd.Context(), a, app.ExportAccount, page); err != nil {
			return err
		}
	}
}

func (a *cli) userBackupCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "backup NICK",
		Short: "Make a backup of an account for its user",
		Long: `Make a backup of an account, as its user can once a week: a zip archive with the posts, favourites, bookmarks, follows and uploads as
ActivityPub documents. The command prints the address of the download, which needs no sign-in: give it to the user only.`,
		Example: "  svc user backup alice --wait",
		Args:    oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := perform(cmd.Context(), a, app.BackupAccount, args[0])
			if err != nil {
				return err
			}
			for wait && b.State == store.BackupPending {
				if b, err = perform(cmd.Context(), a, app.WaitForBackup, b.ID); err != nil {
					return err
				}
			}
			switch b.State {
			case store.BackupComplete:
				fmt.Fprintf(a.out, "The backup is complete (%s):\n%s\n", text.Count(b.Size, "byte"), b.URL)
			case store.BackupFailed:
				return fmt.Errorf("the backup failed: %s", b.Error)
			default:
				fmt.Fprintf(a.out, "The backup is queued. When it is complete, it can be downloaded from\n%s\n", b.URL)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until it is complete")
	return cmd
}
