#!/usr/bin/env bash
# Tasks of a person in the web interface, in Chromium with real key strokes; another server federates with it. JOURNEYS names the variant: desktop, phone, no-script, german or
# zone (journeys/variant.mjs). JOURNEY, if it is set, is a regular expression for the names of those to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
. "$here/lib.sh"

trap 'stop_trial_servers' EXIT
start_trial_server other
OTHER_HOME=$WORK/other "$here/journeys/run.mjs"
stop_trial_servers
unfit_logs "$WORK/other/log"
