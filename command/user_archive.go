package command

import (
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/text"
	"svc/store"
)

// archiveKind is the argument in place of the kind of a list.
const archiveKind = "archive"

// archiveFlags are the flags of user import that are about archives.
type archiveFlags struct {
	public, emoji, list bool
	origin, undo        string
}

func (f *archiveFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.public, "public", false, "with archive: public posts stay public, and do not become unlisted")
	cmd.Flags().BoolVar(&f.emoji, "emoji", false, "with archive: copy the custom emoji of its posts from the old server into the pack imported-NICK")
	cmd.Flags().StringVar(&f.origin, "origin", "", "with archive: the `HANDLE` or actor id of its account, if the archive does not say it (Misskey)")
	cmd.Flags().BoolVar(&f.list, "list", false, "print the archives of the account")
	cmd.Flags().StringVar(&f.undo, "undo", "", "remove all posts that came from the archive `ID`")
}

// importArchive imports the archive of a person.
func (a *cli) importArchive(cmd *cobra.Command, nick, file string, f archiveFlags, wait bool) error {
	path, err := filepath.Abs(file) // the server may run in another folder
	if err != nil {
		return err
	}
	archive, err := perform(cmd.Context(), a, app.ImportArchive, admin.ArchiveImport{Name: nick, File: path, Public: f.public, Emoji: f.emoji, Origin: f.origin})
	if err != nil {
		return err
	}
	if !wait {
		fmt.Fprintf(a.out, "The import of the archive %s is queued. See svc user import %s --list.\n", archive.ID, nick)
		return nil
	}
	if archive, err = a.waitForArchive(cmd, archive); err != nil {
		return err
	}
	if archive.State != store.ArchiveComplete {
		return fmt.Errorf("the import of the archive %s ended after %s: %s", archive.ID, text.Count(archive.Imported, "post"), archive.Error)
	}
	fmt.Fprintf(a.out, "Imported %s with %s from @%s, skipped %d. To undo it: svc user import --undo %s\n",
		text.Count(archive.Imported, "post"), text.Count(archive.Files, "file"), archive.Origin, archive.Skipped, archive.ID)
	return a.printArchiveSkips(cmd, archive.ID)
}

// waitForArchive waits until the import of an archive is finished, or undone.
func (a *cli) waitForArchive(cmd *cobra.Command, archive *admin.Archive) (*admin.Archive, error) {
	s := a.steps()
	defer s.end()
	for archive.FinishedAt == nil {
		var err error
		if archive, err = perform(cmd.Context(), a, app.WaitForArchive, archive.ID); err != nil {
			return nil, err
		}
		s.report("posts", int64(archive.Position), int64(max(archive.Total, archive.Position, 1)))
	}
	return archive, nil
}

// undoArchive removes what came from an archive.
func (a *cli) undoArchive(cmd *cobra.Command, id string, wait bool) error {
	archive, err := perform(cmd.Context(), a, app.UndoArchive, id)
	if err != nil {
		return err
	}
	if wait {
		if archive, err = a.waitForArchive(cmd, archive); err != nil {
			return err
		}
	}
	if archive.State == store.ArchiveUndone {
		fmt.Fprintf(a.out, "All posts from the archive %s are removed.\n", archive.ID)
	} else {
		fmt.Fprintf(a.out, "The removal of all posts from the archive %s is queued.\n", archive.ID)
	}
	return nil
}

// printArchives prints the archives of an account, and what the last one skipped.
func (a *cli) printArchives(cmd *cobra.Command, name string, asJSON bool) error {
	archives, err := perform(cmd.Context(), a, app.ListArchives, name)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(archives)
	}
	if len(archives) == 0 {
		fmt.Fprintln(a.out, "There are no archives.")
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTARTED\tFROM\tSTATE\tENTRIES\tPOSTS\tFILES\tSKIPPED\tERROR")
	for _, r := range archives {
		fmt.Fprintf(table, "%s\t%s\t@%s\t%s\t%d/%d\t%d\t%d\t%d\t%s\n", r.ID, r.StartedAt.Local().Format("2006-01-02 15:04"), printable(r.Origin), r.State,
			r.Position, r.Total, r.Imported, r.Files, r.Skipped, printable(r.Error))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return a.printArchiveSkips(cmd, archives[0].ID)
}

// printArchiveSkips prints what an archive has skipped.
func (a *cli) printArchiveSkips(cmd *cobra.Command, id string) error {
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for page := (admin.ArchiveSkipPage{ID: id}); ; {
		skips, err := perform(cmd.Context(), a, app.ArchiveSkips, page)
		if err != nil {
			return err
		}
		if len(skips) == 0 {
			return table.Flush()
		}
		for _, s := range skips {
			fmt.Fprintf(table, "%s\t%s\n", printable(s.Item), printable(s.Reason))
			page.After = s.ID
		}
	}
}
