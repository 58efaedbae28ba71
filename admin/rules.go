package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"svc/internal/errs"
	"svc/internal/text"
	"svc/store"
)

// Limits of rules.
const (
	maxRules        = 100
	maxRuleText     = 1000 // characters
	maxRuleHint     = 5000
	maxRulePriority = 1_000_000
)

// Rule is a rule of the server (admin API 17).
type Rule struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"` // lower ones come first
	Text     string `json:"text"`
	Hint     string `json:"hint"`
}

// RuleChange has the members of a rule that are set or changed; the others are nil. ID is empty for a new rule.
type RuleChange struct {
	ID       string  `json:"id"`
	Priority *int    `json:"priority"`
	Text     *string `json:"text"`
	Hint     *string `json:"hint"`
}

// Rules returns all rules in their order.
func (s *Service) Rules(ctx context.Context, _ struct{}) ([]*Rule, error) {
	rows, err := s.db.Rules(ctx)
	list := make([]*Rule, 0, len(rows))
	for _, row := range rows {
		list = append(list, newRule(row))
	}
	return list, err
}

// CreateRule adds a rule. Rules of the same priority are in the order of their creation.
func (s *Service) CreateRule(ctx context.Context, c RuleChange) (*Rule, error) {
	row := new(store.Rule)
	if err := c.apply(row); err != nil {
		return nil, err
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		rules, err := tx.Rules(ctx)
		if err != nil {
			return err
		}
		if len(rules) >= maxRules {
			return errs.BadRequest("There are %d rules already: delete some", maxRules)
		}
		if err := tx.SaveRule(ctx, row); err != nil {
			return err
		}
		return s.recordRule(ctx, tx, "rule_create", "created", row)
	})
	if err != nil {
		return nil, err
	}
	return newRule(row), nil
}

// UpdateRule changes a rule.
func (s *Service) UpdateRule(ctx context.Context, c RuleChange) (*Rule, error) {
	return s.changeRule(ctx, c.ID, "rule_update", "updated", func(tx *store.Tx, row *store.Rule) error {
		if err := c.apply(row); err != nil {
			return err
		}
		return tx.SaveRule(ctx, row)
	})
}

// DeleteRule deletes a rule.
func (s *Service) DeleteRule(ctx context.Context, id string) (*Rule, error) {
	return s.changeRule(ctx, id, "rule_delete", "deleted", func(tx *store.Tx, row *store.Rule) error { return tx.DeleteRule(ctx, row.ID) })
}

func (s *Service) changeRule(ctx context.Context, id, action, done string, change func(*store.Tx, *store.Rule) error) (*Rule, error) {
	var row *store.Rule
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		row, err = tx.Rule(ctx, store.RuleID(store.ParseDecimal(id)))
		if errs.IsNotFound(err) {
			return errs.NotFound("There is no rule %q", id)
		}
		if err != nil {
			return err
		}
		if err := change(tx, row); err != nil {
			return err
		}
		return s.recordRule(ctx, tx, action, done, row)
	})
	if err != nil {
		return nil, err
	}
	return newRule(row), nil
}

// apply changes a row. It fails if the rule would be invalid.
func (c *RuleChange) apply(row *store.Rule) error {
	if c.Priority != nil {
		row.Priority = *c.Priority
	}
	if c.Text != nil {
		row.Text = strings.TrimSpace(*c.Text)
	}
	if c.Hint != nil {
		row.Hint = strings.TrimSpace(*c.Hint)
	}
	switch {
	case row.Text == "":
		return errs.BadRequest("Missing field: text.")
	case text.Length(row.Text, "") > maxRuleText:
		return errs.BadRequest("text - is longer than %d characters", maxRuleText)
	case text.Length(row.Hint, "") > maxRuleHint:
		return errs.BadRequest("hint - is longer than %d characters", maxRuleHint)
	case row.Priority > maxRulePriority || row.Priority < -maxRulePriority:
		return errs.BadRequest("priority - %d is not between %d and %d", row.Priority, -maxRulePriority, maxRulePriority)
	}
	return nil
}

// recordRule adds an entry about a rule to the moderation log.
func (s *Service) recordRule(ctx context.Context, tx *store.Tx, action, done string, row *store.Rule) error {
	data := map[string]any{"subject": map[string]any{"id": int64(row.ID), "type": "rule"}, "text": row.Text}
	return s.record(ctx, tx, action, fmt.Sprintf("%s rule #%d", done, row.ID), data)
}

func newRule(row *store.Rule) *Rule {
	return &Rule{ID: strconv.FormatInt(int64(row.ID), 10), Priority: row.Priority, Text: row.Text, Hint: row.Hint}
}
