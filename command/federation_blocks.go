package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"svc/admin"
	"svc/app"
	"svc/internal/config"
	"svc/internal/text"
)

// maxBlockList bounds the file of a list of blocks.
const maxBlockList = 4 << 20

func (a *cli) blockCommand() *cobra.Command {
	var rules []string
	var comment, private string
	var onlyHost, obfuscate, preview, asJSON bool
	cmd := &cobra.Command{
		Use:   "block HOST",
		Short: "Restrict another server: reject it, or follow other rules",
		Long: `Restrict another server and its subdomains, at once and for what is stored, too. Without --rule the server is rejected: its accounts and posts
are hidden, and nothing is sent to it or served to it. "svc federation unblock" shows them again, and follows are in effect again.

Rules: ` + ruleNames() + `. docs/policies.md explains them. Further rules are added to those that the server has.`,
		Example: "  svc federation block spam.example --comment spam\n  svc federation block rude.example --rule federated_timeline_removal --rule media_nsfw\n  svc federation block spam.example --preview",
		Args:    oneArg("HOST"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := admin.BlockChange{Host: args[0], Subdomains: !onlyHost}
			for _, r := range rules {
				c.Rules = append(c.Rules, config.HostRule(r))
			}
			if len(rules) == 0 {
				c.Rules = []config.HostRule{config.RejectHost, config.RejectFetches}
			}
			if preview {
				host := args[0]
				if !onlyHost {
					host = "*." + strings.TrimPrefix(host, "*.")
				}
				return a.preview(cmd, []string{host}, asJSON)
			}
			if cmd.Flags().Changed("comment") {
				c.Comment = &comment
			}
			if cmd.Flags().Changed("private-comment") {
				c.PrivateComment = &private
			}
			if cmd.Flags().Changed("obfuscate") {
				c.Obfuscate = &obfuscate
			}
			b, err := perform(cmd.Context(), a, app.BlockHost, c)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(b)
			}
			fmt.Fprintf(a.out, "%s: %s\n", b.Host, blockRules(b))
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&rules, "rule", nil, "a `RULE`; may be repeated")
	cmd.Flags().StringVar(&comment, "comment", "", "why, which is published")
	cmd.Flags().StringVar(&private, "private-comment", "", "why, for staff only")
	cmd.Flags().BoolVar(&onlyHost, "only-host", false, "without subdomains")
	cmd.Flags().BoolVar(&obfuscate, "obfuscate", false, "do not publish the rules for the server")
	cmd.Flags().BoolVar(&preview, "preview", false, "only show the stored data of the server")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func ruleNames() string {
	names := make([]string, len(config.HostRules))
	for i, r := range config.HostRules {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func blockRules(b *admin.HostBlock) string {
	names := make([]string, len(b.Rules))
	for i, r := range b.Rules {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// preview prints the stored accounts, posts and follows of hosts.
func (a *cli) preview(cmd *cobra.Command, hosts []string, asJSON bool) error {
	list, err := perform(cmd.Context(), a, app.PreviewHosts, hosts)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(list)
	}
	a.printPreview(list)
	return nil
}

func (a *cli) printPreview(list []admin.HostPreview) {
	if len(list) == 0 {
		fmt.Fprintln(a.out, "Nothing is stored of these servers.")
		return
	}
	table := a.table("HOST", "ACCOUNTS", "POSTS", "FOLLOWERS", "FOLLOWING")
	for _, p := range list {
		row(table, p.Host, p.Accounts, p.Posts, p.Followers, p.Following)
	}
	table.Flush()
}

func (a *cli) unblockCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "unblock HOST…",
		Short:   "Remove all rules for other servers",
		Example: "  svc federation unblock spam.example",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("HOST is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := perform(cmd.Context(), a, app.UnblockHosts, args)
			for _, b := range list {
				fmt.Fprintf(a.out, "%s is no longer restricted.\n", b.Host)
			}
			return err
		},
	}
}

func (a *cli) blocksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "blocks",
		Short: "List restricted servers",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ListHostBlocks, func() struct{} { return struct{}{} }, func(list []*admin.HostBlock) {
		table := a.table("HOST", "SUBDOMAINS", "RULES", "COMMENT", "PRIVATE COMMENT")
		for _, b := range list {
			row(table, b.Host, yesNo(b.Subdomains), blockRules(b), b.Comment, b.PrivateComment)
		}
		table.Flush()
	})
}

func (a *cli) importBlocksCommand() *cobra.Command {
	var preview, asJSON bool
	cmd := &cobra.Command{
		Use:   "import-blocks FILE",
		Short: "Import a list of blocks",
		Long: `Import a list of blocks: the CSV of other servers (#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate), a JSON list of
hosts or objects with a "domain", or one host a line. Entries without a severity are rejected. "-" is standard input. Skipped entries are
listed with the reason.`,
		Example: "  svc federation import-blocks blocks.csv --preview\n  svc federation import-blocks blocks.csv",
		Args:    oneArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := a.readBlockList(args[0])
			if err != nil {
				return err
			}
			result, err := perform(cmd.Context(), a, app.ImportHostBlocks, admin.BlockImport{File: file, Preview: preview})
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(result)
			}
			for _, s := range result.Skipped {
				fmt.Fprintf(a.out, "line %d: %s: %s\n", s.Line, printable(s.Host), printable(s.Reason))
			}
			if preview {
				a.printPreview(result.Hit)
				fmt.Fprintf(a.out, "To be restricted: %s. Skipped: %s.\n", text.Count(result.Imported, "server"), text.Count(len(result.Skipped), "entry"))
				return nil
			}
			fmt.Fprintf(a.out, "Restricted: %s. Skipped: %s.\n", text.Count(result.Imported, "server"), text.Count(len(result.Skipped), "entry"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&preview, "preview", false, "change nothing, and show the stored data of the listed servers")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) readBlockList(name string) (string, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxBlockList+1))
	if err == nil && len(text) > maxBlockList {
		err = fmt.Errorf("%s is too large for a list of blocks", name)
	}
	return string(text), err
}

func (a *cli) exportBlocksCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "export-blocks",
		Short:   "Print restricted servers as the CSV that other servers read",
		Example: "  svc federation export-blocks > blocks.csv",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := perform(cmd.Context(), a, app.ExportHostBlocks, struct{}{})
			fmt.Fprint(a.out, list)
			return err
		},
	}
}
