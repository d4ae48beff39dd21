// Reads {"name": "text of a Bicep file", ...} and writes {"name": syntax tree, ...}. A node is
// {k: kind, f: field of its parent, n: named, m: missing, l: line from 1, s: start, e: end, c: [children]};
// start and end count UTF-16 code units.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Language, Parser } from 'web-tree-sitter'

const require = createRequire(import.meta.url)
await Parser.init()
const parser = new Parser()
parser.setLanguage(await Language.load(require.resolve('tree-sitter-bicep/tree-sitter-bicep.wasm')))

const children = node => Array.from({ length: node.childCount }, (_, i) => tree(node.child(i), node.fieldNameForChild(i)))
const tree = (node, field) => ({
  k: node.type, f: field ?? undefined, n: node.isNamed || undefined, m: node.isMissing || undefined,
  l: node.startPosition.row + 1, s: node.startIndex, e: node.endIndex, c: node.childCount ? children(node) : undefined,
})

const files = JSON.parse(readFileSync(0, 'utf8'))
const trees = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, tree(parser.parse(text).rootNode)]))
process.stdout.write(JSON.stringify(trees))
