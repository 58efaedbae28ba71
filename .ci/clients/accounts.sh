#!/usr/bin/env bash
# An account from sign-up to deletion as its user sees it: pages in a browser, mails, a second factor, imports. One server writes its mail
# to files; the other one has a captcha, invites and approval, and sends mail through a mail server.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

smtp=''
clean_up() {
  [ -z "$smtp" ] || stop "$smtp" || true
  stop_trial_servers
}
trap clean_up EXIT

port=$(free_port)
"$here/smtp.py" "$port" "$WORK/maildir" "$WORK/cert.pem" "$WORK/key.pem" svc "mail $PASSWORD" >"$WORK/smtp.log" 2>&1 &
smtp=$!
wait_for 10 listening "$port" || { cat "$WORK/smtp.log"; exit 1; }

start_trial_server open mail enabled true mail adapter '"file"' instance account_activation_required true
start_trial_server invited mail enabled true mail host '"localhost"' mail port "$port" mail user '"svc"' mail password "\"mail $PASSWORD\"" \
  instance registrations_open false instance invites_enabled true instance account_activation_required true \
  instance account_approval_required true captcha enabled true

config=$WORK/invited/config.toml
expect "mail test prints the answer of the mail server" "you@example.org: OK" "$BINARY" mail test you@example.org --config "$config"
check "the mail arrives" "$here/lib.py" mail "$WORK/maildir" you@example.org "Test mail"
sed 's/^password = "mail .*/password = "wrong"/' "$config" >"$WORK/invited/wrong.toml"
refuse "mail test fails with a wrong password" "$BINARY" mail test you@example.org --config "$WORK/invited/wrong.toml"
check "mail test prints why" grep -F 535 <<<"$out"

OPEN_HOME=$WORK/open INVITED_HOME=$WORK/invited "$here/accounts.mjs"
stop_trial_servers
unfit_logs "$WORK/open/log" "$WORK/invited/log"
refuse "no log has a password" grep -F "$PASSWORD" "$WORK/open/log" "$WORK/invited/log"
