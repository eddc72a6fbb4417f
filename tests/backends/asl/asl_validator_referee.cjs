// Answers each line {definition} with {errors}, as asl-validator sees it. Argument: the folder
// whose node_modules holds the package.
"use strict";
const path = require("node:path");
const readline = require("node:readline");

const validate = require(path.join(process.argv[2], "node_modules", "asl-validator"));
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { definition } = JSON.parse(line);
  const found = validate(definition);
  const errors = found.errors.map((e) => `${e["Error code"]}: ${e.Message}`);
  process.stdout.write(JSON.stringify({ errors: found.isValid ? [] : errors }) + "\n");
});
