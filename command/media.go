package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/text"
	"svc/social"
)

func (a *cli) mediaCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "media",
		Short: "Show, check, move, clean up and ban stored files",
	})
	cmd.AddCommand(a.mediaUsageCommand(), a.mediaPruneCommand(), a.mediaVerifyCommand(), a.mediaMoveCommand())
	cmd.AddCommand(a.mediaBanCommands()...)
	return cmd
}

func (a *cli) mediaPruneCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove uploads that are attached to nothing, and files that nothing refers to",
		Long: `Remove uploads that are attached to nothing for a day, and files that nothing refers to for a day.

The server does the same once a day. Nothing that a post, an earlier version of a post, a scheduled post, a chat or a profile has is removed.`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count them")
	return showCommand(a, cmd, app.PruneMedia, func() bool { return dryRun }, func(p *social.PrunedMedia) {
		verb := "Removed"
		if dryRun {
			verb = "To be removed"
		}
		fmt.Fprintf(a.out, "%s: %s, %s of %.1f MiB.\n", verb, text.Count(p.Uploads, "upload"), text.Count(p.Files, "file"), float64(p.Bytes)/(1<<20))
	})
}

// mediaReport is the JSON form of a check.
type mediaReport struct {
	Problems []*social.MediaProblem `json:"problems"`
	Left     int                    `json:"left"` // problems that are not repaired
}

func (a *cli) mediaVerifyCommand() *cobra.Command {
	var asJSON, repair, all bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that uploads have their files, and that the files are intact",
		Long: `Check that each upload and each profile picture has its file, that sizes and hashes are right, and that something refers to each file.

With --repair it removes files that nothing refers to and uploads without a file that are attached to nothing, and corrects sizes and
missing thumbnails. A damaged or missing file of a post can only come from a backup. The command fails if problems are left.

Of files in media.bucket it checks that they are there with the right size, and reads a sample of them: one of each of the 256 folders, and one in 50.
--all reads all of them, which transfers the whole bucket.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := a.verifyMedia(cmd.Context(), social.MediaCheck{Repair: repair, All: all})
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(report)
			} else {
				a.printMediaReport(report)
			}
			if err == nil && report.Left > 0 {
				err = fmt.Errorf("problems that are left: %d", report.Left)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "repair what can be repaired")
	cmd.Flags().BoolVar(&all, "all", false, "read all files of media.bucket, not a sample")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// verifyMedia checks all parts, with a progress bar.
func (a *cli) verifyMedia(ctx context.Context, c social.MediaCheck) (*mediaReport, error) {
	progress, end := a.progress("Checking files")
	defer end()
	report := &mediaReport{Problems: []*social.MediaProblem{}}
	err := a.eachMediaPart(ctx, c, func(part *social.MediaChecked) {
		report.Problems = append(report.Problems, part.Problems...)
		for _, p := range part.Problems {
			if !p.Repaired {
				report.Left++
			}
		}
		if progress != nil {
			progress(part.Done, part.Total)
		}
	})
	return report, err
}

// eachMediaPart checks all parts of the uploads, and calls fn with the result of each.
func (a *cli) eachMediaPart(ctx context.Context, c social.MediaCheck, fn func(*social.MediaChecked)) error {
	for {
		part, err := perform(ctx, a, app.CheckMedia, c)
		if err != nil {
			return err
		}
		fn(part)
		if c.From = part.Next; c.From == "" {
			return nil
		}
	}
}

func (a *cli) printMediaReport(r *mediaReport) {
	if len(r.Problems) == 0 {
		fmt.Fprintln(a.out, "All files are intact.")
		return
	}
	table := a.table("PROBLEM", "FILE", "UPLOAD", "REPAIRED")
	for _, p := range r.Problems {
		row(table, p.Kind, p.File, p.MediaID, yesNo(p.Repaired))
	}
	table.Flush()
}
