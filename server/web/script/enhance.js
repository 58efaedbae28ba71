// Elements that scripts add something to. What comes into the page later is treated as what was there first.
const rules = []
const done = new WeakMap()

// enhance calls f once for each element that matches, now and later.
export function enhance(selector, f) {
  const rule = { selector, f }
  rules.push(rule)
  apply(rule, document)
}

// applyTo treats what came into the page: root and what is in it.
export function applyTo(root) {
  for (const rule of rules) apply(rule, root)
}

function apply(rule, root) {
  if (root.matches?.(rule.selector)) once(rule, root)
  for (const element of root.querySelectorAll(rule.selector)) once(rule, element)
}

function once(rule, element) {
  const seen = done.get(element) ?? done.set(element, new Set()).get(element)
  if (seen.has(rule)) return
  seen.add(rule)
  rule.f(element)
}
