// Functions that readable tables call, each emitted where it is used, after the rules.

// The result of the first rule that matches. (Its lines are kept.)
function first(rules, otherwise) {
  const hit = rules.find(([holds]) => holds);
  return hit === undefined ? otherwise : hit[1];
}

// The result of the only rule that matches; null if several do. (Its lines are kept.)
function unique(rules, otherwise) {
  const hits = rules.filter(([holds]) => holds);
  if (hits.length > 1) return null;
  return hits.length === 1 ? hits[0][1] : otherwise;
}

// The result of the only rule that matches; an error if several do. (Its lines are kept.)
function atMostOne(rules, otherwise) {
  const hits = rules.filter(([holds]) => holds);
  if (hits.length > 1) {
    throw new Error("Several rules of a decision table match, but its hit policy is UNIQUE.");
  }
  return hits.length === 1 ? hits[0][1] : otherwise;
}

// The result of all rules that match; an error if they have several. (Its lines are kept.)
function agreed(rules, otherwise) {
  const hits = rules.filter(([holds]) => holds).map(([, result]) => result);
  if (hits.length === 0) return otherwise;
  if (hits.some((hit) => JSON.stringify(hit) !== JSON.stringify(hits[0]))) {
    throw new Error("Several rules of a decision table match, but its hit policy is ANY.");
  }
  return hits[0];
}

// The result of all rules that match; null if they have several. (Its lines are kept.)
function any(rules, otherwise) {
  const hits = rules.filter(([holds]) => holds).map(([, result]) => result);
  if (hits.length === 0) return otherwise;
  return hits.every((hit) => JSON.stringify(hit) === JSON.stringify(hits[0])) ? hits[0] : null;
}

// The results of all rules that match. (Its lines are kept.)
function collect(rules, otherwise) {
  const hits = rules.filter(([holds]) => holds).map(([, result]) => result);
  return hits.length === 0 ? otherwise : hits;
}

// A number, or NaN for another value. (Its lines are kept.)
function numeric(value) {
  return Number.isFinite(value) ? value : NaN;
}

// Whether a value differs from all others, of its type, or is null. (Its lines are kept.)
function differs(value, ...others) {
  return absent(value) || others.every((one) => typeof value === typeof one && value !== one);
}

// Whether a value is null in FEEL. (Its lines are kept.)
function absent(value) {
  return value === undefined || value === null
    || (typeof value === "number" && !Number.isFinite(value));
}

// A value as Camunda 7 converts it to the type of a column. (Its lines are kept.)
function converted(value, type) {
  if (absent(value)) return null;
  const is = typeof value;
  const written = is === "object" ? "" : String(value);
  if (type === "string") {
    if (is === "string" || is === "boolean") return written;
    if (/^-?\d{1,7}(\.\d{1,6})?$|^-?\d{8,15}$/.test(written)) return written;
  } else if (type === "boolean") {
    if (is === "string" || is === "boolean") return written.toLowerCase() === "true";
  } else if (is === "number" || (is === "string" && /^[+-]?\d+(\.\d+)?$/.test(written))) {
    const most = type === "integer" ? 2147483647 : 9007199254740991;
    const whole = Number.isInteger(Number(written)) && !(is === "string" && written.includes("."));
    if (type === "double" || (whole && Math.abs(Number(written)) <= most)) return Number(written);
  }
  const given = JSON.stringify(value);
  throw new Error(`A decision table expects a value of type ${type}, not ${given}.`);
}

// A date and time without an offset. (Its lines are kept.)
function localMoment(value) {
  if (absent(value)) return null;
  const found = moment(value);
  if (found !== null && found.zone === null) return found;
  throw new Error(`A decision table expects a value of type date, not ${JSON.stringify(value)}.`);
}

// An entry of a context, or of each context in a list. (Its lines are kept.)
function entry(value, name) {
  if (Array.isArray(value)) return value.map((one) => entry(one, name));
  const has = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return has ? value[name] : null;
}

// A value of a type of JavaScript, or null. (Its lines are kept.)
function typed(value, type) {
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof one === type ? one : null;
}
