package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/internal/text"
	"svc/media"
)

func (a *cli) mediaUsageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show how much storage is used",
		Long: `Show how much storage is used.

Sizes are what files take on disk. Remote posts are part of the database; their size is an estimate by the newest ones.`,
		Args: noArgs,
	}
	return showCommand(a, cmd, app.StorageUsage, func() struct{} { return struct{}{} }, a.printUsage)
}

func (a *cli) printUsage(u *media.Usage) {
	table := a.table("WHAT", "FILES", "SIZE", "LIMIT")
	for _, c := range u.Classes {
		files := ""
		if c.Count > 0 {
			files = fmt.Sprint(c.Count)
		}
		row(table, c.Name, files, text.Bytes(c.Bytes), limitText(c.Limit))
	}
	row(table, "total", "", text.Bytes(u.Total), limitText(u.Limit))
	table.Flush()
	fmt.Fprintf(a.out, "\nRemote posts in the database: %d, about %s", u.RemotePosts.Count, text.Bytes(u.RemotePosts.EstimatedBytes))
	if u.RemotePosts.Limit > 0 {
		fmt.Fprintf(a.out, " of %s", text.Bytes(u.RemotePosts.Limit))
	}
	fmt.Fprintf(a.out, "\nFree on the disk: %s (at least %s stay free)\n", text.Bytes(u.DiskFree), text.Bytes(u.MinFree))
	if u.Full {
		fmt.Fprintf(a.out, "Uploads are refused: %s\n", u.Reason)
	}
	if u.Critical {
		fmt.Fprintln(a.out, "Posts of other servers are refused, too. Those servers try again later.")
	}
}

// limitText returns a size, "" for no limit.
func limitText(n int64) string {
	if n == 0 {
		return ""
	}
	return text.Bytes(n)
}
