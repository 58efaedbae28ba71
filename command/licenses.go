package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/licenses"
)

func (a *cli) licensesCommand() *cobra.Command {
	var texts, asJSON bool
	cmd := &cobra.Command{
		Use:   "licenses",
		Short: "List what the program consists of, with the licences",
		Long: `List what the program consists of, with the licences: the program itself, the Go library, the modules that it links, the libraries of
its pages, and data of Unicode. With --texts, the texts of the licences follow, each once.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := licenses.All()
			if asJSON {
				return a.printJSON(list)
			}
			table := a.table("COMPONENT", "VERSION", "LICENCE")
			for _, c := range list.Components {
				version := c.Version
				if c.Name == "svc" {
					version = app.Version
				}
				row(table, c.Name, version, c.License)
			}
			if err := table.Flush(); err != nil || !texts {
				return err
			}
			for n, text := range list.Texts {
				var of []string
				for _, c := range list.Components {
					if slices.Contains(c.Texts, n) {
						of = append(of, c.Name)
					}
				}
				fmt.Fprintf(a.out, "\n==== %s\n\n%s", strings.Join(of, ", "), text)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&texts, "texts", false, "print the texts of the licences, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the texts")
	return cmd
}
