package command

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/federation"
	"svc/internal/text"
)

func (a *cli) federationCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "federation",
		Short: "Inspect, retry and restrict federation",
	})
	cmd.AddCommand(a.deliveriesCommand(), a.peersCommand(), a.explainCommand(), a.retryCommand(), a.dropCommand(), a.fetchCommand(), a.purgeCommand(), a.purgesCommand(), a.goodbyeCommand(),
		a.blockCommand(), a.unblockCommand(), a.blocksCommand(), a.importBlocksCommand(), a.exportBlocksCommand())
	return cmd
}

func (a *cli) deliveriesCommand() *cobra.Command {
	var q federation.QueueQuery
	cmd := &cobra.Command{
		Use:   "deliveries",
		Short: "Show queued deliveries and incoming activities",
		Long: `Show queued deliveries, and incoming activities that are not processed yet.

A failed delivery is retried for two days with growing intervals. Then it is parked for a month, in which
"svc federation retry" can retry it.`,
		Example: "  svc federation deliveries\n  svc federation deliveries --host example.org\n  svc federation deliveries --failed",
		Args:    noArgs,
	}
	cmd.Flags().StringVar(&q.Host, "host", "", "list the deliveries to a `HOST`")
	cmd.Flags().BoolVar(&q.Failed, "failed", false, "list parked deliveries, and incoming activities that failed")
	return showCommand(a, cmd, app.ShowQueue, func() federation.QueueQuery { return q }, a.printQueue)
}

func (a *cli) printQueue(q *federation.QueueStatus) {
	if len(q.Hosts) == 0 {
		fmt.Fprintln(a.out, "No deliveries are queued.")
	} else {
		table := a.table("HOST", "QUEUED", "PARKED", "OLDEST", "NEXT ATTEMPT", "LAST ERROR")
		for _, h := range q.Hosts {
			row(table, h.Host, h.Queued, h.Parked, ago(&h.Oldest), until(h.NextAttempt), h.LastError)
		}
		table.Flush()
	}
	if len(q.Deliveries) > 0 {
		fmt.Fprintln(a.out)
		table := a.table("ID", "INBOX", "TYPE", "ATTEMPTS", "QUEUED", "NEXT ATTEMPT", "LAST ERROR")
		for _, d := range q.Deliveries {
			row(table, d.ID, d.Inbox, d.Type, d.Attempts, ago(&d.QueuedAt), nextAttempt(d.NextAttempt, d.Parked), d.LastError)
		}
		table.Flush()
	}
	fmt.Fprintf(a.out, "\nIncoming activities queued: %d, of which %d failed and are retried; parked: %d.\n", q.Incoming.Queued, q.Incoming.Failed,
		q.Incoming.Parked)
	a.printIncoming(q.FailedIncoming)
}

func (a *cli) printIncoming(list []*federation.QueuedActivity) {
	if len(list) == 0 {
		return
	}
	table := a.table("ID", "SIGNER", "ACTIVITY", "ATTEMPTS", "RECEIVED", "NEXT ATTEMPT", "LAST ERROR")
	for _, r := range list {
		row(table, r.ID, r.Signer, r.Type+" "+r.Activity, r.Attempts, ago(&r.ReceivedAt), nextAttempt(r.NextAttempt, r.Parked), r.LastError)
	}
	table.Flush()
}

func (a *cli) peersCommand() *cobra.Command {
	var q federation.PeerQuery
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "peers",
		Short:   "List known servers",
		Example: "  svc federation peers --unreachable",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []*federation.Peer{}
			for {
				page, err := perform(cmd.Context(), a, app.ListPeers, q)
				if err != nil {
					return err
				}
				all = append(all, page...)
				if len(page) == 0 || q.Unreachable {
					break
				}
				q.After = page[len(page)-1].Host
			}
			if asJSON {
				return a.printJSON(all)
			}
			table := a.table("HOST", "SOFTWARE", "LAST SUCCESS", "FAILURES", "BACKOFF", "UNREACHABLE", "NOTE")
			for _, p := range all {
				note := p.LastError
				if p.RejectReason != "" {
					note = p.RejectReason
				}
				row(table, p.Host, p.Software, ago(p.LastSuccessAt), p.Failures, until(p.BackoffUntil), since(p.UnreachableSince), note)
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&q.Unreachable, "unreachable", false, "only unreachable servers, longest first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *cli) explainCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "explain URL|HANDLE|HOST",
		Short: "Explain why a post, account or activity did or did not arrive",
		Long: `Explain what this server knows of a remote post, account or activity: whether it is stored and how it arrived, whether it was
refused and why, its queued activities, and the answer of its server to a fetch of it. URL is its id or the URL of its page. For a post of
this server, it lists the servers that it is for, with the state of its delivery; for a host, since when it fails and what waits for it. The
command changes nothing.`,
		Example: "  svc federation explain https://example.org/users/alice/statuses/1\n  svc federation explain alice@example.org\n  svc federation explain example.org",
		Args: func(cmd *cobra.Command, args []string) error {
			err := oneArg("URL or HANDLE")(cmd, args)
			if err == nil {
				url = args[0]
			}
			return err
		},
	}
	return showCommand(a, cmd, app.Explain, func() string { return url }, a.printExplanation)
}

func (a *cli) printExplanation(e *federation.Explanation) {
	words := strings.NewReplacer("_", " ")
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, f := range e.Facts() {
		parts := []string{f.Text, words.Replace(f.State)}
		if f.At != nil {
			parts = append(parts, ago(f.At))
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		fmt.Fprintf(table, "%s:\t%s\n", words.Replace(f.Name), printable(strings.Join(parts, ", ")))
	}
	table.Flush()
	if len(e.Recipients) > 0 {
		fmt.Fprintln(a.out, "\nRecipients:")
		table := a.table("HOST", "STATE", "LAST ERROR")
		for _, to := range e.Recipients {
			row(table, to.Host, to.State, to.LastError)
		}
		table.Flush()
	}
	if len(e.Deliveries) > 0 {
		fmt.Fprintln(a.out, "\nQueued for this host:")
		table := a.table("SINCE", "TYPE", "ACTIVITY", "ATTEMPTS", "LAST ERROR")
		for _, d := range e.Deliveries {
			row(table, ago(&d.QueuedAt), d.Type, d.Activity, fmt.Sprint(d.Attempts), d.LastError)
		}
		table.Flush()
	}
	if len(e.Refusals) > 0 {
		fmt.Fprintln(a.out, "\nRefused:")
		table := a.table("WHEN", "HOST", "ACTIVITY", "REASON")
		for _, r := range e.Refusals {
			row(table, ago(&r.At), r.Host, r.Activity, r.Reason)
		}
		table.Flush()
	}
	if len(e.Queued) > 0 {
		fmt.Fprintln(a.out, "\nQueued:")
		a.printIncoming(e.Queued)
	}
}

func (a *cli) retryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "retry",
		Short:   "Retry failed deliveries and incoming activities now",
		Example: "  svc federation retry --host example.org\n  svc federation retry --all",
	}
	return a.queueChangeCommand(cmd, app.Retry, "Retrying now: %s, %s.\n")
}

func (a *cli) dropCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drop",
		Short: "Delete queued and parked deliveries, and parked incoming activities",
		Long: `Delete queued and parked deliveries, and parked incoming activities. The servers that they are for never receive them. A delivery that is
being sent may still arrive.`,
		Example: "  svc federation drop --host dead.example.org\n  svc federation drop --id 1234567890123456",
	}
	return a.queueChangeCommand(cmd, app.Drop, "Dropped: %s, %s.\n")
}

// queueChangeCommand completes a command that changes what its flags select from the queues.
func (a *cli) queueChangeCommand(cmd *cobra.Command, call app.Call[federation.RetryQuery, *federation.RetryResult], done string) *cobra.Command {
	var q federation.RetryQuery
	cmd.Args = noArgs
	cmd.PreRunE = func(*cobra.Command, []string) error {
		selectors := 0
		for _, set := range []bool{q.Host != "", q.ID != 0, q.All} {
			if set {
				selectors++
			}
		}
		if selectors != 1 {
			return usage("name what to %s: --host, --id or --all", cmd.Use)
		}
		return nil
	}
	cmd.Flags().StringVar(&q.Host, "host", "", "all deliveries to a `HOST`, and failed incoming activities from it")
	cmd.Flags().Int64Var(&q.ID, "id", 0, "the delivery or incoming activity with this `ID`")
	cmd.Flags().BoolVar(&q.All, "all", false, "all deliveries and failed incoming activities")
	return showCommand(a, cmd, call, func() federation.RetryQuery { return q }, func(r *federation.RetryResult) {
		fmt.Fprintf(a.out, done, text.Count(r.Deliveries, "delivery"), text.Count(r.Incoming, "incoming activity"))
	})
}

func (a *cli) fetchCommand() *cobra.Command {
	var query string
	cmd := &cobra.Command{
		Use:   "fetch ADDRESS",
		Short: "Fetch an account or a post of another server again",
		Long: `Fetch an account or a post of another server again, or for the first time: by handle (user@example.org) or by its address. A post that its
server does not have any more is deleted here.`,
		Example: "  svc federation fetch carol@example.org\n  svc federation fetch https://example.org/notes/1",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				query = args[0]
			}
			return oneArg("ADDRESS")(cmd, args)
		},
	}
	return showCommand(a, cmd, app.Refetch, func() string { return query }, func(r *app.Refetched) {
		switch {
		case r.Account != "":
			fmt.Fprintf(a.out, "Account %s is up to date.\n", r.Account)
		case r.Gone:
			fmt.Fprintf(a.out, "Post %s is gone, and deleted here.\n", r.Post)
		default:
			fmt.Fprintf(a.out, "Post %s is up to date.\n", r.Post)
		}
	})
}
