package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) statusCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "status",
		Short: "Moderate posts",
		Long: `Moderate posts of this server and of others, whatever their audience. Changing and deleting posts adds an entry to the moderation
log.`,
	})
	cmd.AddCommand(a.statusListCommand(), a.statusShowCommand(), a.statusSetCommand(), a.statusDeleteCommand())
	return cmd
}

func (a *cli) statusListCommand() *cobra.Command {
	var q admin.StatusQuery
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List posts, newest first",
		Example: "  svc status list --account spammer@example.com\n  svc status list --instance example.com --limit 100",
		Args: func(cmd *cobra.Command, args []string) error {
			if (q.Account != "" && q.Instance != "") || q.LocalOnly && q.Account+q.Instance != "" {
				return usage("use one of --account, --instance and --local")
			}
			return noArgs(cmd, args)
		},
	}
	cmd.Flags().StringVar(&q.Account, "account", "", "only posts of this account: `NICK` or id")
	cmd.Flags().StringVar(&q.Instance, "instance", "", "only posts of accounts of this `HOST`")
	cmd.Flags().BoolVar(&q.LocalOnly, "local", false, "only posts of local accounts")
	cmd.Flags().BoolVar(&q.Godmode, "restricted", false, "also posts for followers, lists and single accounts")
	cmd.Flags().BoolVar(&q.WithReblogs, "boosts", false, "also boosts")
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "list at most `N` posts, up to 100")
	cmd.Flags().IntVar(&q.Offset, "offset", 0, "leave out the first `N`")
	posts := func(list *admin.PostList) []*admin.Post { return list.Posts }
	return listCommand(a, cmd, app.ListPosts, func() admin.StatusQuery { return q }, posts, func(list *admin.PostList) {
		table := a.table("ID", "TIME", "ACCOUNT", "VISIBILITY", "TEXT")
		for _, p := range list.Posts {
			row(table, p.ID, p.CreatedAt.Local().Format(time.DateTime), p.Account, p.Visibility, summary(p))
		}
		table.Flush()
	})
}

// summary returns the beginning of a post.
func summary(p *admin.Post) string {
	const length = 60
	if p.ReblogOf != "" {
		return "boost of " + p.ReblogOf
	}
	text := []rune(p.Text)
	if p.Spoiler != "" {
		text = []rune("[" + p.Spoiler + "] " + p.Text)
	}
	if len(text) > length {
		return string(text[:length]) + "…"
	}
	return string(text)
}

func (a *cli) statusShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a post of any audience",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := perform(cmd.Context(), a, app.ShowPost, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(p)
			}
			table := a.table("POST", p.ID)
			row(table, "URI", p.URI)
			row(table, "Account", p.Account)
			row(table, "Time", p.CreatedAt.Local().Format(time.DateTime))
			row(table, "Visibility", p.Visibility)
			row(table, "Sensitive", yesNo(p.Sensitive))
			row(table, "Boost of", p.ReblogOf)
			row(table, "Spoiler text", p.Spoiler)
			table.Flush()
			fmt.Fprintf(a.out, "\n%s\n", printable(p.Text))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) statusSetCommand() *cobra.Command {
	var sensitive bool
	var visibility string
	cmd := &cobra.Command{
		Use:     "set ID",
		Short:   "Mark a post as sensitive, or change its visibility",
		Long:    "Mark a post as sensitive, or change its visibility, on this server only. Flags that are not given change nothing.",
		Example: "  svc status set AbCdEf --sensitive\n  svc status set AbCdEf --visibility unlisted",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := admin.StatusChange{ID: args[0]}
			if cmd.Flags().Changed("sensitive") {
				c.Sensitive = &sensitive
			}
			if cmd.Flags().Changed("visibility") {
				c.Visibility = &visibility
			}
			if c.Sensitive == nil && c.Visibility == nil {
				return usage("nothing to change: add --sensitive or --visibility")
			}
			p, err := perform(cmd.Context(), a, app.UpdatePost, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Post %s of %s is %s. Sensitive: %s.\n", p.ID, p.Account, p.Visibility, yesNo(p.Sensitive))
			return nil
		},
	}
	cmd.Flags().BoolVar(&sensitive, "sensitive", false, "hide the media behind a warning")
	cmd.Flags().StringVar(&visibility, "visibility", "", "the new `VISIBILITY`: public, unlisted or private")
	return cmd
}

func (a *cli) statusDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete ID --yes",
		Short: "Delete a post with its media",
		Long:  "Delete a post with its media. This cannot be undone. Other servers receive the deletion of a local post.",
		Args:  oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to delete post %s", args[0])
			}
			p, err := perform(cmd.Context(), a, app.DeletePost, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Deleted post %s of %s.\n", p.ID, p.Account)
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the deletion")
	return cmd
}
