#!/bin/sh
# Writes rgi.txt, the emoji recommended for general interchange, from the data of a version of Unicode. Needs npm.
set -eu
cd "$(dirname "$0")"
version=${1:-17.0.0}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
npm install --silent --no-save --ignore-scripts --prefix "$tmp" "@unicode/unicode-$version"
node --input-type=module --eval '
const { default: emoji } = await import(process.argv[1]);
process.stdout.write([...emoji].map((e) => e + "\n").join(""));
' "$tmp/node_modules/@unicode/unicode-$version/Sequence_Property/RGI_Emoji/index.mjs" >"$tmp/rgi.txt"
mv "$tmp/rgi.txt" rgi.txt
gzip -9n <rgi.txt >rgi.txt.gz
