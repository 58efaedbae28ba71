#!/bin/sh
# Writes names.tsv: the emoji of rgi.txt that a picker shows, with their groups, names and keywords in the languages of the pages, from CLDR. Needs npm.
set -eu
cd "$(dirname "$0")"
version=${1:-1.8.0}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
npm install --silent --no-save --ignore-scripts --prefix "$tmp" "emoji-picker-element-data@$version"
node --input-type=module --eval '
import { readFileSync } from "node:fs"
const read = (language) => JSON.parse(readFileSync(`${process.argv[1]}/${language}/data.json`, "utf8"))
const bare = (text) => text.replaceAll("\ufe0f", "")
const canonical = new Map(readFileSync("rgi.txt", "utf8").trim().split("\n").map((e) => [bare(e), e]))
const find = (text) => canonical.get(bare(text)) ?? (() => { throw new Error(`${text} is not in rgi.txt`) })()
const names = ["en/emojibase", "de/cldr"].map((language) => new Map(read(language).map((e) => [e.emoji, e])))
const rows = [...names[0].values()].sort((a, b) => a.order - b.order).map((e) => {
  const skins = (e.skins ?? []).filter((s) => typeof s.tone === "number")
  return [find(e.emoji), e.group, e.version, Math.max(0, ...skins.map((s) => s.version)), skins.map((s) => find(s.emoji)).join(" "), e.shortcodes.join(" "),
    ...names.flatMap((list) => [list.get(e.emoji).annotation, list.get(e.emoji).tags.join("|")])]
})
process.stdout.write(rows.map((row) => row.join("\t") + "\n").join(""))
' "$tmp/node_modules/emoji-picker-element-data" >"$tmp/names.tsv"
mv "$tmp/names.tsv" names.tsv
gzip -9n <names.tsv >names.tsv.gz
