// Functions that people call in scripts and conditions (`orgflow_ir/program/function_rows.py`). Their
// value is undefined where a language has another one or none.

const isPlain = (v) => typeof v === "string" && !/[\ud800-\udfff]/.test(v);

const isWhole = (v, most = Number.MAX_SAFE_INTEGER) => Number.isInteger(v) && Math.abs(v) <= most;

const isScalar = (v) => ["boolean", "number", "string"].includes(typeof v);

const exactNumber = (v) => typeof v === "number" && Math.abs(v) <= Number.MAX_SAFE_INTEGER ? v + 0 : undefined;

const sequenceOf = (v) => { return Array.isArray(v) || isPlain(v) ? v : undefined; };

const absolute = (v) => { return Number.isFinite(v) ? Math.abs(v) : undefined; };

const floor = (v) => { return exactNumber(Number.isFinite(v) ? Math.floor(v) : NaN); };

const ceiling = (v) => { return exactNumber(Number.isFinite(v) ? Math.ceil(v) : NaN); };

const truncate = (v) => { return exactNumber(Number.isFinite(v) ? Math.trunc(v) : NaN); };

const roundHalfUp = (v) => { return exactNumber(Number.isFinite(v) ? Math.round(v) : NaN); };

const signOf = (v) => { return exactNumber(Number.isFinite(v) ? Math.sign(v) : NaN); };

const squareRoot = (v) => { return exactNumber(Number.isFinite(v) && v >= 0 ? Math.sqrt(v) : NaN); };

const powerOf = (a, b) => { return isWhole(a) && isWhole(b) && b >= 0 && b <= 64 ? exactNumber(a ** b) : undefined; };

const least = (...all) => { return all.length > 0 && all.every(Number.isFinite) ? Math.min(...all) : undefined; };

const greatest = (...all) => { return all.length > 0 && all.every(Number.isFinite) ? Math.max(...all) : undefined; };

const oneClass = (all) => all.length > 0 && all.every(Number.isFinite) && new Set(all.map(Number.isInteger)).size === 1;

const leastOfClass = (...all) => { return oneClass(all) ? Math.min(...all) : undefined; };

const greatestOfClass = (...all) => { return oneClass(all) ? Math.max(...all) : undefined; };

const extremeOf = (all, sign) => {
  const kind = typeof all[0];
  const fits = kind === "string" ? all.every((v) => typeof v === "string" && !/[\ud800-\udfff]/.test(v)) : all.every(Number.isFinite);
  return all.length > 0 && fits ? all.reduce((a, b) => ((b < a) === (sign < 0) && b !== a ? b : a)) : undefined;
};

const leastIn = (all) => { return Array.isArray(all) ? extremeOf(all, -1) : undefined; };

const greatestIn = (all) => { return Array.isArray(all) ? extremeOf(all, 1) : undefined; };

const leastValue = (...all) => { return extremeOf(all, -1); };

const greatestValue = (...all) => { return extremeOf(all, 1); };

const floorDivide = (a, b) => {
  if (!isWhole(a) || !isWhole(b) || b === 0) return undefined;
  const r = a % b;
  return (a - (r !== 0 && r < 0 !== b < 0 ? r + b : r)) / b + 0;
};

const roundPython = (v, places = 0) => {
  if (!Number.isFinite(v) || !isWhole(places) || places < 0 || places > 15 || Math.abs(v) > 1e15) return undefined;
  const [, rest = ""] = v.toFixed(100).split(".");
  return /^50*$/.test(rest.slice(places)) ? undefined : Number(v.toFixed(places)) + 0;
};

const sumWhole = (all, most) => {
  if (!Array.isArray(all)) return undefined;
  let total = 0;
  for (const v of all) { total += v; if (!isWhole(v, most) || !isWhole(total, most)) return undefined; }
  return total;
};

const sumGroovy = (all) => { return Array.isArray(all) && all.length > 0 ? sumWhole(all, 2147483647) : undefined; };

// Versions of Python add fractions with and without compensation.
const sumPython = (all) => {
  if (!Array.isArray(all) || !all.every(Number.isFinite)) return undefined;
  if (all.every(Number.isInteger)) return sumWhole(all);
  let total = 0, lost = 0;
  for (const v of all) {
    const next = total + v;
    lost += Math.abs(total) >= Math.abs(v) ? total - next + v : v - next + total;
    total = next;
  }
  return total === total + lost ? exactNumber(total) : undefined;
};

const parseWhole = (v) => {
  const [, digits] = typeof v === "string" ? /^[ \t\n\r\f\v]*([+-]?\d{1,15})(?![0-9xX])/.exec(v) ?? [] : [];
  if (digits !== undefined) return Number(digits) + 0;
  return Number.isFinite(v) && !(Math.abs(v) > 0 && Math.abs(v) < 1e-6) ? exactNumber(Math.trunc(v)) : undefined;
};

const parseNumber = (v) => {
  if (typeof v !== "string") return Number.isFinite(v) ? v : undefined;
  const [, digits] = /^[ \t\n\r\f\v]*([+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15}))(?![0-9eE])/.exec(v) ?? [];
  return digits === undefined ? undefined : Number(digits) + 0;
};

const toNumber = (v) => {
  if (typeof v === "boolean") return Number(v);
  if (typeof v !== "string") return Number.isFinite(v) ? v : undefined;
  return /^ *[+-]?\d{1,15}(\.\d{1,15})? *$/.test(v) ? exactNumber(Number(v)) : undefined;
};

const toText = (v) => { return isScalar(v) ? String(v) : undefined; };

const toFixed = (v, places = 0) => { return Number.isFinite(v) && isWhole(places) && places >= 0 && places <= 15 && Math.abs(v) <= 1e15 ? v.toFixed(places) : undefined; };

const pythonInt = (v) => {
  if (typeof v === "boolean") return Number(v);
  if (typeof v === "string") return /^ *[+-]?\d{1,15} *$/.test(v) ? Number(v) + 0 : undefined;
  return Number.isFinite(v) ? exactNumber(Math.trunc(v)) : undefined;
};

const pythonFloat = (v) => { return toNumber(v); };

const pythonText = (v, ...leaves) => {
  if (typeof v === "string") return v;
  if (typeof v === "boolean") return v ? "True" : "False";
  if (!Number.isFinite(v)) return undefined;
  if (Number.isInteger(v)) return !isWhole(v) || leaves.flat().some((one) => typeof one === "number" && one % 1 !== 0) ? undefined : String(v);
  return /^-?\d{1,6}\.\d{1,5}$/.test(String(v)) && Math.abs(v) >= 1e-4 ? String(v) : undefined;
};

const javaInt = (v) => { return typeof v === "string" && /^-?\d{1,9}$/.test(v) ? Number(v) + 0 : undefined; };

const countOf = (v) => {
  if (v !== null && typeof v === "object" && !Array.isArray(v)) return Object.keys(v).length;
  return sequenceOf(v)?.length;
};

const hasNothing = (v) => {
  const size = countOf(v);
  return size === undefined ? undefined : size === 0;
};

const substring = (v, from, to) => { return isPlain(v) && isWhole(from) && (to === undefined || isWhole(to)) ? v.substring(from, to) : undefined; };

const javaSubstring = (v, from, to = v?.length) => { return isPlain(v) && isWhole(from) && isWhole(to) && from >= 0 && from <= to && to <= v.length ? v.slice(from, to) : undefined; };

const slice = (v, from, to) => { return sequenceOf(v) !== undefined && [from, to].every((one) => one == null || isWhole(one)) ? v.slice(from ?? 0, to ?? undefined) : undefined; };

const itemAt = (v, at) => { return sequenceOf(v) !== undefined && isWhole(at) ? v[at < 0 ? v.length + at : at] : undefined; };

const charAt = (v, at) => { return isPlain(v) && isWhole(at) ? v.charAt(at) : undefined; };

const memberOf = (v, name) => {
  if (typeof name === "string") return v !== null && typeof v === "object" && !Array.isArray(v) && Object.hasOwn(v, name) ? v[name] : undefined;
  return sequenceOf(v) !== undefined && isWhole(name) && name >= 0 ? v[name] : undefined;
};

const positionOf = (v, one, method) => {
  if (typeof v === "string") return isPlain(v) && isPlain(one) ? v[method](one) : undefined;
  return Array.isArray(v) && [...v, one].every(isScalar) ? v[method](one) : undefined;
};

const indexOf = (v, one) => { return positionOf(v, one, "indexOf"); };

const lastIndexOf = (v, one) => { return positionOf(v, one, "lastIndexOf"); };

const hasSame = (v, one) => {
  if (typeof v === "string") return isPlain(v) && isPlain(one) ? v.includes(one) : undefined;
  return Array.isArray(v) && [...v, one].every(isScalar) ? v.includes(one) : undefined;
};

const containsExactly = (v, one) => {
  const fits = Array.isArray(v) && [...v, one].every((x) => isScalar(x) && (typeof x !== "number" || Number.isInteger(x)));
  return fits ? v.includes(one) : undefined;
};

const containsPython = (v, one) => {
  if (typeof v === "string") return isPlain(v) && isPlain(one) ? v.includes(one) : undefined;
  if (v !== null && typeof v === "object" && !Array.isArray(v)) return isPlain(one) ? Object.hasOwn(v, one) : undefined;
  const plain = (x) => (typeof x === "boolean" ? Number(x) : x);
  return Array.isArray(v) && [...v, one].every(isScalar) ? v.some((x) => plain(x) === plain(one)) : undefined;
};

const splitText = (v, by) => { return isPlain(v) && isPlain(by) ? v.split(by) : undefined; };

const splitPython = (v, by) => { return isPlain(v) && isPlain(by) && by !== "" ? v.split(by) : undefined; };

const splitJava = (v, by) => {
  if (!isPlain(v) || !isPlain(by) || by === "" || /[\\.[\]{}()*+?^$|]/.test(by)) return undefined;
  const parts = v.split(by);
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts.length === 1 && parts[0] === "" && v !== "" ? [] : parts;
};

const replaceFirst = (v, old, other) => { return [v, old, other].every(isPlain) && !other.includes("$") ? v.replace(old, other) : undefined; };

const replaceAll = (v, old, other) => { return [v, old, other].every(isPlain) && !other.includes("$") && old !== "" ? v.split(old).join(other) : undefined; };

const joinTexts = (v, by = ",") => {
  const fits = Array.isArray(v) && isPlain(by) && v.every((one) => isScalar(one) && (typeof one !== "number" || isWhole(one, 2147483647)));
  return fits ? v.join(by) : undefined;
};

const joinPython = (by, v) => { return Array.isArray(v) && isPlain(by) && v.every(isPlain) ? v.join(by) : undefined; };

const hasPlainCase = (v) => typeof v === "string" && /^[\x00-\x7f\xa1-\xb4\xb6-\xde\xe0-\xfe]*$/.test(v);

const upperPlain = (v) => { return hasPlainCase(v) ? v.toUpperCase() : undefined; };

const lowerPlain = (v) => { return hasPlainCase(v) ? v.toLowerCase() : undefined; };

const stripPlain = (v) => {
  const fits = typeof v === "string" && /^[\t\n\r -\x7e\xa1-\uff00]*$/.test(v) && !/[\u1680\u180e\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff\ud800-\udfff]/.test(v);
  return fits ? v.trim() : undefined;
};

const repeatText = (v, times) => { return isPlain(v) && isWhole(times) && times >= 0 && times <= 1000 ? v.repeat(times) : undefined; };

const padStart = (v, size, fill = " ") => { return isPlain(v) && isWhole(size) && size <= 1000 && isPlain(fill) && fill !== "" ? v.padStart(size, fill) : undefined; };

const padEnd = (v, size, fill = " ") => { return isPlain(v) && isWhole(size) && size <= 1000 && isPlain(fill) && fill !== "" ? v.padEnd(size, fill) : undefined; };

const countIn = (v, part) => { return isPlain(v) && isPlain(part) && part !== "" ? v.split(part).length - 1 : undefined; };

const starts = (v, part) => { return isPlain(v) && isPlain(part) ? v.startsWith(part) : undefined; };

const ends = (v, part) => { return isPlain(v) && isPlain(part) ? v.endsWith(part) : undefined; };

const takeFirst = (v, count) => { return Array.isArray(v) && isWhole(count) && count >= 0 ? v.slice(0, count) : undefined; };

const dropFirst = (v, count) => { return Array.isArray(v) && isWhole(count) && count >= 0 ? v.slice(count) : undefined; };

const joinLists = (...all) => { return all.every(Array.isArray) ? all.flat() : undefined; };

const reverse = (v) => {
  if (Array.isArray(v)) return [...v].reverse();
  return isPlain(v) ? v.split("").reverse().join("") : undefined;
};

const allTrue = (v) => { return Array.isArray(v) && v.every((one) => typeof one === "boolean") ? v.every(Boolean) : undefined; };

const anyTrue = (v) => { return Array.isArray(v) && v.every((one) => typeof one === "boolean") ? v.some(Boolean) : undefined; };

const mapList = (v, of) => {
  const all = Array.isArray(v) ? v.map((one) => of(one)) : [undefined];
  return all.includes(undefined) ? undefined : all;
};

const filterList = (v, of) => {
  const all = Array.isArray(v) ? v.map((one) => of(one)) : [undefined];
  return all.includes(undefined) ? undefined : v.filter((one, at) => all[at]);
};

const findInList = (v, of) => {
  for (const one of Array.isArray(v) ? v : [undefined]) {
    const holds = one === undefined ? undefined : of(one);
    if (holds === undefined) return undefined;
    if (holds) return one;
  }
  return null;
};

const findPosition = (v, of) => {
  if (!Array.isArray(v)) return undefined;
  for (const [at, one] of v.entries()) {
    const holds = of(one);
    if (holds === undefined) return undefined;
    if (holds) return at;
  }
  return -1;
};

const someInList = (v, of) => {
  if (!Array.isArray(v)) return undefined;
  for (const one of v) {
    const holds = of(one);
    if (holds !== false) return holds;
  }
  return false;
};

const everyInList = (v, of) => {
  if (!Array.isArray(v)) return undefined;
  for (const one of v) {
    const holds = of(one);
    if (holds !== true) return holds;
  }
  return true;
};

const reduceList = (v, of, ...begin) => {
  if (!Array.isArray(v) || v.length + begin.length === 0) return undefined;
  return [...begin, ...v].reduce((all, one) => (all === undefined ? undefined : of(all, one)));
};
