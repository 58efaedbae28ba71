package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/social"
)

// damageError is the error of a check that found damage. The exit code is exitDamaged.
type damageError struct{ text string }

func (e *damageError) Error() string { return e.text }

func damage(format string, args ...any) error { return &damageError{fmt.Sprintf(format, args...)} }

func (a *cli) verifyCommand() *cobra.Command {
	var fix, all, asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [FILE.tar]",
		Short: "Check that the data, or a backup, are complete and intact",
		Long: `Check the database (pages, indexes, references, search), the keys, all counters against a recount, and each upload: whether its file is
there and has the content that its name says. It reads everything once, does not block the server, and changes nothing. Of files in media.bucket it
checks that all are there, and reads a sample; --all reads all of them.

With FILE.tar it checks a backup instead: each file against the list in it, and the same as above. Only the database is unpacked, into the
folder of the backup, else of the data.

With --fix it corrects counters, builds damaged search indexes again, and removes files that nothing refers to for a day. A damaged database,
and a damaged or missing file, can only come from a backup. While the database is damaged, nothing is changed; a running server is told,
stores nothing more, and says so in its health check.

The exit code is 0 if nothing is wrong or all was repaired, 3 if something is damaged or missing, 1 if the check could not run, for instance
because another version of svc has written the database. Files that nothing refers to are listed, but are no damage.`,
		Example: "  svc verify\n  svc verify --fix\n  svc verify /mnt/usb/svc-20260102T030405Z.tar",
		Args:    optionalArg("FILE.tar"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if fix && len(args) > 0 {
				return usage("--fix is for the data directory: a backup is not changed")
			}
			v, err := a.verify(cmd.Context(), args, fix, all)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(v)
			} else {
				a.printFindings(v)
			}
			if why := v.Unusable(); err == nil && why != "" && v.Left == 1 {
				return errors.New(why)
			}
			if err == nil && v.Left > 0 {
				advice := "svc verify --fix repairs counters and search, svc restore brings the rest back from a backup"
				if len(args) > 0 {
					advice = "svc restore brings back what is intact, then svc verify --fix repairs counters and search"
				}
				if len(args) > 0 && !v.Restorable() {
					advice = "nothing can be restored from it: use another backup"
				}
				err = damage("damaged or missing: %d; %s", v.Left, advice)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "repair what can be repaired")
	cmd.Flags().BoolVar(&all, "all", false, "read all files of media.bucket, not a sample")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) verify(ctx context.Context, args []string, fix, all bool) (*admin.Verification, error) {
	s := a.steps()
	defer s.end()
	c, _, err := app.LoadSettings(a.configFile)
	if len(args) > 0 {
		dirs := []string{}
		if err == nil { // a backup can be checked on a machine without settings
			dirs = append(dirs, c.Data.Dir)
		}
		if err != nil {
			c = config.Default()
		}
		source, err := admin.OpenBackup(ctx, args[0], time.Time{}, c.PlaceOptions())
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		defer source.Close()
		return admin.VerifySource(ctx, source, dirs, s.report)
	}
	if err != nil {
		return nil, err
	}
	o := admin.VerifyOptions{DataDir: c.Data.Dir, Shallow: fix, All: all, Progress: s.report}
	v, err := app.VerifyData(ctx, c, o)
	if err != nil || !fix {
		return v, err
	}
	if !v.Repairable() { // list the other findings, too
		o.Shallow = false
		return app.VerifyData(ctx, c, o)
	}
	rebuild := v.Damaged(admin.PartSearch)
	v = admin.NewVerification()
	if err := a.fixCounters(ctx, v, rebuild, s); err != nil {
		return nil, err
	}
	return v, a.fixMedia(ctx, v, all, s)
}

// fixCounters corrects counters and search indexes. rebuild: the indexes are damaged.
func (a *cli) fixCounters(ctx context.Context, v *admin.Verification, rebuild bool, s *steps) error {
	if rebuild {
		v.Add(&admin.Finding{Part: admin.PartSearch, Kind: admin.Damaged, What: "search indexes", Detail: "they were built again", Repaired: true})
	}
	done := int64(0)
	for c := (social.Recount{ClearSearch: rebuild}); ; {
		part, err := perform(ctx, a, app.RecountData, c)
		if err != nil {
			return err
		}
		for _, f := range admin.Findings(part) {
			if !rebuild || f.Part != admin.PartSearch { // all entries, then
				v.Add(f)
			}
		}
		done += part.Parts
		s.report(admin.PartCounters, min(done, part.Total), part.Total)
		if c.From = part.Next; c.From == "" {
			return nil
		}
	}
}

// fixMedia checks the uploads and repairs what can be repaired.
func (a *cli) fixMedia(ctx context.Context, v *admin.Verification, all bool, s *steps) error {
	return a.eachMediaPart(ctx, social.MediaCheck{Repair: true, All: all}, func(part *social.MediaChecked) {
		for _, p := range part.Problems {
			v.Add(admin.MediaFinding(p))
		}
		s.report(admin.PartMedia, part.Done, part.Total)
	})
}

func (a *cli) printFindings(v *admin.Verification) {
	if len(v.Findings) == 0 {
		fmt.Fprintln(a.out, "Nothing is damaged or missing.")
		return
	}
	table := a.table("PART", "PROBLEM", "WHAT", "DETAIL", "STATE")
	for _, f := range v.Findings {
		state := ""
		switch {
		case f.Repaired:
			state = "repaired"
		case f.Harmless:
			state = "harmless"
		}
		row(table, f.Part, f.Kind, printable(f.What), printable(f.Detail), state)
	}
	table.Flush()
	if v.Omitted > 0 {
		fmt.Fprintf(a.out, "And %d more.\n", v.Omitted)
	}
}
