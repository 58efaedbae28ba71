package command

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/emoji"
	"svc/internal/text"
)

func (a *cli) emojiListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the packs", Args: noArgs}
	return showCommand(a, cmd, app.ListPacks, func() struct{} { return struct{}{} }, a.printPacks)
}

func (a *cli) printPacks(packs []*emoji.PackReport) {
	if len(packs) == 0 {
		fmt.Fprintln(a.out, "There are no packs.")
		return
	}
	table := a.table("PACK", "EMOJI", "HIDDEN", "SIZE", "SHARED", "LICENSE")
	for _, p := range packs {
		row(table, p.Name, p.Emoji, p.Hidden, text.Bytes(p.Bytes), yesNo(p.Shared), p.License)
	}
	table.Flush()
	for _, p := range packs {
		for _, problem := range p.Problems {
			fmt.Fprintf(a.errOut, "The pack %s is not used: %s: %s\n", printable(p.Name), problem.File, printable(problem.Reason))
		}
	}
}

func (a *cli) emojiReloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Read the packs again after a change of files",
		Args:  noArgs,
	}
	return showCommand(a, cmd, app.ReloadPacks, func() struct{} { return struct{}{} }, a.printPacks)
}

func (a *cli) emojiCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [PACK…]",
		Short: "Check packs for errors",
		Long: `Check all packs, or those that are named: pictures that are missing, damaged, too large, of another type than their names claim, or
that no shortcode shows; shortcodes that another pack has. The exit code is 1 if there are problems.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			packs, err := perform(cmd.Context(), a, app.CheckPacks, args)
			if err != nil {
				return err
			}
			problems, broken := 0, 0
			for _, p := range packs {
				if problems += len(p.Problems); len(p.Problems) > 0 {
					broken++
				}
			}
			if asJSON {
				if err := a.printJSON(packs); err != nil {
					return err
				}
			} else {
				a.printProblems(packs)
			}
			if problems > 0 {
				return fmt.Errorf("%s in %d of %s", text.Count(problems, "problem"), broken, text.Count(len(packs), "pack"))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) printProblems(packs []*emoji.PackReport) {
	for _, p := range packs {
		verdict := "ok"
		if len(p.Problems) > 0 {
			verdict = text.Count(len(p.Problems), "problem")
		}
		name := cmp.Or(p.Name, "files outside of folders")
		fmt.Fprintf(a.out, "%s: %d emoji, %s\n", printable(name), p.Emoji, verdict)
		for _, problem := range p.Problems {
			where := problem.File
			if problem.Shortcode != "" {
				where = ":" + problem.Shortcode + ": " + where
			}
			if where != "" {
				where += ": "
			}
			fmt.Fprintf(a.out, "  %s\n", printable(where+problem.Reason))
		}
	}
}

func (a *cli) emojiRemoveCommand() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:     "remove PACK… --yes",
		Short:   "Remove packs with their files",
		Example: "  svc emoji remove blobs cats --yes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("PACK is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes {
				return usage("this cannot be undone: add --yes to remove the files of %s", text.Count(len(args), "pack"))
			}
			removed, err := perform(cmd.Context(), a, app.RemovePacks, args)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(map[string]any{"removed": removed})
			}
			for _, name := range removed {
				fmt.Fprintf(a.out, "Removed the pack %s.\n", printable(name))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the removal")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// exportedPack is an archive that the command has written.
type exportedPack struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (a *cli) emojiExportCommand() *cobra.Command {
	var output string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "export PACK… [--output FOLDER]",
		Short: "Write packs to zip archives",
		Long: `Write each pack to an archive PACK.zip: the pack.json and the pictures that it lists. The same pack always gives the same bytes. The
pack need not be shared with other servers.`,
		Example: "  svc emoji export blobs\n  svc emoji export blobs cats --output /mnt/usb",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("PACK is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := app.LoadSettings(a.configFile)
			if err != nil {
				return err
			}
			list := []exportedPack{}
			for _, name := range args {
				e := exportedPack{Name: name, File: filepath.Join(output, name+".zip")}
				if e.Bytes, e.SHA256, err = app.ExportPack(c, name, e.File, force); err != nil {
					return err
				}
				if !asJSON {
					fmt.Fprintf(a.out, "Wrote %s (%s, SHA-256 %s).\n", printable(e.File), text.Bytes(e.Bytes), e.SHA256)
				}
				list = append(list, e)
			}
			if asJSON {
				return a.printJSON(list)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", ".", "`FOLDER` for the archives")
	cmd.Flags().BoolVar(&force, "force", false, "replace an archive that exists")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
