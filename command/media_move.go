package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/text"
	"svc/media"
)

func (a *cli) mediaMoveCommand() *cobra.Command {
	var to string
	var wait, asJSON bool
	cmd := &cobra.Command{
		Use:   "move [--to disk|s3]",
		Short: "Move uploads between the disk and media.bucket, or show how far a move is",
		Long: `Move all uploads, thumbnails and archives of accounts to the place where media.storage stores new ones: the data directory ("disk") or media.bucket
("s3"). Set media.storage and media.bucket, and restart the server first.

The running server does it, in small steps, and continues after a restart. Meanwhile files of both places are served. A file is removed from its old
place when the copy has the same SHA-256. A file that is damaged stays where it is, and is in the log.

Without --to the command shows how far the move is.`,
		Example: "  svc media move --to s3 --wait\n  svc media move",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := a.moveMedia(cmd.Context(), to, wait)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(m)
			} else {
				a.printMove(m)
			}
			if err == nil && m.Failed > 0 {
				err = fmt.Errorf("%s could not be moved: see the log, and svc media verify", text.Count(int(m.Failed), "file"))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "begin a move to `PLACE`: disk or s3")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"disk", "s3"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// moveMedia begins a move if a place is named, and waits for its end if wait is set.
func (a *cli) moveMedia(ctx context.Context, to string, wait bool) (m *media.Move, err error) {
	if to != "" {
		m, err = perform(ctx, a, app.MoveMedia, to)
	} else {
		m, err = perform(ctx, a, app.ShowMediaMove, struct{}{})
	}
	if err != nil || !wait {
		return m, err
	}
	s := a.steps()
	defer s.end()
	for {
		m, err := perform(ctx, a, app.WaitForMediaMove, struct{}{})
		if err != nil || !m.Running || m.Problem != "" {
			return m, err
		}
		s.report("files", m.Done+m.Failed, max(m.Total, m.Done+m.Failed, 1))
	}
}

func (a *cli) printMove(m *media.Move) {
	switch {
	case m.To == "":
		fmt.Fprintln(a.out, "No media are being moved.")
	case m.Running && m.Problem != "":
		fmt.Fprintf(a.out, "The move to %s was interrupted after %d of %s, and is continued by the running server: %s\n", m.To, m.Done, text.Count(int(m.Total), "file"), m.Problem)
	case m.Problem != "":
		fmt.Fprintf(a.out, "The move to %s ended after %d of %s: %s\nBegin it again with svc media move --to %s.\n", m.To, m.Done, text.Count(int(m.Total), "file"), m.Problem, m.To)
	case m.Running:
		fmt.Fprintf(a.out, "The running server moves media to %s: %d of %s. \"svc media move\" shows the progress.\n", m.To, m.Done, text.Count(int(m.Total), "file"))
	default:
		fmt.Fprintf(a.out, "Moved %s of %s to %s.\n", text.Count(int(m.Done), "file"), text.Bytes(m.Bytes), m.To)
	}
}
