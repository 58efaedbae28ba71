#!/usr/bin/env bash
# The forms of the web interface in a real browser, with JavaScript and without.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/pages.mjs" forms "$BASE_URL"
