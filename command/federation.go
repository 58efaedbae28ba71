package command

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"svc/app"
	"svc/federation"
)

func (a *cli) federationCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "federation",
		Short: "See how the exchange with other servers goes",
	})
	cmd.AddCommand(a.deliveriesCommand(), a.peersCommand(), a.explainCommand(), a.retryCommand())
	return cmd
}

func (a *cli) deliveriesCommand() *cobra.Command {
	var q federation.QueueQuery
	cmd := &cobra.Command{
		Use:   "deliveries",
		Short: "Show what waits to be delivered, and what came in and is not done with",
		Long: `Show what waits to be delivered, and what came in and is not done with.

A delivery that fails is tried again for two days, with growing pauses. Then it is given up, and kept for a month, in which
"svc federation retry" can try it once more.`,
		Example: "  svc federation deliveries\n  svc federation deliveries --host example.org\n  svc federation deliveries --failed",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&q.Host, "host", "", "one by one what waits for a `HOST`")
	cmd.Flags().BoolVar(&q.Failed, "failed", false, "one by one what failed for good, and what came in and failed")
	return showCommand(a, cmd, app.ShowQueue, func() federation.QueueQuery { return q }, a.printQueue)
}

func (a *cli) printQueue(q *federation.QueueStatus) {
	if len(q.Hosts) == 0 {
		fmt.Fprintln(a.out, "Nothing waits to be delivered.")
	} else {
		table := a.table("HOST", "WAITING", "GIVEN UP", "OLDEST", "NEXT TRY", "LAST ERROR")
		for _, h := range q.Hosts {
			row(table, h.Host, h.Queued, h.Parked, ago(&h.Oldest), until(h.NextAttempt), h.LastError)
		}
		table.Flush()
	}
	if len(q.Deliveries) > 0 {
		fmt.Fprintln(a.out)
		table := a.table("ID", "INBOX", "WHAT", "TRIES", "QUEUED", "NEXT TRY", "LAST ERROR")
		for _, d := range q.Deliveries {
			row(table, d.ID, d.Inbox, d.Type, d.Attempts, ago(&d.QueuedAt), nextAttempt(d.NextAttempt, d.Parked), d.LastError)
		}
		table.Flush()
	}
	fmt.Fprintf(a.out, "\nCame in and not done with: %d, of which %d have failed and are tried again; given up: %d.\n", q.Incoming.Waiting, q.Incoming.Failed,
		q.Incoming.GivenUp)
	a.printReceived(q.FailedIncoming)
}

func (a *cli) printReceived(list []*federation.QueuedActivity) {
	if len(list) == 0 {
		return
	}
	table := a.table("ID", "FROM", "WHAT", "TRIES", "CAME", "NEXT TRY", "LAST ERROR")
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
		Short:   "List the servers that something has been exchanged with",
		Example: "  svc federation peers --unreachable",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []*federation.Peer{}
			for {
				some, err := perform(cmd.Context(), a, app.ListPeers, q)
				if err != nil {
					return err
				}
				all = append(all, some...)
				if len(some) == 0 || q.Unreachable {
					break
				}
				q.After = some[len(some)-1].Host
			}
			if asJSON {
				return a.printJSON(all)
			}
			table := a.table("HOST", "SOFTWARE", "REACHED", "FAILURES", "RESTS", "UNREACHABLE", "REMARK")
			for _, p := range all {
				remark := p.LastError
				if p.RejectReason != "" {
					remark = p.RejectReason
				}
				row(table, p.Host, p.Software, ago(p.LastSuccessAt), p.Failures, until(p.BackoffUntil), since(p.UnreachableSince), remark)
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&q.Unreachable, "unreachable", false, "only those that cannot be reached, the longest so first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *cli) explainCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "explain URL|HANDLE",
		Short: "Tell what this server knows of a post or an account elsewhere, and why it did not take it",
		Long: `Tell what this server knows of a post, an account or an activity elsewhere: whether it is here and how it came, whether it was
refused and why, what waits, and what its server says of it just now. URL is its id, or the address of its page.
Nothing is changed by that.`,
		Example: "  svc federation explain https://example.org/users/alice/statuses/1\n  svc federation explain alice@example.org",
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
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s:\t%s\n", name, printable(fmt.Sprintf(format, args...)))
	}
	line("address", "%s", e.URL)
	switch {
	case e.Local:
		line("server", "%s, this one", e.Host)
	case e.RejectReason != "":
		line("server", "%s, with which there are no dealings: %s", e.Host, e.RejectReason)
	case e.Peer == nil:
		line("server", "%s, with which nothing has been exchanged yet", e.Host)
	case e.Peer.UnreachableSince != nil:
		line("server", "%s, not reached since %s: %s", strings.TrimSpace(e.Host+" "+e.Peer.Software), day(*e.Peer.UnreachableSince), e.Peer.LastError)
	default:
		line("server", "%s", strings.TrimSpace(e.Host+" "+e.Peer.Software))
	}
	if e.Account != nil {
		line("account", "@%s, known here as %s%s", e.Account.Acct, e.Account.ID, stateOf(e.Account))
		if e.Account.FetchedAt != nil {
			line("read", "%s", ago(e.Account.FetchedAt))
		}
	}
	if st := e.Status; st != nil {
		line("post", "%s by @%s, of %s, known here as %s", st.Visibility, st.Author, st.CreatedAt.Format(time.DateTime), st.ID)
		if st.FetchedAt != nil {
			line("came", "read from its server %s", ago(st.FetchedAt))
		} else if !e.Local {
			line("came", "delivered")
		}
		if st.ParentURI != "" {
			line("answers", "%s, which is not known here", st.ParentURI)
		}
	}
	if e.Account == nil && e.Status == nil {
		line("here", "no")
	}
	if e.DeletedAt != nil {
		line("deleted here", "%s", ago(e.DeletedAt))
	}
	if e.Seen {
		line("heard of", "yes: it was done, or taken back before it came")
	}
	if f := e.Fetched; f != nil {
		if f.Error != "" {
			line("asked now", "%s", f.Error)
		} else {
			line("asked now", "%s %s by %s", f.Type, f.ID, f.Owner)
		}
		line("verdict", "%s", f.Verdict)
	}
	table.Flush()
	if len(e.Refusals) > 0 {
		fmt.Fprintln(a.out, "\nRefused:")
		table := a.table("WHEN", "FROM", "ACTIVITY", "WHY")
		for _, r := range e.Refusals {
			row(table, ago(&r.At), r.Host, r.Activity, r.Reason)
		}
		table.Flush()
	}
	if len(e.Queued) > 0 {
		fmt.Fprintln(a.out, "\nWaiting:")
		a.printReceived(e.Queued)
	}
}

func stateOf(x *federation.ExplainedAccount) string {
	switch {
	case x.Deleted:
		return ", deleted"
	case x.Unavailable:
		return ", withheld"
	}
	return ""
}

func (a *cli) retryCommand() *cobra.Command {
	var q federation.RetryQuery
	cmd := &cobra.Command{
		Use:     "retry",
		Short:   "Try again at once what failed",
		Example: "  svc federation retry --host example.org\n  svc federation retry --all",
		Args:    cobra.NoArgs,
		PreRunE: func(*cobra.Command, []string) error {
			given := 0
			for _, is := range []bool{q.Host != "", q.ID != 0, q.All} {
				if is {
					given++
				}
			}
			if given != 1 {
				return usage("say what to try again: --host, --id or --all")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&q.Host, "host", "", "all that waits for a `HOST`, and what came from it and failed")
	cmd.Flags().Int64Var(&q.ID, "id", 0, "the one of this `ID`")
	cmd.Flags().BoolVar(&q.All, "all", false, "everything")
	return showCommand(a, cmd, app.Retry, func() federation.RetryQuery { return q }, func(r *federation.RetryResult) {
		fmt.Fprintf(a.out, "Tried again at once: deliveries: %d; of what came in: %d.\n", r.Deliveries, r.Incoming)
	})
}
