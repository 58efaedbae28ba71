#!/usr/bin/env bash
# Takes the pictures in docs/pictures. Run it by hand when the pages have changed: .ci/clients/run BINARY pictures.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(realpath -m "$here/../../docs/pictures")
mkdir -p "$folder"
fc-list | grep -qi emoji || echo "there is no font with emoji: install one, such as fonts-noto-color-emoji"
"$here/pictures.mjs" "$folder"
