// Tests whether operands are not what a language demands: of one value `v`, or of two values. A
// translation contains the expression of a test of one value, and the function of another one.

const flag = (v) => ![true, false, null, "true", "false"].includes(v);

const truth = (v) => v != null && !["boolean", "string"].includes(typeof v);

const text = (v) => v != null && typeof v !== "string";

const scalar = (v) => v != null && !["number", "string"].includes(typeof v);

const fraction = (v) => v != null && typeof v !== "string" && (typeof v !== "number"
  || v % 1 === 0);

const numeral = (v) => (typeof v === "string" ?
  !/^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)?$/i.test(v) : v != null
  && typeof v !== "number");

const wholeNumeral = (v) => (typeof v === "string" ? !/^([-+]?[0-9]+)?$/.test(v) : v != null
  && typeof v !== "number");

const number = (v) => typeof v !== "number";

const summand = (v) => !["number", "string"].includes(typeof v);

const printable = (v) => Object(v) === v || (typeof v === "number" && v % 1 !== 0
  && !(Math.abs(v) >= 1e-3 && Math.abs(v) < 1e7));

const onlyText = (v) => typeof v !== "string";

const boolean = (v) => typeof v !== "boolean";

const there = (v) => v == null;

const object = (v) => v == null;

const noList = (v) => Array.isArray(v);

const map = (v) => v != null && (Object(v) !== v || Array.isArray(v));

const list = (v) => v != null && !Array.isArray(v);

const collection = (v) => v != null && Object(v) !== v;

const mapThere = (v) => Object(v) !== v || Array.isArray(v);

const listThere = (v) => !Array.isArray(v);

const collectionThere = (v) => Object(v) !== v;

const item = (v) => v === undefined;

const result = (f) => { try { return f() === undefined; } catch { return true; } };

const noNumeral = (v) => typeof v === "boolean" || (typeof v === "string" && /[0-9]/.test(v));

const noTruth = (v) => typeof v === "boolean";

const noScalar = (v) => ["boolean", "number"].includes(typeof v);

const truthOrNull = (v) => v != null && typeof v !== "boolean";

const noText = (v) => typeof v === "string";

const noOrder = (v) => v != null;

const divisor = (v) => !Number(v);

const exact = (v) => typeof v === "number" && (!Number.isFinite(v) || (Number.isInteger(v)
  && !Number.isSafeInteger(v)));

const equal = (a, b) => a != null && b != null && typeof a !== typeof b
  && ([a, b].some((x) => typeof x === "object") || [[a, b], [b, a]].some(([x, y]) => typeof x ===
  "number" && !(typeof y === "string" && (Number.isInteger(x) ? /^([-+]?[0-9]+)?$/
  : /^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)?$/i).test(y))));

const ordered = (a, b) => a != null && b != null && ([a, b].some((x) => typeof x === "object")
  || (typeof a !== typeof b && ([typeof a, typeof b].includes("boolean")
  || [[a, b], [b, a]].some(([x, y]) => typeof x === "number" && !(typeof y === "string"
  && (Number.isInteger(x) ? /^([-+]?[0-9]+)?$/ :
  /^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?)?$/i).test(y))))));

const alike = (a, b) => a != null && b != null && typeof a !== typeof b
  && [[a, b], [b, a]].some(([x, y]) => typeof x === "boolean" || (typeof x === "number"
  && typeof y === "string" && /[0-9]/.test(y)));

const identical = (a, b) => a != null && b != null && !(typeof a === typeof b
  && (typeof a === "boolean" || (a % 1 === 0 && b % 1 === 0
  && Math.max(-a, a - 1, -b, b - 1) <= 128 && typeof a === "number")));

const joined = (...all) => all.some((v) => typeof v === "string")
  && all.some((v) => Object(v) === v || (typeof v === "number" && v % 1 !== 0
  && !(Math.abs(v) >= 1e-3 && Math.abs(v) < 1e7)));

const indexed = (a, b) => Object(a) === a ? !Array.isArray(a) : b === undefined;

const sequence = (a, b) => b === undefined || (typeof a === "string" ? /[\ud800-\udfff]/.test(a)
  : !Array.isArray(a));

const quotient = (a, b) => Number.isInteger(a) && Number.isInteger(b) && a % b !== 0;

const oneType = (a, b) => typeof a !== typeof b || !["number", "string"].includes(typeof a);

// `r` is what JavaScript computes with two values; Java has another result. Names in capitals are
// numbers.
const computed = (a, b, r) => typeof r === "number" && (!Number.isFinite(r)
  || (Number.isInteger(r) && Math.abs(r) > ([a, b].some((x) => Math.abs(x) > MOST_INT
  && x !== LEAST_INT) ? Number.MAX_SAFE_INTEGER : MOST_INT)));
