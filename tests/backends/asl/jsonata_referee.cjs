// Answers each line {cases: [{code, input}]} with {answers: [{value} | {missing} | {error, code}]}:
// the values of expressions of JSONata with `$states` as Step Functions has it. Argument: the folder
// whose node_modules holds the package.
"use strict";
const path = require("node:path");
const readline = require("node:readline");

const jsonata = require(path.join(process.argv[2], "node_modules", "jsonata"));
const parsed = new Map();

const evaluate = async ({ code, input }) => {
  try {
    if (!parsed.has(code)) parsed.set(code, jsonata(code));
    const value = await parsed.get(code).evaluate(undefined, { states: input });
    return value === undefined ? { missing: true } : { value };
  } catch (error) {
    return { error: String(error.message ?? error), code: String(error.code) };
  }
};

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answers = [];
    for (const one of JSON.parse(line).cases) answers.push(await evaluate(one));
    process.stdout.write(JSON.stringify({ answers }) + "\n");
  }
})();
