#!/usr/bin/env bash
# A second server of ours, beside the one of every suite, and what people do with each other across the two.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

other=''
trap '[ -z "$other" ] || stop "$other"' EXIT

port=$(free_port)
home=$WORK/other
rm -rf "$home" && mkdir "$home"
export OTHER_URL=http://localhost:$port OTHER_CONFIG=$home/config.toml
(cd "$home" && "$BINARY" setup --yes --url "$OTHER_URL" --listen "127.0.0.1:$port" --data-dir "$home/data" \
  --admin admin --email admin@example.org --password "$PASSWORD") >"$WORK/other-setup.log" 2>&1
sed -i 's/^\(# *\)\?allow_loopback *=.*/allow_loopback = true/' "$OTHER_CONFIG"
grep -q '^allow_loopback = true' "$OTHER_CONFIG" || printf '\n[federation]\nallow_loopback = true\n' >>"$OTHER_CONFIG"
printf '\n[rate_limit]\nenabled = false\n' >>"$OTHER_CONFIG"
"$BINARY" config check --config "$OTHER_CONFIG" >>"$WORK/other-setup.log" 2>&1
"$BINARY" serve --config "$OTHER_CONFIG" >"$WORK/other.log" 2>&1 &
other=$!
answers() { gone "$other" || curl -fsS "$OTHER_URL/api/v1/instance"; }
wait_for 30 answers || { cat "$WORK/other.log"; exit 1; }
"$here/peers.mjs"
stop "$other" && other=''
if grep -E 'level=ERROR|^panic:' "$WORK/other.log"; then
  echo "the other server logged errors"
  exit 1
fi
