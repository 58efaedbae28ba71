#!/usr/bin/env bash
# The server's own pages in a real browser: the set-up page of a new server, and the authorize page.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

# setup_link prints the one-time link from the log of a new server.
setup_link() {
  grep -oE 'https?://[^" ]+/setup[^" ]*' "$WORK/new.log" | head -n 1 | grep .
}

mkdir "$WORK/new"
cd "$WORK/new"
port=4000
if listening $port; then # a settings file names another
  port=$(free_port)
  printf '[server]\nlisten = "127.0.0.1:%s"\nurl = "http://localhost:%s"\n' "$port" "$port" >config.toml
fi
"$BINARY" serve >"$WORK/new.log" 2>&1 &
new=$!
trap 'stop "$new" || true' EXIT
if ! wait_for 30 listening "$port" || ! wait_for 10 setup_link; then
  echo "FAIL serve with nothing prepared"
  cat "$WORK/new.log"
  exit 1
fi
echo "ok   serve with nothing prepared"

"$here/pages.mjs" setup "$(setup_link)" || { tail -n 40 "$WORK/new.log"; exit 1; }
trap - EXIT
stop "$new" || { echo "FAIL serve ended with exit code $?"; exit 1; }
echo "ok   serve ends with exit code 0"
"$here/pages.mjs" authorize "$BASE_URL"
"$here/pages.mjs" interface "$BASE_URL"
"$here/pages.mjs" looks "$BASE_URL"
"$here/pages-text.sh"
