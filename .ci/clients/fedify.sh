#!/usr/bin/env bash
# Federates our server with one built with Fedify, which needs the newer Node.js that npm installs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

trap 'stop_trial_servers' EXIT
start_trial_server one
BASE_URL=$(cat "$WORK/one/url") DOMAIN=${BASE_URL#http://}
export BASE_URL DOMAIN
"$BINARY" user create alice --email alice@example.org --password "$PASSWORD" --config "$WORK/one/config.toml" >"$WORK/one/setup.log"
"$here/node_modules/.bin/node" "$here/fedify.mjs"
stop_trial_servers
unfit_logs "$WORK/one/log"
