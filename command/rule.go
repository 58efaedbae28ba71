package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
)

func (a *cli) ruleCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "rule",
		Short: "Manage the rules of the server",
		Long:  `Manage the rules of the server. Apps show them before registration and in reports.`,
	})
	cmd.AddCommand(a.ruleAddCommand(), a.ruleListCommand(), a.ruleSetCommand(), a.ruleDeleteCommand())
	return cmd
}

// ruleFlags are the flags for the members of a rule.
type ruleFlags struct {
	hint     string
	priority int
}

func (f *ruleFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.hint, "hint", "", "`TEXT` that explains the rule")
	cmd.Flags().IntVar(&f.priority, "priority", 0, "`NUMBER` by which rules are ordered: lower ones come first")
}

func (a *cli) ruleAddCommand() *cobra.Command {
	var f ruleFlags
	cmd := &cobra.Command{
		Use:     "add TEXT",
		Short:   "Add a rule",
		Example: "  svc rule add \"Be kind.\" --hint \"Attack ideas, not their authors.\"",
		Args:    oneArg("TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			created, err := perform(cmd.Context(), a, app.CreateRule, admin.RuleChange{Text: &args[0], Hint: &f.hint, Priority: &f.priority})
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Added rule %s.\n", created.ID)
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func (a *cli) ruleListCommand() *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use:   "list",
		Short: "List the rules in their order",
		Args:  noArgs,
	}, app.ListRules, func() struct{} { return struct{}{} }, func(list []*admin.Rule) {
		table := a.table("ID", "PRIORITY", "TEXT", "HINT")
		for _, r := range list {
			row(table, r.ID, r.Priority, r.Text, r.Hint)
		}
		table.Flush()
	})
}

func (a *cli) ruleSetCommand() *cobra.Command {
	var f ruleFlags
	var text string
	cmd := &cobra.Command{
		Use:     "set ID",
		Short:   "Change a rule",
		Long:    "Change a rule. Flags that are not given change nothing.",
		Example: "  svc rule set 2 --priority 10",
		Args:    oneArg("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := admin.RuleChange{ID: args[0]}
			if cmd.Flags().Changed("text") {
				c.Text = &text
			}
			if cmd.Flags().Changed("hint") {
				c.Hint = &f.hint
			}
			if cmd.Flags().Changed("priority") {
				c.Priority = &f.priority
			}
			changed, err := perform(cmd.Context(), a, app.UpdateRule, c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Changed rule %s.\n", changed.ID)
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&text, "text", "", "the new `TEXT`")
	return cmd
}

func (a *cli) ruleDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a rule",
		Args:  oneArg("ID"),
		RunE: printing(a, app.DeleteRule, func(deleted *admin.Rule) {
			fmt.Fprintf(a.out, "Deleted rule %s.\n", deleted.ID)
		}),
	}
}
