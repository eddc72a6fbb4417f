"use strict";
// Parses Mermaid text with Mermaid itself. One JSON request a line on stdin ({source}), one JSON
// answer a line on stdout. Started with the folder that has mermaid and jsdom.
//
// Answer
//   nodes   label of each node by id, subgraphs apart
//   groups  label of each subgraph by id
//   links   [source, target, label] of each link
//   error   why it is no flowchart, or null

const path = require("node:path");
const readline = require("node:readline");
const { createRequire } = require("node:module");

const from = createRequire(path.resolve(process.argv[2], "package.json"));

async function main() {
  const { JSDOM } = from("jsdom");
  const { window } = new JSDOM("<!doctype html><body></body>");
  global.window = window;
  global.document = window.document;
  const entry = path.join(process.argv[2], "node_modules", "mermaid", "dist", "mermaid.core.mjs");
  const { default: mermaid } = await import(entry);
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await parse(mermaid, JSON.parse(line).source)) + "\n");
  }
}

async function parse(mermaid, source) {
  try {
    await mermaid.parse(source);
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(source);
    const nodes = {};
    for (const [id, node] of db.getVertices()) nodes[id] = node.text;
    const groups = {};
    for (const group of db.getSubGraphs()) groups[group.id] = group.title;
    const links = db.getEdges().map((edge) => [edge.start, edge.end, edge.text]);
    return { nodes, groups, links, error: null };
  } catch (error) {
    return { nodes: {}, groups: {}, links: [], error: String((error && error.message) || error) };
  }
}

main();
