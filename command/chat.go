package command

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) chatCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "chat",
		Short: "Moderate chats",
		Long:  `Moderate chats, for example after a report. Deleting a message adds an entry to the moderation log.`,
	})
	cmd.AddCommand(a.chatListCommand(), a.chatMessagesCommand(), a.chatDeleteCommand())
	return cmd
}

func (a *cli) chatListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list NICK",
		Short: "List the chats of an account, latest message first",
		Args:  oneArg("NICK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			chats, err := perform(cmd.Context(), a, app.ListChats, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(chats)
			}
			table := a.table("ID", "WITH", "UNREAD", "UPDATED")
			for _, c := range chats {
				row(table, c.ID, c.With, c.Unread, c.UpdatedAt.Local().Format(time.DateTime))
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) chatMessagesCommand() *cobra.Command {
	var q admin.ChatQuery
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "messages CHAT",
		Short: "List the messages of a chat, newest first",
		Args:  oneArg("CHAT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Chat = args[0]
			messages, err := perform(cmd.Context(), a, app.ListMessages, q)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(messages)
			}
			table := a.table("ID", "TIME", "ACCOUNT", "TEXT")
			for _, m := range messages {
				row(table, m.ID, m.CreatedAt.Local().Format(time.DateTime), m.Account, m.Text)
			}
			return table.Flush()
		},
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "list at most `N` messages, up to 200")
	cmd.Flags().StringVar(&q.Before, "before", "", "only messages that are older than the one with this `ID`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) chatDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete CHAT MESSAGE --yes",
		Short: "Delete a message for both sides of a chat",
		Args:  exactArgs("CHAT", "MESSAGE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to delete message %s", args[1])
			}
			if _, err := perform(cmd.Context(), a, app.DeleteMessage, admin.MessageName{Chat: args[0], Message: args[1]}); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Deleted message %s.\n", args[1])
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the deletion")
	return cmd
}
