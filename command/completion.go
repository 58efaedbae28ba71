package command

import (
	"context"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"svc/app"
	"svc/internal/config"
	"svc/store"
)

// completer returns the values that begin with a prefix.
type completer func(ctx context.Context, typed string) []string

// completers complete arguments by their name in the use line of a command, and flags by the name of their value. A name with a command
// before it counts more. Other values are not completed; FILE, FOLDER and the like are completed by the shell.
func (a *cli) completers() map[string]completer {
	nicknames, hosts := a.fromSettings(app.CompleteNickname), a.fromSettings(app.CompleteHost)
	return map[string]completer{
		"NICK":  nicknames,
		"HOST":  hosts,
		"PACK":  a.fromSettings(func(_ context.Context, c *config.Config, typed string) []string { return app.CompletePack(c, typed) }),
		"RULE":  oneOf(config.HostRules...),
		"STATE": oneOf("open", "closed", "resolved"),
		"TYPES": oneOf("Person", "Service", "Application", "Group", "Organization"),

		"SEVERITY":   oneOf("sign_up_block", "sign_up_requires_approval", "no_access"),
		"VISIBILITY": oneOf("public", "unlisted", "private"),

		"access blocks KIND":  oneOf("email_domain", "email", "network"),
		"config get NAME":     oneOf(settingNames()...),
		"config set NAME":     oneOf(settingNames()...),
		"config unset NAME":   oneOf(settingNames()...),
		"report list DOMAIN":  hosts,
		"user create NICK":    oneOf[string](),
		"user export KIND":    oneOf(store.ImportKinds...),
		"user follow OTHER":   nicknames,
		"user import KIND":    oneOf(append(store.ImportKinds, archiveKind)...),
		"user list STATE":     oneOf(userFilters...),
		"user unfollow OTHER": nicknames,
		"setup NICK":          oneOf[string](),

		"federation unblock HOST": a.fromSettings(app.CompleteBlockedHost),
	}
}

// oneOf completes fixed values.
func oneOf[T ~string](values ...T) completer {
	return func(_ context.Context, typed string) (found []string) {
		for _, v := range values {
			if strings.HasPrefix(string(v), typed) {
				found = append(found, string(v))
			}
		}
		return found
	}
}

// fromSettings completes from the data of the server. Without valid settings there is nothing to complete.
func (a *cli) fromSettings(find func(context.Context, *config.Config, string) []string) completer {
	return func(ctx context.Context, typed string) []string {
		c, _, err := app.LoadSettings(a.configFile)
		if err != nil {
			return nil
		}
		return find(ctx, c, typed)
	}
}

func settingNames() (names []string) {
	for _, s := range config.Settings() {
		names = append(names, s.Name())
	}
	return names
}

// addCompletions adds the completers to all commands below cmd that have none of their own.
func addCompletions(cmd *cobra.Command, completers map[string]completer) {
	path := strings.TrimPrefix(cmd.CommandPath(), "svc ")
	find := func(name string) completer {
		if c := completers[path+" "+name]; c != nil {
			return c
		}
		return completers[name]
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name, _ := pflag.UnquoteUsage(f)
		if c := find(name); c != nil {
			cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				return c(cmd.Context(), typed), cobra.ShellCompDirectiveNoFileComp
			})
		}
	})
	arguments, repeated := useArguments(cmd.Use)
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			i := len(args)
			if repeated {
				i = min(i, len(arguments)-1)
			}
			if i >= len(arguments) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			if c := find(arguments[i]); c != nil {
				return c(cmd.Context(), typed), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		}
	}
	for _, sub := range cmd.Commands() {
		addCompletions(sub, completers)
	}
}

// argumentName is the name of an argument in a use line.
var argumentName = regexp.MustCompile(`^\[?([A-Z]+)(…)?]?$`)

// useArguments returns the names of the arguments in a use line, up to its first flag or alternative. repeated: the last one can be repeated.
func useArguments(use string) (names []string, repeated bool) {
	for _, word := range strings.Fields(use)[1:] {
		m := argumentName.FindStringSubmatch(word)
		if m == nil {
			if len(names) == 0 && !strings.HasPrefix(strings.TrimPrefix(word, "["), "-") {
				return []string{word}, false // such as HANDLE|HOST, without completions
			}
			break
		}
		names, repeated = append(names, m[1]), m[2] != ""
	}
	return names, repeated
}
