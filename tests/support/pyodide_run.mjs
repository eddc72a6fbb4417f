// Runs a Python script under Pyodide: node pyodide_run.mjs PYODIDE SCRIPT SOURCE SITE [ARGUMENT ...]
// SOURCE and SITE are folders, seen from Python as /source and /site.
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [home, script, source, site, ...args] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(home, "pyodide.mjs")).href);
const python = await loadPyodide({ indexURL: home + "/", stderr: (line) => console.error(line) });
python.mountNodeFS("/source", source);
python.mountNodeFS("/site", site);
python.globals.set("arguments", python.toPy([script, "/source", ...args]));
python.globals.set("code", readFileSync(script, "utf-8"));
python.runPython(`
import os, sys
os.mkdir("/packages")
os.symlink("/source", "/packages/orgflow")
sys.dont_write_bytecode = True
sys.path[:0] = ["/packages", "/source", "/site"]
sys.argv = list(arguments)
exec(compile(code, sys.argv[0], "exec"), {"__name__": "__main__"})
`);
