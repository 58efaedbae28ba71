package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"svc/app"
)

func (a *cli) emojiStealCommand() *cobra.Command {
	var args app.StealArgs
	cmd := &cobra.Command{
		Use:     "steal SHORTCODE@HOST",
		Short:   "Copy a custom emoji of another server",
		Long:    `Copy a custom emoji of another server into a pack, which is created if necessary. The other server must list its emoji publicly.`,
		Example: "  svc emoji steal blobcat@example.org --pack cats",
		Args:    oneArg("SHORTCODE@HOST"),
		RunE: func(cmd *cobra.Command, names []string) error {
			shortcode, host, ok := strings.Cut(names[0], "@")
			if args.Shortcode, args.Host = strings.Trim(shortcode, ":"), host; !ok || args.Shortcode == "" || host == "" {
				return usage("%q is not of the form SHORTCODE@HOST", names[0])
			}
			e, err := perform(cmd.Context(), a, app.StealEmoji, args)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Copied :%s: into the pack %s.\n", e.Shortcode, printable(e.Pack))
			return nil
		},
	}
	cmd.Flags().StringVar(&args.Pack, "pack", "stolen", "`PACK` to which it is added")
	return cmd
}
