// Functions of operations that JavaScript has no operator for. A translation contains the text of
// each one that it calls; one that calls another contains its text at the start of its body.

// Whether two values are equal without conversion, lists and objects by their content.
const same = (a, b) => {
  if (a == null || b == null) return a == b;
  if (a === b || typeof a !== "object" || typeof b !== "object") return a === b;
  const keys = Object.keys(a);
  return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length && keys.every((k) => Object.keys(b).includes(k) && same(a[k], b[k]));
};

// The same as a function of two values.
const sameValues = (x, y) => {
  return same(x, y);
};

// Equality of Python, in which true is 1 and false is 0.
const pythonEqual = (x, y) => {
  const plain = (v) => typeof v === "boolean" ? Number(v) : v;
  const same = (a, b) => { if (a == null || b == null) return a == b; if (plain(a) === plain(b) || typeof a !== "object" || typeof b !== "object") return plain(a) === plain(b); const keys = Object.keys(a); return Array.isArray(a) === Array.isArray(b) && keys.length === Object.keys(b).length && keys.every((k) => Object.keys(b).includes(k) && same(a[k], b[k])); };
  return same(x, y);
};

// Python's `%`, which has the sign of its right operand.
const modulo = (x, y) => {
  const r = x % y;
  return r !== 0 && r < 0 !== y < 0 ? r + y : r;
};

// Equality of JUEL, which converts one value to the type of the other.
const juelEqual = (x, y) => {
  if (x == null || y == null) return x == y;
  const types = [typeof x, typeof y];
  const number = (v) => typeof v === "number" ? v : v === "" ? 0 : typeof v === "string" && /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$/i.test(v) ? Number(v) : NaN;
  if (types.includes("number")) return number(x) === number(y);
  if (types.includes("boolean")) return !types.includes("object") && (String(x).toLowerCase() === "true") === (String(y).toLowerCase() === "true");
  return same(x, y);
};

// Java's `equalsIgnoreCase`, which compares the characters one by one.
const sameLetters = (a, b) => {
  const one = (c, other) => (other.length === 1 ? other : c);
  const plain = (c) => { const up = one(c, c.toUpperCase()); return one(up, up.toLowerCase()); };
  return b != null && a.length === b.length && [...a].map(plain).join("") === [...b].map(plain).join("");
};

// Whether a text contains a text, or a list an equal value.
const hasEntry = (all, one) => {
  return typeof all === "string" ? all.includes(one) : all.some((v) => same(v, one));
};

// The only value of a list or object; null if it is empty.
const singleValue = (v) => {
  const all = Array.isArray(v) ? v : Object.values(v ?? {});
  if (all.length > 1) throw new Error("several values where one is expected");
  return all[0] ?? null;
};

// An empty list or object is false in Groovy.
const groovyTruth = (v) => v !== null && typeof v === "object" ? Object.keys(v).length > 0 : Boolean(v);

// The number of values.
const xpathCount = (v) => [].concat(v ?? []).length;

// The first value as a text.
const xpathText = (v) => String([].concat(v ?? [])[0] ?? "");

// A value that has to be JSON if it is a text.
const jsonText = (v) => {
  try { if (typeof v === "string") JSON.parse(v); } catch { throw new Error("The body of the request is not JSON: " + v); } return v;
};

// An address in which each plus is encoded.
const literalPlus = (v) => String(v).replace(/[+]/g, "%2B");

// The type of the body that headers state.
const mediaType = (headers) => {
  const [, type] = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === "content-type") ?? [];
  return String(type ?? "application/json");
};

// The headers without the type of the body.
const otherHeaders = (headers) => Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() !== "content-type"));

// A body as the text that is sent in a media type.
const asMedia = (v, type) => {
  const kind = type.split(";")[0].trim().toLowerCase();
  if (kind.startsWith("multipart/")) throw new Error("A body of the type " + kind + " is not supported.");
  if (typeof v !== "string") return kind === "application/x-www-form-urlencoded" ? Object.entries(v).map((pair) => pair.filter((one) => one !== null && one !== undefined).map((one) => encodeURIComponent(typeof one === 'object' ? JSON.stringify(one) : one)).join('=')).join('&').replace(/%20/g, '+') : JSON.stringify(v);
  return kind === "application/json" || kind.endsWith("+json") ? ((v) => { try { if (typeof v === "string") JSON.parse(v); } catch { throw new Error("The body of the request is not JSON: " + v); } return v; })(v) : v;
};

// The text of a value in Java; `double`: whether a whole number is a double there. (Its lines are kept.)
const javaText = (value, double) => {
  const power = (x) => {
    const [digits, e] = x.toExponential().split("e");
    return digits + (digits.includes(".") ? "E" : ".0E") + Number(e);
  };
  const number = (x, d) => {
    const size = Math.abs(x);
    if (!Number.isFinite(x) || (x % 1 === 0 && size < 1e21 && !d)) return String(x);
    if (size !== 0 && !(size >= 1e-3 && size < 1e7)) return power(x);
    return String(x) + (x % 1 === 0 ? ".0" : "");
  };
  const text = (x, d) => {
    if (typeof x === "number") return number(x, d);
    if (Object(x) !== x) return String(x);
    if (Array.isArray(x)) return "[" + x.map((y) => text(y)).join(", ") + "]";
    return "{" + Object.entries(x).map(([k, y]) => k + "=" + text(y)).join(", ") + "}";
  };
  return value == null ? "" : text(value, double);
};

// Whether a number or the text of one has a fraction in Java.
const isDouble = (x) => (typeof x === "number" ? x % 1 !== 0 : /[.e]/i.test(x));

// A value that JavaScript compares as FEEL compares numbers and texts, by code points.
const codePointOrder = (v) => typeof v === "string" ? "t" + Array.from(v, (c) => 1e7 + c.codePointAt(0)) : typeof v === "number" ? v : NaN;

// A number as a whole number of units of 10 ** -400, less than any part of a number. A product
// of n numbers is in units of 10 ** (-400 * n).
const exactUnits = (x) => {
  const [n, e = 0] = String(x).split("e"), [i, f = ""] = n.split(".");
  return BigInt(i + f) * 10n ** BigInt(400 + Number(e) - f.length);
};
