"use strict";
// Reads BPMN with bpmn-moddle and judges it by bpmnlint's recommended rules. One JSON request a line
// on stdin ({source}), one JSON answer a line on stdout. Started with the folder that has both.
//
// Answer
//   warnings  what bpmn-moddle says about the file
//   findings  "rule element" of bpmnlint, sorted
//   error     what kept the file from being read, or null

const path = require("node:path");
const readline = require("node:readline");
const { createRequire } = require("node:module");

const from = createRequire(path.resolve(process.argv[2], "package.json"));

async function main() {
  const { BpmnModdle } = await load();
  const Linter = from("bpmnlint/lib/linter");
  const NodeResolver = from("bpmnlint/lib/resolver/node-resolver");
  const linter = () => new Linter({ resolver: new NodeResolver({ require: from }) }); // rules have state
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { source } = JSON.parse(line);
    process.stdout.write(JSON.stringify(await judge(new BpmnModdle(), linter(), source)) + "\n");
  }
}

async function load() {
  const found = await import(from.resolve("bpmn-moddle"));
  const moddle = found.BpmnModdle || found.default;
  return { BpmnModdle: moddle.BpmnModdle || moddle };
}

/** Files may leave out the lists of flows at nodes, without which many rules see nothing. */
function list(scope) {
  for (const inner of scope.rootElements || scope.flowElements || []) {
    if (inner.$type !== "bpmn:SequenceFlow") {
      list(inner);
      continue;
    }
    for (const [node, way] of [[inner.sourceRef, "outgoing"], [inner.targetRef, "incoming"]]) {
      if (node && node.get && !node.get(way).includes(inner)) node.get(way).push(inner);
    }
  }
}

async function judge(moddle, linter, source) {
  try {
    const { rootElement, warnings } = await moddle.fromXML(source);
    list(rootElement);
    const results = await linter.lint(rootElement, { extends: "bpmnlint:recommended" });
    const findings = Object.entries(results).flatMap(([rule, reports]) =>
      reports.map((report) => `${rule} ${report.id}`),
    );
    return { warnings: warnings.map((w) => w.message), findings: findings.sort(), error: null };
  } catch (error) {
    return { warnings: [], findings: [], error: String((error && error.message) || error) };
  }
}

main();
