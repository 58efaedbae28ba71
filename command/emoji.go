package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/emoji"
	"svc/internal/text"
)

func (a *cli) emojiCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "emoji",
		Short: "Manage packs of custom emoji",
		Long: `Manage packs of custom emoji. A pack is a folder with pictures and a pack.json in the folder emoji/ of the data directory. A
running server has the changes at once.`,
	})
	cmd.AddCommand(a.emojiImportCommand(), a.emojiGetCommand(), a.emojiListCommand(), a.emojiCheckCommand(), a.emojiExportCommand(),
		a.emojiRemoveCommand(), a.emojiReloadCommand(), a.emojiStealCommand())
	return cmd
}

// importedPack is a pack that a command has imported.
type importedPack struct {
	*emoji.Installed
	Source  string          `json:"source"`
	Bytes   int64           `json:"bytes"`
	Skipped []emoji.Skipped `json:"skipped"`
}

// emojiImport imports packs and prints them.
type emojiImport struct {
	*cli
	selection emoji.Selection
	json      bool

	unpacker *emoji.Unpacker
	imported []importedPack
}

// flags adds the flags of commands that import.
func (i *emojiImport) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.selection.As, "pack", "", "`NAME` of the new pack (default: that of the source)")
	cmd.Flags().BoolVar(&i.selection.Replace, "force", false, "replace a pack that exists")
	cmd.Flags().BoolVar(&i.json, "json", false, "print JSON")
}

func (a *cli) emojiImportCommand() *cobra.Command {
	i := &emojiImport{cli: a}
	cmd := &cobra.Command{
		Use:   "import SOURCE…",
		Short: "Import packs from folders, archives and URLs",
		Long: `Import packs of custom emoji. SOURCE is
  - a folder with a pack.json, or with pictures: their names become the shortcodes;
  - a zip archive of such a folder, as a file or an https URL;
  - a manifest, as a file or an https URL: a JSON object of packs by name with src, src_sha256 and files. All its packs are
    imported; "svc emoji get" imports some.

Pictures are PNG, GIF, WebP or JPEG files of at most 256 KiB and 2048 × 2048 pixels; a pack has at most 5000 of them and 64 MiB. A source
with an unsafe entry is refused as a whole, and the message names the entry.`,
		Example: "  svc emoji import blobs.zip\n  svc emoji import ~/cats --pack cats\n  svc emoji import https://example.org/blobs.zip --force",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("SOURCE is missing: name a folder, a zip archive, a manifest or a URL")
			case len(args) > 1 && i.selection.As != "":
				return usage("--pack names one pack, and there are %s", text.Count(len(args), "source"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return i.run(cmd.Context(), args) },
	}
	i.flags(cmd)
	return cmd
}

// run imports the packs of sources. A source that fails does not keep the others from being imported.
func (i *emojiImport) run(ctx context.Context, sources []string) error {
	c, _, err := app.LoadSettings(i.configFile)
	if err != nil {
		return err
	}
	if i.unpacker, err = app.UnpackEmoji(c); err != nil {
		return err
	}
	var failed []error
	for _, source := range sources {
		if err := i.read(ctx, source); err != nil {
			if len(sources) > 1 {
				err = fmt.Errorf("%s: %w", source, err)
			}
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if i.json {
		if i.imported == nil {
			i.imported = []importedPack{}
		}
		failed = append(failed, i.printJSON(i.imported))
	}
	return errors.Join(failed...)
}

// read imports the packs of one source.
func (i *emojiImport) read(ctx context.Context, source string) error {
	steps := i.steps()
	i.unpacker.Progress = steps.report
	defer steps.end()
	return i.unpacker.Read(ctx, source, i.selection, func(name string, in *emoji.IncomingPack) error {
		steps.end()
		installed, err := perform(ctx, i.cli, app.InstallPack, in.Unpacked(name, i.selection.Replace))
		if err != nil {
			return err
		}
		if in.Skipped == nil {
			in.Skipped = []emoji.Skipped{}
		}
		pack := importedPack{Installed: installed, Source: source, Bytes: in.Bytes, Skipped: in.Skipped}
		i.imported = append(i.imported, pack)
		if !i.json {
			i.print(pack)
		}
		return nil
	})
}

func (i *emojiImport) print(pack importedPack) {
	fmt.Fprintf(i.out, "Imported the pack %s: %d emoji, %s.\n", printable(pack.Name), pack.Emoji, text.Bytes(pack.Bytes))
	for _, s := range pack.Skipped {
		fmt.Fprintf(i.out, "  skipped %s: %s\n", printable(s.Entry), printable(s.Reason))
	}
	for _, code := range slices.Sorted(maps.Keys(pack.Hidden)) {
		fmt.Fprintf(i.out, "  hidden :%s: because the pack %s has this shortcode\n", code, printable(pack.Hidden[code]))
	}
}

func (a *cli) emojiGetCommand() *cobra.Command {
	i := &emojiImport{cli: a}
	var manifest string
	cmd := &cobra.Command{
		Use:   "get [PACK…] --manifest SOURCE",
		Short: "Import packs of a manifest, or list them",
		Long: `Import packs of a manifest by their names. Without PACK, the packs of the manifest are listed. The archive of each pack must have the
SHA-256 that the manifest states.`,
		Example: "  svc emoji get --manifest https://example.org/index.json\n  svc emoji get blobs cats --manifest https://example.org/index.json",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case manifest == "":
				return usage("--manifest is missing: name the file or URL of a manifest")
			case len(args) > 1 && i.selection.As != "":
				return usage("--pack names one pack, and there are %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return i.listManifest(cmd.Context(), manifest)
			}
			i.selection.Packs = args
			return i.run(cmd.Context(), []string{manifest})
		},
	}
	cmd.Flags().StringVarP(&manifest, "manifest", "m", "", "file or https URL of the `MANIFEST`")
	i.flags(cmd)
	return cmd
}

// listManifest prints the packs of a manifest.
func (i *emojiImport) listManifest(ctx context.Context, manifest string) error {
	c, _, err := app.LoadSettings(i.configFile)
	if err != nil {
		return err
	}
	if i.unpacker, err = app.UnpackEmoji(c); err != nil {
		return err
	}
	packs, err := i.unpacker.Manifest(ctx, manifest)
	if err != nil {
		return err
	}
	if i.json {
		return i.printJSON(packs)
	}
	table := i.table("PACK", "LICENSE", "HOMEPAGE", "SOURCE", "DESCRIPTION")
	for _, p := range packs {
		row(table, p.Name, p.License, p.Homepage, p.Source, p.Description)
	}
	return table.Flush()
}
