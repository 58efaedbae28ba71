#!/usr/bin/env bash
# Two of our servers on one machine federate by plain http.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

trap 'stop_trial_servers' EXIT
start_trial_server one
start_trial_server other
ONE_HOME=$WORK/one OTHER_HOME=$WORK/other "$here/peers.mjs"
stop_trial_servers
unfit_logs "$WORK/one/log" "$WORK/other/log"
