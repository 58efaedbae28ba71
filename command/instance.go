package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) instanceCommand() *cobra.Command {
	cmd := group(&cobra.Command{Use: "instance", Short: "Manage what the server says about itself"})
	document := group(&cobra.Command{
		Use:   "document",
		Short: "Manage the panel, the terms of service and the privacy policy",
		Long: `Manage the documents of the server: instance-panel, terms-of-service and privacy-policy. They are HTML without scripts. Front ends
show the panel; /terms and /privacy show the others, to which apps link.`,
	})
	document.AddCommand(a.documentShowCommand(), a.documentSetCommand(), a.documentDeleteCommand())
	cmd.AddCommand(document, a.instanceStatsCommand())
	return cmd
}

func (a *cli) instanceStatsCommand() *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count the stored posts by visibility, without boosts",
		Args:  noArgs,
	}
	cmd.Flags().StringVar(&host, "instance", "", "only posts of accounts of this `HOST`")
	return showCommand(a, cmd, app.CountPosts, func() string { return host }, func(c *admin.VisibilityCounts) {
		table := a.table("VISIBILITY", "POSTS")
		row(table, "public", c.Public)
		row(table, "unlisted", c.Unlisted)
		row(table, "private", c.Private)
		row(table, "direct", c.Direct)
		table.Flush()
	})
}

func (a *cli) documentShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print a document; nothing if the default is shown",
		Args:  oneArg("NAME"),
		RunE:  printing(a, app.ShowDocument, func(doc *admin.Document) { fmt.Fprint(a.out, doc.Content) }),
	}
}

func (a *cli) documentSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "set NAME FILE",
		Short:   "Replace a document by the HTML of a file",
		Example: "  svc instance document set terms-of-service terms.html",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("the command takes NAME and FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[1])
			if err != nil {
				return err
			}
			defer file.Close()
			content, err := io.ReadAll(io.LimitReader(file, admin.MaxDocument+1))
			if err != nil {
				return err
			}
			doc, err := perform(cmd.Context(), a, app.WriteDocument, admin.DocumentChange{Name: args[0], Content: string(content)})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is shown at %s\n", doc.Name, doc.URL)
			return nil
		},
	}
}

func (a *cli) documentDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a document, so that the default is shown",
		Args:  oneArg("NAME"),
		RunE: printing(a, app.DeleteDocument, func(doc *admin.Document) {
			fmt.Fprintf(a.out, "Deleted %s.\n", doc.Name)
		}),
	}
}
