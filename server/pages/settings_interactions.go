package pages

import (
	"net/http"
	"slices"
	"strings"

	"svc/server/rest"
	"svc/server/web"
)

func (h *Handlers) interactionPolicyRoutes() rest.Routes {
	return rest.Routes{
		"GET " + interactionsPath:  {rest.SignedIn, h.page((*page).showInteractionPolicies)},
		"POST " + interactionsPath: {rest.SignedIn, h.page((*page).saveInteractionPolicies)},
	}
}

const (
	interactionsPath    = "/web/settings/interactions"
	interactionDefaults = "/api/v1/interaction_policies/defaults"
)

// interactionRule says who may interact at once, and who after approval, as the API does.
type interactionRule struct {
	Automatic []string `json:"automatic_approval"`
	Manual    []string `json:"manual_approval"`
}

// interactionRules are the rules by interaction, such as can_reply.
type interactionRules map[string]interactionRule

// policyInputs are the rules that can be chosen, by the visibility of the post. A rule is written as the groups that may interact at once, |,
// and those that need approval; anyRule allows everybody who sees the post, which is the standard.
var policyInputs = []struct {
	visibility   string
	interactions []string
	rules        []string
}{
	{"public", []string{"can_reply", "can_favourite", "can_reblog"}, []string{anyRule, "followers|public", "following|public", "|public", "followers|", "following|", nobodyRule}},
	{"unlisted", []string{"can_reply", "can_favourite", "can_reblog"}, []string{anyRule, "followers|public", "following|public", "|public", "followers|", "following|", nobodyRule}},
	{"private", []string{"can_reply", "can_favourite"}, []string{anyRule, "following|followers", "|followers", "following|", nobodyRule}},
	{"direct", []string{"can_reply", "can_favourite"}, []string{anyRule, nobodyRule}},
}

const (
	anyRule    = "public|"
	nobodyRule = "|"
)

// ruleTexts are the ends of the texts' keys by rule.
var ruleTexts = map[string]string{
	anyRule: "any", "followers|public": "followers_ask", "following|public": "following_ask", "|public": "ask", "followers|": "followers", "following|": "following",
	"following|followers": "following_ask", "|followers": "ask", nobodyRule: "nobody",
}

// text returns the rule as policyInputs write it. What the visibility allows anyway counts as anyRule.
func (r interactionRule) text(visibility string) string {
	groups := func(names []string) string {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "author" })
		slices.Sort(names)
		return strings.Join(names, ",")
	}
	automatic := groups(r.Automatic)
	if slices.Contains(r.Automatic, "public") || visibility == "private" && automatic == "followers,mentioned" || visibility == "direct" && automatic == "mentioned" {
		return anyRule
	}
	return automatic + "|" + groups(r.Manual)
}

// parseRule is the opposite of text.
func parseRule(text string) interactionRule {
	automatic, manual, _ := strings.Cut(text, "|")
	groups := func(list string) []string { return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) }
	return interactionRule{append([]string{"author"}, groups(automatic)...), append([]string{}, groups(manual)...)}
}

// interactionField returns the name of a field.
func interactionField(visibility, interaction string) string { return visibility + "_" + interaction }

// showInteractionPolicies shows who may interact with new posts of the viewer.
func (p *page) showInteractionPolicies() (any, error) {
	return p.interactionPoliciesPage(http.StatusOK, "", nil)
}

// interactionPoliciesPage shows the form, with the rules that were entered or, if that is nil, the present ones.
func (p *page) interactionPoliciesPage(status int, message string, entered map[string]interactionRules) (any, error) {
	rules := entered
	if rules == nil {
		if err := p.get(interactionDefaults, nil, &rules); err != nil {
			return nil, err
		}
	}
	content := web.SettingsForm{
		Title: "settings.interactions.title", Intro: "settings.interactions.intro", Action: interactionsPath, Error: message, Submit: "settings.save",
		Links: []web.Link{{Title: "settings.privacy.quotes", URL: "/web/settings/privacy"}, {Title: "notifications.approvals", URL: "/web/interaction_requests"}},
	}
	for _, v := range policyInputs {
		group := web.InputGroup{Title: "settings.interactions." + v.visibility}
		for _, interaction := range v.interactions {
			value := rules[v.visibility][interaction].text(v.visibility)
			input := web.Input{
				Name: interactionField(v.visibility, interaction), Kind: "select", Label: "settings.interactions." + interaction, Value: value,
			}
			for _, rule := range v.rules {
				input.Options = append(input.Options, web.Choice{Value: rule, Label: p.text("settings.interactions." + ruleTexts[rule])})
			}
			if !slices.Contains(v.rules, value) {
				input.Options = append(input.Options, web.Choice{Value: value, Label: p.text("settings.interactions.other")})
			}
			group.Inputs = append(group.Inputs, input)
		}
		content.Groups = append(content.Groups, group)
	}
	return p.show(status, content)
}

// saveInteractionPolicies sets all rules, because the API resets those that are not named.
func (p *page) saveInteractionPolicies() (any, error) {
	entered := make(map[string]interactionRules)
	for _, v := range policyInputs {
		entered[v.visibility] = make(interactionRules)
		for _, interaction := range v.interactions {
			rule, ok := p.Entered(interactionField(v.visibility, interaction))
			if !ok {
				rule = anyRule
			}
			entered[v.visibility][interaction] = parseRule(rule)
		}
	}
	_, err := p.CallJSON(http.MethodPatch, interactionDefaults, entered)
	if e := forUser(err); e != nil {
		return p.interactionPoliciesPage(e.Status, e.Message, entered)
	}
	if err != nil {
		return nil, err
	}
	return p.leave(interactionsPath, "saved", ""), nil
}
