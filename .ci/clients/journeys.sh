#!/usr/bin/env bash
# Tasks of a person in the web interface, in Chromium with real key strokes. JOURNEYS names the variant: desktop, phone, no-script, german or
# zone (journeys/variant.mjs). JOURNEY, if it is set, is a regular expression for the names of those to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/journeys/run.mjs"
