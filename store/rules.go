package store

import "context"

// Rule is a rule of the server that users agree to.
type Rule struct {
	ID       RuleID
	Priority int // lower ones come first
	Text     string
	Hint     string // explains the text; "": nothing
}

// Rules returns all rules in their order.
func (r reader) Rules(ctx context.Context) ([]*Rule, error) {
	return list[*Rule](ctx, r, "rules", `SELECT * FROM rules ORDER BY priority, id`)
}

// RulesByID returns the rules that have one of the ids, in no order.
func (r reader) RulesByID(ctx context.Context, ids []RuleID) ([]*Rule, error) {
	return list[*Rule](ctx, r, "rules by id", `
		SELECT x.*
		FROM json_each(?) j
		CROSS JOIN rules x ON x.id = j.value`, jsonArray(ids))
}

// Rule returns a rule, and errs.ErrRecordNotFound if there is none.
func (r reader) Rule(ctx context.Context, id RuleID) (*Rule, error) {
	return get[Rule](ctx, r, "rule", `SELECT * FROM rules WHERE id = ?`, id)
}

// SaveRule stores a rule. A new one, whose ID is 0, gets an id.
func (tx *Tx) SaveRule(ctx context.Context, rule *Rule) error {
	tx.Emit(InstanceChanged{})
	if rule.ID != 0 {
		return tx.exec(ctx, "save rule", `
			UPDATE rules
			SET priority = ?, text = ?, hint = ?
			WHERE id = ?`, rule.Priority, rule.Text, rule.Hint, rule.ID)
	}
	var err error
	rule.ID, err = value[RuleID](ctx, tx.reader, "add rule", `
		INSERT INTO rules (priority, text, hint)
		VALUES (?, ?, ?)
		RETURNING id`, rule.Priority, rule.Text, rule.Hint)
	return err
}

// DeleteRule deletes a rule.
func (tx *Tx) DeleteRule(ctx context.Context, id RuleID) error {
	tx.Emit(InstanceChanged{})
	return tx.exec(ctx, "delete rule", `DELETE FROM rules WHERE id = ?`, id)
}
