// Calculates with decimals as whole numbers, each with its number of decimal places, and a double
// if it is not certain which of the two Groovy has. Names in capitals are numbers.
const groovyDecimals = (run) => {
  const whole = (v) => Array.isArray(v) ? v : Number.isSafeInteger(v) ? [BigInt(v), 0] : null;
  const exact = ([m, e]) => Number(`${m}e${-e}`);
  const double = (v) => Array.isArray(v) ? v[2] ?? exact(v) : v;
  const tens = (n) => 10n ** BigInt(n);
  const size = (n) => String(n).replace("-", "").length;
  const divide = ([a, e], [b, f]) => {
    const sign = (a < 0n) === (b < 0n) ? 1n : -1n, most = size(a) + 4 * size(b);
    if (a < 0n) a = -a;
    if (b < 0n) b = -b;
    for (let at = 0; at < most; at += 1) if (a * tens(at) % b === 0n)
      return [sign * a * tens(at) / b, e - f + at];
    const digits = Math.max(size(a), size(b)) + MORE_DIGITS;
    let at = digits - size(a) + size(b);
    if (size(a * tens(at) / b) > digits) at -= 1;
    let found = (2n * a * tens(at) + b) / (2n * b);
    const rest = e - f + at - Math.max(e, f, PLACES);
    if (rest > 0) found = (found + 5n * tens(rest - 1)) / tens(rest);
    return [sign * found, e - f + at - Math.max(rest, 0)];
  };
  const d = (sign, x, y) => {
    const [a, b] = [double(x), double(y)];
    const near = sign === "+" ? a + b : sign === "-" ? a - b : sign === "*" ? a * b : a / b;
    const p = whole(x), q = whole(y);
    if (p === null || q === null) return Object(near);
    if (!Array.isArray(x) && !Array.isArray(y) && sign !== "/") {
      const small = (v) => v >= LEAST_INT && v <= MOST_INT;
      const fits = small(x) && small(y) ? small(near) : Number.isSafeInteger(near);
      return fits ? near : NaN;
    }
    if (sign === "/" && q[0] === 0n) return NaN;
    const most = Math.max(p[1], q[1]);
    const [m, n] = [p, q].map((v) => v[0] * tens(most - v[1]));
    const found = sign === "/" ? divide(p, q) : sign === "*" ? [p[0] * q[0], p[1] + q[1]]
      : [sign === "+" ? m + n : m - n, most];
    return x?.length === 3 || y?.length === 3 ? [...found, near] : found;
  };
  const unsure = (v) => {
    if (typeof v !== "number" || !Number.isFinite(v)) return v;
    const [digits, power = 0] = String(v).split("e"), [start, rest = ""] = digits.split(".");
    return [BigInt(start + rest), rest.length - power, v];
  };
  const v = run(d, unsure);
  if (!Array.isArray(v)) return Number(v);
  return v.length === 3 && v[2] !== exact(v) ? NaN : exact(v);
};
