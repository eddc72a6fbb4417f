// The values and functions of FEEL that translations call. Each block behind a blank line is one
// definition; a translation gets those that it needs, in this order (see feel_runtime.py).
// Numbers {k, c, e} are c * 10 ** e; times count nanoseconds; null is null; contexts are Maps.

const ZERO = BigInt(0);

const ONE = BigInt(1);

const TWO = BigInt(2);

const TEN = BigInt(10);

const NANOS = 1000000000;

const DAY = 86400 * NANOS;

const MAX_YEAR = 999999999;

const MAX_NANOS = BigInt("9223372036854775808000000000");

const POINTS = ["number", "string", "date", "time", "date and time", "days and time duration",
  "years and months duration"];

const ten = (n) => BigInt("1" + "0".repeat(n));

const size = (c) => (c < ZERO ? -c : c).toString().length;

const cut = (c, n, mode) => {
  const by = ten(n), q = c / by, r = c % by;
  if (r === ZERO) return q;
  const negative = c < ZERO, twice = (negative ? -r : r) * TWO;
  const up = mode === "up" || (mode === "ceiling" && !negative) || (mode === "floor" && negative)
    || (mode.startsWith("half") && (twice > by || (twice === by
      && (mode === "half-up" || (mode === "half-even" && q % TWO !== ZERO)))));
  return up ? (negative ? q - ONE : q + ONE) : q;
};

const dec = (c, e) => {
  const over = Math.max(size(c) - 34, -6176 - e, 0);
  if (over > 0) {
    c = cut(c, over, "half-even");
    e += over;
    if (size(c) > 34) return dec(c, e);
  }
  if (c === ZERO) return { k: "number", c: ZERO, e: 0 };
  const text = c.toString(), zeros = text.length - text.replace(/0+$/, "").length;
  if (zeros > 0) {
    c = c / ten(zeros);
    e += zeros;
  }
  return size(c) + e - 1 > 6144 ? null : { k: "number", c: c, e: e };
};

const num = (text) => {
  const m = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
  const c = BigInt(m[2] + m[3] === "" ? "0" : m[2] + m[3]);
  const e = Number(m[4] === undefined ? 0 : m[4]) - m[3].length;
  if (c === ZERO || e < -100000) return dec(ZERO, 0);
  return e > 100000 ? null : dec(m[1] === "-" ? -c : c, e);
};

const int = (n) => dec(BigInt(n), 0);

const whole = (n) => {
  if (n.e < 0) return null;
  return n.c * ten(n.e);
};

const trunc = (n) => (n.e < 0 ? cut(n.c, Math.min(-n.e, 40), "down") : n.c * ten(n.e));

const addNum = (a, b) => {
  const e = Math.min(a.e, b.e);
  return dec(a.c * ten(a.e - e) + b.c * ten(b.e - e), e);
};

const negNum = (a) => ({ k: "number", c: -a.c, e: a.e });

const mulNum = (a, b) => dec(a.c * b.c, a.e + b.e);

const divNum = (a, b) => {
  if (b.c === ZERO) return null;
  const n = Math.max(0, size(b.c) - size(a.c) + 36), top = a.c * ten(n), q = top / b.c;
  // A digit behind the others says that there is a rest, and of which sign.
  const rest = top % b.c === ZERO ? ZERO : (a.c < ZERO) !== (b.c < ZERO) ? -ONE : ONE;
  return dec(q * TEN + rest, a.e - b.e - n - 1);
};

const cmpNum = (a, b) => {
  const e = Math.min(a.e, b.e), d = a.c * ten(a.e - e) - b.c * ten(b.e - e);
  return d < ZERO ? -1 : d > ZERO ? 1 : 0;
};

const DIGITS = 110;

const fixed = (n) => (n.e + DIGITS >= 0 ? n.c * ten(n.e + DIGITS) : cut(n.c, -n.e - DIGITS, "half-even"));

const artanh = (z) => {
  const scale = ten(DIGITS), square = z * z / scale;
  let sum = z, power = z, n = 1;
  while (power !== ZERO) {
    power = power * square / scale;
    n += 2;
    sum += power / BigInt(n);
  }
  return sum;
};

const ln2 = () => TWO * artanh(ten(DIGITS) / BigInt(3));

const ln10 = () => BigInt(3) * ln2() + TWO * artanh(ten(DIGITS) / BigInt(9));

const lnFixed = (n) => {
  const k = size(n.c) + n.e, scale = ten(DIGITS);
  let m = fixed({ c: n.c, e: -size(n.c) }), twos = 0;
  while (m * TWO < scale) {
    m = m * TWO;
    twos += 1;
  }
  return TWO * artanh((m - scale) * scale / (m + scale)) - BigInt(twos) * ln2() + BigInt(k) * ln10();
};

const expFixed = (x) => {
  const scale = ten(DIGITS), base = ln10();
  let k = x / base;
  if (k > BigInt(7000)) return null;
  if (k < BigInt(-7000)) return dec(ZERO, 0);
  let r = (x - k * base) / BigInt(256), sum = scale + r, term = r, n = 1;
  while (term !== ZERO) {
    n += 1;
    term = term * r / scale / BigInt(n);
    sum += term;
  }
  for (let i = 0; i < 8; i += 1) sum = sum * sum / scale;
  return dec(sum, Number(k) - DIGITS);
};

const powNum = (a, b) => {
  if (b.c === ZERO) return int(1);
  if (a.c === ZERO) return b.c > ZERO ? a : null;
  let n = whole(b);
  if (n === null) {
    if (a.c < ZERO) return null;
    const x = lnFixed(a) * b.c;
    return expFixed(b.e < 0 ? cut(x, -b.e, "half-even") : x * ten(b.e));
  }
  const negative = n < ZERO;
  if (negative) n = -n;
  let c = ONE, e = 0, bc = a.c, be = a.e;
  const short = () => {
    const over = size(c) - 90, more = size(bc) - 90;
    if (over > 0) {
      c = cut(c, over, "half-even");
      e += over;
    }
    if (more > 0) {
      bc = cut(bc, more, "half-even");
      be += more;
    }
  };
  while (n > ZERO) {
    if (n % TWO === ONE) {
      c = c * bc;
      e += be;
    }
    n = n / TWO;
    if (n > ZERO) {
      bc = bc * bc;
      be += be;
    }
    short();
    const height = size(c) + e;
    if (height > 20000) return negative ? dec(ZERO, 0) : null;
    if (height < -20000) return negative ? null : dec(ZERO, 0);
  }
  if (!negative) return dec(c, e);
  const top = ten(size(c) + 40), q = top / c;
  return dec(q * TEN + (top % c === ZERO ? ZERO : c < ZERO ? -ONE : ONE), -e - size(c) - 41);
};

const root = (c) => {
  let x = ten(Math.ceil(size(c) / 2)), y = ZERO;
  for (;;) {
    y = (x + c / x) / TWO;
    if (y >= x) return x;
    x = y;
  }
};

const sqrtNum = (a) => {
  if (a.c < ZERO) return null;
  if (a.c === ZERO) return a;
  let n = Math.max(0, 76 - size(a.c));
  if ((a.e - n) % 2 !== 0) n += 1;
  const c = a.c * ten(n), r = root(c);
  return dec(r * TEN + (r * r === c ? ZERO : ONE), (a.e - n) / 2 - 1);
};

const roundNum = (n, scale, mode) => {
  const digits = trunc(scale);
  if (digits < BigInt(-6111) || digits > BigInt(6176)) return null;
  const d = Number(digits);
  return n.e + d >= 0 ? n : dec(cut(n.c, Math.min(-n.e - d, size(n.c) + 1), mode), 0 - d);
};

const plain = (n) => {
  const negative = n.c < ZERO, digits = (negative ? -n.c : n.c).toString();
  let text = digits;
  if (n.e > 0 && n.c !== ZERO) text = digits + "0".repeat(n.e);
  if (n.e < 0) {
    const wide = digits.padStart(1 - n.e, "0"), point = wide.length + n.e;
    text = wide.slice(0, point) + "." + wide.slice(point);
  }
  return (negative ? "-" : "") + text;
};

const kind = (v) => {
  if (v === null) return "Null";
  if (Array.isArray(v)) return "list";
  if (v instanceof Map) return "context";
  return typeof v === "object" ? v.k : typeof v;
};

const points = (text) => Array.from(text);

const cmpText = (a, b) => {
  const one = points(a), two = points(b);
  for (let i = 0; i < one.length && i < two.length; i += 1) {
    const d = one[i].codePointAt(0) - two[i].codePointAt(0);
    if (d !== 0) return d;
  }
  return one.length - two.length;
};

const both = (a, b) => (a === false || b === false ? false : a === true && b === true ? true : null);

const either = (a, b) => (a === true || b === true ? true : a === false && b === false ? false : null);

const not = (a) => (typeof a === "boolean" ? !a : null);

const monthDays = (y, m) => {
  const leap = y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
  return m === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(m) ? 30 : 31;
};

const dayNumber = (d) => {
  const y = d.y - (d.m <= 2 ? 1 : 0), era = Math.floor(y / 400), left = y - era * 400;
  const day = Math.floor((153 * ((d.m + 9) % 12) + 2) / 5) + d.d - 1;
  return era * 146097 + left * 365 + Math.floor(left / 4) - Math.floor(left / 100) + day - 719468;
};

const dateOf = (y, m, d) => {
  const exists = Math.abs(y) <= MAX_YEAR && m >= 1 && m <= 12 && d >= 1 && d <= monthDays(y, m);
  return exists ? { k: "date", y: y, m: m, d: d } : null;
};

const fromDay = (n) => {
  const era = Math.floor((n + 719468) / 146097), left = n + 719468 - era * 146097;
  const y = Math.floor((left - Math.floor(left / 1460) + Math.floor(left / 36524)
    - Math.floor(left / 146096)) / 365);
  const day = left - (365 * y + Math.floor(y / 4) - Math.floor(y / 100));
  const shifted = Math.floor((5 * day + 2) / 153), m = shifted < 10 ? shifted + 3 : shifted - 9;
  return dateOf(y + era * 400 + (m <= 2 ? 1 : 0), m, day - Math.floor((153 * shifted + 2) / 5) + 1);
};

const weekday = (d) => (((dayNumber(d) + 3) % 7) + 7) % 7 + 1;

const dayOfYear = (d) => dayNumber(d) - dayNumber({ y: d.y, m: 1, d: 1 }) + 1;

const timeOf = (n, z) => ({ k: "time", n: n, z: z });

const momentOf = (d, t) => ({ k: "date and time", d: d, t: t });

const days = (n) => ((n < ZERO ? -n : n) <= MAX_NANOS ? { k: "days and time duration", n: n } : null);

const months = (m) => (Math.abs(m) <= 12 * MAX_YEAR ? { k: "years and months duration", m: m } : null);

const parseDate = (text) => {
  const m = /^(-?(?:[1-9]\d{4,8}|\d{4}))-(\d\d)-(\d\d)$/.exec(text);
  return m === null || m[1] === "-0000" ? null : dateOf(Number(m[1]), Number(m[2]), Number(m[3]));
};

const zones = new Map();

const zone = (name) => {
  if (!zones.has(name)) {
    let found = null;
    try {
      found = /^[A-Za-z]/.test(name) ? new Intl.DateTimeFormat("en-US", {
        timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
        hour: "numeric", minute: "numeric", second: "numeric", era: "short" }) : null;
    } catch (error) {
      found = null;
    }
    zones.set(name, found);
  }
  return zones.get(name);
};

const parseZone = (text) => {
  if (text === undefined) return null;
  if (text === "Z") return 0;
  if (text.startsWith("@")) return zone(text.slice(1)) === null ? false : text.slice(1);
  const parts = text.slice(1).split(":").map(Number);
  if (parts[1] > 59 || (parts.length > 2 && parts[2] > 59)) return false;
  const offset = parts[0] * 3600 + parts[1] * 60 + (parts.length > 2 ? parts[2] : 0);
  return offset > 50400 ? false : text.startsWith("-") ? 0 - offset : offset;
};

// `24:00:00` is the first moment of the next day.
const endsDay = (text) => /^24:00:00(?:\.0+)?(?![.\d])/.test(text);

const parseTime = (text) => {
  const m = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d(?::\d\d)?|@[A-Za-z0-9_+\/-]+)?$/.exec(text);
  if (m === null || Number(m[2]) > 59 || Number(m[3]) > 59) return null;
  if (Number(m[1]) > 23 && !endsDay(text)) return null;
  const z = parseZone(m[5]), nano = Number((m[4] === undefined ? "0" : m[4]).slice(0, 9).padEnd(9, "0"));
  const seconds = (Number(m[1]) % 24 * 60 + Number(m[2])) * 60 + Number(m[3]);
  return z === false ? null : timeOf(seconds * NANOS + nano, z);
};

const parseMoment = (text) => {
  const at = text.indexOf("T"), day = parseDate(at < 0 ? text : text.slice(0, at));
  const d = day !== null && at >= 0 && endsDay(text.slice(at + 1)) ? fromDay(dayNumber(day) + 1) : day;
  const t = at < 0 ? timeOf(0, null) : parseTime(text.slice(at + 1));
  return d === null || t === null ? null : momentOf(d, t);
};

const parseDuration = (text) => {
  let m = /^(-)?P(?=\d)(?:(\d+)Y)?(?:(\d+)M)?$/.exec(text);
  const big = (t) => BigInt(t === undefined ? "0" : t);
  if (m !== null) {
    const n = big(m[2]) * BigInt(12) + big(m[3]);
    return n > BigInt(12 * MAX_YEAR) ? null : months(m[1] ? 0 - Number(n) : Number(n));
  }
  m = /^(-)?P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d*))?S)?)?$/.exec(text);
  if (m === null) return null;
  const seconds = ((big(m[2]) * BigInt(24) + big(m[3])) * BigInt(60) + big(m[4])) * BigInt(60) + big(m[5]);
  const n = seconds * BigInt(NANOS) + big((m[6] === undefined ? "0" : m[6]).slice(0, 9).padEnd(9, "0"));
  return days(m[1] ? -n : n);
};

const atLiteral = (text) => {
  for (const parse of [parseDate, parseTime, parseMoment, parseDuration]) {
    const found = parse(text);
    if (found !== null) return found;
  }
  return null;
};

const twoDigits = (n) => String(n).padStart(2, "0");

const dateText = (d) => (d.y < 0 ? "-" : "") + String(Math.abs(d.y)).padStart(4, "0") + "-" + twoDigits(d.m) + "-" + twoDigits(d.d);

const fraction = (nano) => (nano === 0 ? "" : "." + String(nano).padStart(9, "0").replace(/0+$/, ""));

const zoneText = (z) => {
  if (z === null) return "";
  if (typeof z === "string") return "@" + z;
  if (z === 0) return "Z";
  const left = Math.abs(z), minutes = Math.floor(left / 60);
  const tail = left % 60 === 0 ? "" : ":" + twoDigits(left % 60);
  return (z < 0 ? "-" : "+") + twoDigits(Math.floor(minutes / 60)) + ":" + twoDigits(minutes % 60) + tail;
};

const timeText = (t) => {
  const s = Math.floor(t.n / NANOS);
  return twoDigits(Math.floor(s / 3600)) + ":" + twoDigits(Math.floor(s / 60) % 60) + ":" + twoDigits(s % 60)
    + fraction(t.n % NANOS) + zoneText(t.z);
};

const durationText = (v) => {
  if (v.k === "years and months duration") {
    const y = Math.floor(Math.abs(v.m) / 12), m = Math.abs(v.m) % 12;
    return (v.m < 0 ? "-" : "") + "P" + ((y ? y + "Y" : "") + (m ? m + "M" : "") || "0M");
  }
  const n = v.n < ZERO ? -v.n : v.n, d = n / BigInt(DAY), left = Number(n % BigInt(DAY));
  const s = Math.floor(left / NANOS), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  const clock = (h ? h + "H" : "") + (m ? m + "M" : "")
    + (s % 60 || left % NANOS ? s % 60 + fraction(left % NANOS) + "S" : "");
  return (v.n < ZERO ? "-" : "") + "P" + ((d === ZERO ? "" : d + "D") + (clock ? "T" + clock : "") || "T0S");
};

const offsetUtc = (name, seconds) => {
  const found = new Map();
  for (const part of zone(name).formatToParts(new Date(seconds * 1000))) found.set(part.type, part.value);
  const read = (key) => Number(found.get(key));
  const y = found.get("era").startsWith("B") ? 1 - read("year") : read("year");
  const clock = dayNumber({ y: y, m: read("month"), d: read("day") }) * 86400
    + read("hour") * 3600 + read("minute") * 60 + read("second");
  return clock - seconds;
};

const offsetAt = (d, t) => {
  if (typeof t.z !== "string") return t.z;
  let local = Math.floor(t.n / NANOS), day = d;
  if (d.y < 1800) {
    day = { y: 1800, m: 1, d: 1 };
    local = 0;
  }
  // The calendar repeats after 400 years, on the same weekdays.
  if (d.y > 2400) day = { y: 2400 + d.y % 400, m: d.m, d: d.d };
  local += dayNumber(day) * 86400;
  const before = offsetUtc(t.z, local - 86400), after = offsetUtc(t.z, local + 86400);
  // A local time that clocks skip or show twice has the offset from before the change.
  if (before === after || offsetUtc(t.z, local - before) === before) return before;
  return offsetUtc(t.z, local - after) === after ? after : before;
};

const timeOffset = (t) => (typeof t.z === "string"
  ? Math.min(offsetAt({ y: 2024, m: 1, d: 1 }, t), offsetAt({ y: 2024, m: 7, d: 1 }, t)) : t.z);

const instant = (v) => {
  if (v.k === "date") return { local: false, n: BigInt(dayNumber(v)) * BigInt(DAY) };
  const z = v.k === "time" ? timeOffset(v) : offsetAt(v.d, v.t);
  const n = v.k === "time" ? BigInt(v.n) : BigInt(dayNumber(v.d)) * BigInt(DAY) + BigInt(v.t.n);
  return { local: z === null, n: n - BigInt(z === null ? 0 : z) * BigInt(NANOS) };
};

const floorDivide = (n, by) => {
  const q = n / by, r = n % by;
  return r < ZERO ? [q - ONE, r + by] : [q, r];
};

const addDays = (v, n) => {
  const day = BigInt(DAY);
  if (v.k === "date") return fromDay(Number(floorDivide(BigInt(dayNumber(v)) * day + n, day)[0]));
  if (v.k === "time") return timeOf(Number(floorDivide(BigInt(v.n) + n, day)[1]), v.z);
  const parts = floorDivide(BigInt(dayNumber(v.d)) * day + BigInt(v.t.n) + n, day), d = fromDay(Number(parts[0]));
  return d === null ? null : momentOf(d, timeOf(Number(parts[1]), v.t.z));
};

const addMonths = (v, n) => {
  if (v.k === "date and time") {
    const d = addMonths(v.d, n);
    return d === null ? null : momentOf(d, v.t);
  }
  const all = v.y * 12 + v.m - 1 + n, y = Math.floor(all / 12), m = all - y * 12 + 1;
  return dateOf(y, m, Math.min(v.d, monthDays(y, m)));
};

const cmpTemporal = (a, b) => {
  if (a.k === "days and time duration") return a.n < b.n ? -1 : a.n > b.n ? 1 : 0;
  if (a.k === "years and months duration") return a.m - b.m;
  const one = instant(a), other = instant(b);
  if (one.local !== other.local) return null;
  return one.n < other.n ? -1 : one.n > other.n ? 1 : 0;
};

const isDay = (v) => v.k === "date" || v.k === "date and time";

const scaleDuration = (op, v, by) => {
  const own = v.k === "years and months duration" ? int(v.m) : dec(v.n, 0);
  const found = op === "*" ? mulNum(own, by) : divNum(own, by);
  if (found === null || size(found.c) + found.e > 40) return null;
  const n = trunc(found);
  if ((n < ZERO ? -n : n) > MAX_NANOS) return null;
  return v.k === "years and months duration" ? months(Number(n)) : days(n);
};

const calcTemporal = (op, a, b) => {
  const one = kind(a), other = kind(b), long = "years and months duration", short = "days and time duration";
  const sign = op === "-" ? -1 : 1, sums = op === "+" || op === "-";
  if (one === short && other === short) {
    if (sums) return days(a.n + BigInt(sign) * b.n);
    return op === "/" ? divNum(dec(a.n, 0), dec(b.n, 0)) : null;
  }
  if (one === long && other === long) {
    if (sums) return months(a.m + sign * b.m);
    return op === "/" ? divNum(int(a.m), int(b.m)) : null;
  }
  if ((one === short || one === long) && other === "number") return op === "*" || op === "/" ? scaleDuration(op, a, b) : null;
  if (one === "number" && (other === short || other === long)) return op === "*" ? scaleDuration("*", b, a) : null;
  const timed = (v, k) => k === "time" || k === "date" || k === "date and time";
  if (timed(a, one) && other === short) return sums ? addDays(a, BigInt(sign) * b.n) : null;
  if ((one === "date" || one === "date and time") && other === long) return sums ? addMonths(a, sign * b.m) : null;
  if ((one === short && timed(b, other)) || (one === long && timed(b, other) && other !== "time")) return op === "+" ? calcTemporal("+", b, a) : null;
  if (op === "-" && ((one === "time" && other === "time") || (timed(a, one) && timed(b, other) && one !== "time" && other !== "time"))) {
    const first = instant(a), second = instant(b);
    return first.local === second.local ? days(first.n - second.n) : null;
  }
  return null;
};

const equal = (a, b) => {
  if (a === null || b === null) return a === null && b === null;
  const of = kind(a);
  if (of !== kind(b)) return null;
  if (of === "number") return cmpNum(a, b) === 0;
  if (of === "list") return a.length === b.length && a.every((v, i) => equal(v, b[i]) === true);
  if (of === "context") return a.size === b.size && Array.from(a.keys()).every((key) => b.has(key) && equal(a.get(key), b.get(key)) === true);
  if (of === "range") return a.ai === b.ai && a.bi === b.bi && equal(a.a, b.a) === true && equal(a.b, b.b) === true;
  if (of === "string" || of === "boolean" || of === "function") return a === b;
  return cmpTemporal(a, b) === 0;
};

const cmp = (op, a, b) => {
  if (op === "=" || op === "!=") {
    const found = equal(a, b);
    return found === null || op === "=" ? found : !found;
  }
  const of = kind(a);
  if (of !== kind(b) || !POINTS.includes(of)) return null;
  const d = of === "number" ? cmpNum(a, b) : of === "string" ? cmpText(a, b) : cmpTemporal(a, b);
  if (d === null) return null;
  return op === "<" ? d < 0 : op === "<=" ? d <= 0 : op === ">" ? d > 0 : d >= 0;
};

const calc = (op, a, b) => {
  const one = kind(a), other = kind(b);
  if (one === "number" && other === "number") {
    if (op === "+") return addNum(a, b);
    if (op === "-") return addNum(a, negNum(b));
    if (op === "*") return mulNum(a, b);
    return op === "/" ? divNum(a, b) : powNum(a, b);
  }
  if (one === "string" && other === "string") return op === "+" ? a + b : null;
  return a === null || b === null ? null : calcTemporal(op, a, b);
};

const negTemporal = (v) => {
  const of = kind(v);
  if (of === "days and time duration") return days(-v.n);
  return of === "years and months duration" ? months(0 - v.m) : null;
};

const neg = (v) => (kind(v) === "number" ? negNum(v) : negTemporal(v));

const holds = (r, v) => both(
  r.a === null ? true : cmp(r.ai ? ">=" : ">", v, r.a),
  r.b === null ? true : cmp(r.bi ? "<=" : "<", v, r.b));

const range = (a, b, ai, bi, open) => {
  if ((a === null && open !== 1) || (b === null && open !== 2)) return null;
  const ends = [a, b].filter((v) => v !== null).map(kind);
  return ends.every((of) => POINTS.includes(of) && of === ends[0]) ? { k: "range", a: a, b: b, ai: ai, bi: bi } : null;
};

const isIn = (v, found) => {
  const of = kind(found), single = kind(v) !== "range";
  if (of === "range" && single) return holds(found, v);
  if (of === "list") {
    if (kind(v) === "list" && equal(v, found) === true) return true;
    return found.some((one) => (kind(one) === "range" && single ? holds(one, v) : equal(v, one)) === true);
  }
  return found === null && v !== null ? null : equal(v, found);
};

const truth = (v) => (typeof v === "boolean" ? v : null);

const tests = (results, negated) => {
  let found = false;
  for (const one of results) {
    const value = one();
    if (value === true) {
      found = true;
      break;
    }
    if (value === null) found = null;
  }
  return negated ? not(found) : found;
};

const scope = (entries, outer) => ({ v: new Map(entries), o: outer });

const get = (s, name, otherwise) => {
  for (let at = s; at !== null; at = at.o) if (at.v.has(name)) return at.v.get(name);
  return otherwise === undefined ? null : otherwise;
};

const propertyTemporal = (v, name) => {
  const of = kind(v);
  if (of === "date") return name === "year" ? int(v.y) : name === "month" ? int(v.m) : name === "day" ? int(v.d) : name === "weekday" ? int(weekday(v)) : null;
  if (of === "time") {
    const s = Math.floor(v.n / NANOS);
    if (name === "hour") return int(Math.floor(s / 3600));
    if (name === "minute") return int(Math.floor(s / 60) % 60);
    if (name === "second") return int(s % 60);
    if (name === "timezone") return typeof v.z === "string" ? v.z : null;
    const z = name === "time offset" ? timeOffset(v) : null;
    return z === null ? null : days(BigInt(z) * BigInt(NANOS));
  }
  if (of === "date and time") {
    if (name === "time offset") {
      const z = offsetAt(v.d, v.t);
      return z === null ? null : days(BigInt(z) * BigInt(NANOS));
    }
    const found = propertyTemporal(v.d, name);
    return found === null ? propertyTemporal(v.t, name) : found;
  }
  if (of === "years and months duration") {
    const n = Math.abs(v.m), sign = v.m < 0 ? -1 : 1;
    return name === "years" ? int(sign * Math.floor(n / 12)) : name === "months" ? int(sign * (n % 12)) : null;
  }
  if (of === "days and time duration") {
    const s = (v.n < ZERO ? -v.n : v.n) / BigInt(NANOS), sign = v.n < ZERO ? -ONE : ONE;
    const b = BigInt;
    return name === "days" ? dec(sign * (s / b(86400)), 0) : name === "hours" ? dec(sign * (s / b(3600) % b(24)), 0)
      : name === "minutes" ? dec(sign * (s / b(60) % b(60)), 0) : name === "seconds" ? dec(sign * (s % b(60)), 0) : null;
  }
  return null;
};

const path = (v, name) => {
  const of = kind(v);
  if (of === "context") return v.has(name) ? v.get(name) : null;
  if (of === "list") return v.map((one) => path(one, name));
  if (of === "range") return name === "start" ? v.a : name === "end" ? v.b : name === "start included" ? v.ai : name === "end included" ? v.bi : null;
  return propertyTemporal(v, name);
};

const element = (list, index) => {
  const n = whole(index);
  if (n === null || n === ZERO || (n < ZERO ? -n : n) > BigInt(list.length)) return null;
  return list[n > ZERO ? Number(n) - 1 : list.length + Number(n)];
};

const filter = (base, condition, s) => {
  const list = Array.isArray(base) ? base : base === null ? [] : [base], index = condition(s);
  if (kind(index) === "number") return element(list, index);
  return list.filter((one) => {
    const inner = new Map([["item", one]]);
    if (one instanceof Map) for (const entry of one) inner.set(entry[0], entry[1]);
    return condition({ v: inner, o: s }) === true;
  });
};

const MAX = 1000000;

const tooMany = () => {
  throw new Error("FEEL: a loop of more than 1,000,000 turns");
};

const steps = (a, b) => {
  const of = kind(a);
  if (of === "number" && kind(b) === "number") {
    const up = cmpNum(a, b) <= 0, d = addNum(b, negNum(a)), n = d === null ? ZERO : trunc(d);
    if ((n < ZERO ? -n : n) >= BigInt(MAX)) tooMany();
    return Array.from({ length: Math.abs(Number(n)) + 1 }, (_, i) => addNum(a, int(up ? i : 0 - i)));
  }
  if (of === "date" && kind(b) === "date") {
    const first = dayNumber(a), last = dayNumber(b);
    if (Math.abs(last - first) > MAX) tooMany();
    return Array.from({ length: Math.abs(last - first) + 1 }, (_, i) => fromDay(first <= last ? first + i : first - i));
  }
  return null;
};

const domain = (v) => {
  if (kind(v) !== "range") return Array.isArray(v) ? v : v === null ? null : [v];
  if (cmp("<=", v.a, v.b) !== true) return null;
  const list = steps(v.a, v.b);
  return list === null ? null : list.slice(v.ai ? 0 : 1, v.bi ? list.length : list.length - 1);
};

const turns = (iterations, s, body) => {
  if (iterations.length === 0) return body(s);
  const list = iterations[0][1](s);
  if (list === null) return body(null);
  for (const one of list) if (turns(iterations.slice(1), scope([[iterations[0][0], one]], s), body) === true) return true;
  return false;
};

const loop = (iterations, s, body) => {
  const results = [];
  let broken = false;
  turns(iterations, s, (inner) => {
    broken = broken || inner === null;
    if (broken) return true;
    if (results.length === MAX) tooMany();
    results.push(body(scope([["partial", results.slice()]], inner)));
    return false;
  });
  return broken ? null : results;
};

const loopFast = (iterations, s, body) => {
  const results = [];
  let broken = false;
  turns(iterations, s, (inner) => {
    broken = broken || inner === null;
    if (broken) return true;
    if (results.length === MAX) tooMany();
    results.push(body(inner));
    return false;
  });
  return broken ? null : results;
};

const quantified = (some, iterations, s, condition) => {
  let result = !some;
  turns(iterations, s, (inner) => {
    const found = inner === null ? undefined : condition(inner);
    result = found === undefined ? null : some ? either(result, found) : both(result, found);
    return found === undefined || result === some;
  });
  return result;
};

const sameType = (a, b) => {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  if (a[0] === "allowed" && b[0] === "allowed") return a[3] === b[3];
  return a.length === b.length && a.every((one, i) => sameType(one, b[i]));
};

const typeConforms = (a, b) => {
  if (b === "Any" || a === "Null" || sameType(a, b)) return true;
  if (a[0] === "allowed") return typeConforms(a[1], b);
  if (a[0] === "list" && b === "list") return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a[0] !== b[0]) return false;
  if (a[0] === "list" || a[0] === "range") return typeConforms(a[1], b[1]);
  if (a[0] === "context") return b[1].every((entry) => a[1].some((own) => own[0] === entry[0] && typeConforms(own[1], entry[1])));
  return a[0] === "function" && a[1].length === b[1].length
    && a[1].every((one, i) => typeConforms(b[1][i], one)) && typeConforms(a[2], b[2]);
};

const conforms = (v, type) => {
  if (typeof type === "string") return type === "Any" || v === null || kind(v) === type;
  if (v === null) return true;
  const of = type[0];
  if (of === "list") return Array.isArray(v) && v.every((one) => conforms(one, type[1]));
  if (of === "range") return kind(v) === "range" && conforms(v.a, type[1]) && conforms(v.b, type[1]);
  if (of === "context") return v instanceof Map && type[1].every((entry) => v.has(entry[0]) && conforms(v.get(entry[0]), entry[1]));
  if (of === "allowed") return conforms(v, type[1]) && type[2](v) === true;
  if (kind(v) !== "function") return false;
  return v.p === null || (v.p.length === type[1].length && v.p.every((own, i) => typeConforms(type[1][i], own[1]))
    && (v.r === "Any" || typeConforms(v.r, type[2])));
};

const instanceOf = (v, type) => (v === null ? type === "Null" : conforms(v, type));

const coerce = (v, type) => {
  if (v === null || conforms(v, type)) return v;
  let base = type;
  while (base[0] === "allowed") base = base[1];
  if (Array.isArray(v) && v.length === 1 && conforms(v[0], type)) return v[0];
  if (base[0] === "list" && !Array.isArray(v) && conforms([v], type)) return [v];
  if (base === "date and time" && kind(v) === "date") {
    const start = momentOf(v, timeOf(0, 0));
    return conforms(start, type) ? start : null;
  }
  return null;
};

const arrange = (wanted, given, names) => {
  if (names === null) return given.length === wanted.length ? given : null;
  if (names.length !== wanted.length || !names.every((name) => wanted.includes(name))) return null;
  return wanted.map((name) => given[names.indexOf(name)]);
};

const fn = (parameters, s, body) => ({ k: "function", p: parameters, r: "Any", f: (given, names) => {
  const values = arrange(parameters.map((one) => one[0]), given, names), bound = new Map();
  if (values === null) return null;
  for (let i = 0; i < parameters.length; i += 1) {
    const value = coerce(values[i], parameters[i][1]);
    if (value === null && values[i] !== null) return null;
    bound.set(parameters[i][0], value);
  }
  return body({ v: bound, o: s });
} });

const call = (f, given, names) => (kind(f) === "function" ? f.f(given, names) : null);

const takes = (wanted, v) => {
  const of = kind(v);
  return wanted === "any" || of === wanted || (wanted === "point" && POINTS.includes(of))
    || (wanted === "duration" && of.endsWith("duration"));
};

const taken = (kinds, v) => {
  if (kinds.some((one) => takes(one, v))) return v;
  if (Array.isArray(v) && v.length === 1) return kinds.includes("list") ? undefined : taken(kinds, v[0]);
  return kinds.includes("list") && v !== null ? [v] : undefined;
};

const bindTo = (parameters, variadic, given, names) => {
  let values = given;
  if (names !== null) {
    const wanted = parameters.map((one) => one[0]);
    if (wanted[0] !== "value1" && !names.every((name) => wanted.includes(name))) return null;
    values = wanted.map((name) => (names.includes(name) ? given[names.indexOf(name)] : undefined));
  }
  if (variadic) {
    const first = parameters.slice(0, -1);
    if (values.length < first.length || values.includes(undefined)) return null;
    const head = first.map((one, i) => taken(one[1], values[i])), rest = values.slice(first.length);
    if (head.includes(undefined) || (first.length === 0 && rest.length === 0)) return null;
    return head.concat([first.length === 0 && rest.length === 1 && Array.isArray(rest[0]) ? rest[0] : rest]);
  }
  if (values.length > parameters.length) return null;
  const bound = [];
  for (let i = 0; i < parameters.length; i += 1) {
    let value = i < values.length ? values[i] : undefined;
    if (value === undefined) {
      if (!parameters[i][2]) return null;
      value = null;
    } else {
      value = taken(parameters[i][1], value);
      if (value === undefined) return null;
    }
    bound.push(value);
  }
  return bound;
};

const builtin = (signatures) => ({ k: "function", p: null, r: "Any", f: (given, names) => {
  for (const one of signatures) {
    const bound = bindTo(one[1], one[2], given, names);
    if (bound !== null) return one[0](...bound);
  }
  return null;
} });

const context = (entries, s) => {
  const inner = { v: new Map(), o: s };
  for (const entry of entries) inner.v.set(entry[0], entry[1](inner));
  return inner.v;
};

// Several rules match against the hit policy: null in DMN, an error in engines.
const clash = (table) => {
  if (table.x === undefined) return null;
  throw new Error("Several rules of a decision table match, but its hit policy is " + table.h + ".");
};

// Camunda 7 converts the value of an input to the type of its column, or fails.
const convert = (v, type) => {
  if (v === null) return null;
  const of = kind(v), fail = () => {
    throw new Error("A decision table expects a value of type " + type + ", not " + show(v) + ".");
  };
  if (type === "string") {
    if (of === "string") return v;
    return of === "boolean" ? String(v) : of === "number" ? numberText(v, fail) : fail();
  }
  if (type === "boolean") {
    return of === "boolean" ? v : of === "string" ? v.toLowerCase() === "true" : fail();
  }
  if (type === "date") {
    const d = of === "string" ? parseMoment(v) : of === "date" ? momentOf(v, timeOf(0, null)) : v;
    return kind(d) !== "date and time" || d.t.z !== null ? fail() : d;
  }
  const n = of === "string" && /^[+-]?\d+(\.\d+)?$/.test(v) ? num(v) : v;
  if (kind(n) !== "number") return fail();
  const whole = n.e >= 0, written = of !== "string" || /^[+-]?\d+$/.test(v);
  if (type === "double") return n;
  const most = num(type === "integer" ? "2147483647" : "9223372036854775807");
  return whole && written && cmpNum(n.c < ZERO ? dec(-n.c, n.e) : n, most) <= 0 ? n : fail();
};

// As Java writes a whole number, or a fraction without an exponent.
const numberText = (v, fail) => {
  const text = show(v);
  return /^-?\d{1,7}(\.\d{1,6})?$/.test(text) || (v.e >= 0 && /^-?\d{1,15}$/.test(text)) ? text : fail();
};

const decide = (table, s) => {
  const given = [];
  for (const column of table.i) {
    const value = column[0](s);
    if (column[1] !== null && column[1](value, s) !== true) return null;
    given.push(value);
  }
  let hits = table.r.filter((rule) => rule[0].every((test, i) => test(given[i], s) === true));
  const lists = ["COLLECT", "RULE ORDER", "OUTPUT ORDER"].includes(table.h);
  const row = (values) => (table.o.length === 1 ? values[0] : new Map(values.map((v, i) => [table.o[i][0], v])));
  if (hits.length === 0) {
    const stated = table.o.filter((column) => column[3] !== null);
    if (stated.length > 0 && table.x === "camunda8") {
      const values = stated.map((column) => [column[0], coerce(column[3](s), column[1])]);
      return values.length === 1 ? values[0][1] : new Map(values);
    }
    if (stated.length > 0) {
      const found = row(table.o.map((column) => (column[3] === null ? null : coerce(column[3](s), column[1]))));
      return lists && table.a === null ? [found] : found;
    }
    return table.a === "COUNT" && [undefined, "camunda7"].includes(table.x) ? int(0) : null;
  }
  if (table.h === "UNIQUE" && hits.length > 1) return clash(table);
  if (table.h === "FIRST") hits = hits.slice(0, 1);
  const rows = hits.map((rule) => rule[1].map((entry, i) => coerce(entry(s), table.o[i][1])));
  if (table.h === "PRIORITY" || table.h === "OUTPUT ORDER") {
    const orders = table.o.map((column) => column[2](s));
    const rank = (v, i) => {
      const at = orders[i].findIndex((one) => equal(v, one) === true);
      return at < 0 ? orders[i].length : at;
    };
    rows.sort((a, b) => {
      for (let i = 0; i < a.length; i += 1) {
        const d = rank(a[i], i) - rank(b[i], i);
        if (d !== 0) return d;
      }
      return 0;
    });
  }
  const results = rows.map(row);
  if (lists) return table.g === null ? results : table.g(results);
  if (table.h === "ANY" && results.some((one) => equal(results[0], one) !== true)) return clash(table);
  return results[0];
};

const input = (v) => {
  if (v === null || v === undefined) return null;
  if (typeof v === "number") return Number.isFinite(v) ? num(String(v)) : null;
  if (typeof v === "bigint") return dec(v, 0);
  if (Array.isArray(v)) return v.map(input);
  if (typeof v === "object") return new Map(Object.entries(v).map((entry) => [entry[0], input(entry[1])]));
  return typeof v === "string" || typeof v === "boolean" ? v : null;
};

const typed = (v, type) => {
  const base = type[0] === "allowed" ? type[1] : type;
  if (type[0] === "allowed") return typed(v, base);
  if (typeof v === "string") {
    const parse = new Map([["date", parseDate], ["time", parseTime], ["date and time", parseMoment],
      ["days and time duration", parseDuration], ["years and months duration", parseDuration]]).get(base);
    return parse === undefined ? v : parse(v);
  }
  if (base[0] === "list" && Array.isArray(v)) return v.map((one) => typed(one, base[1]));
  if (base[0] === "context" && v instanceof Map) {
    const types = new Map(base[1]);
    return new Map(Array.from(v).map((entry) => [entry[0], types.has(entry[0]) ? typed(entry[1], types.get(entry[0])) : entry[1]]));
  }
  return v;
};

const textTemporal = (v) => {
  const of = kind(v);
  if (of === "date") return dateText(v);
  if (of === "time") return timeText(v);
  return of === "date and time" ? dateText(v.d) + "T" + timeText(v.t) : durationText(v);
};

const show = (v) => {
  const of = kind(v);
  if (v === null) return "null";
  if (of === "boolean") return String(v);
  if (of === "number") return plain(v);
  if (of === "string") return '"' + v.split("\\").join("\\\\").split('"').join('\\"') + '"';
  if (of === "list") return "[" + v.map(show).join(", ") + "]";
  if (of === "context") return "{" + Array.from(v).map((entry) => entry[0] + ": " + show(entry[1])).join(", ") + "}";
  if (of === "range") return (v.ai ? "[" : "(") + (v.a === null ? "" : show(v.a)) + ".." + (v.b === null ? "" : show(v.b)) + (v.bi ? "]" : ")");
  if (of === "function") throw new Error("FEEL: a function as text");
  return textTemporal(v);
};

const outputText = (v) => show(v);

const output = (v) => {
  const of = kind(v);
  if (v === null || of === "boolean" || of === "string") return v;
  if (of === "number") {
    const n = Number(v.c.toString() + "e" + v.e);
    if (!Number.isFinite(n)) throw new Error("FEEL: a number that JSON does not have");
    return n;
  }
  if (of === "list") return v.map(output);
  if (of === "context") return Object.fromEntries(Array.from(v).map((entry) => [entry[0], output(entry[1])]));
  if (of === "function") throw new Error("FEEL: a function as JSON");
  return outputText(v);
};

const wordChars = (c, s) => c !== undefined && s.includes(c);

const pattern = (source, flags) => {
  const bad = { bad: true }, meta = "\\|.^?*+{}()[]$/", classes = new Map([["d", "0-9"], ["w", "A-Za-z0-9_"], ["s", " \\t\\n\\r"]]);
  const text = points(flags.includes("x") ? source.replace(/[ \t\n\r]|(\\[^]|\[(?:\\[^]|[^\]\\])*\])/g, (_, kept = "") => kept) : source);
  let i = 0, depth = 0;
  const refuse = (what) => {
    throw new Error("FEEL: " + what + " in a regular expression");
  };
  const fail = () => {
    throw bad;
  };
  const next = () => {
    if (i >= text.length) fail();
    i += 1;
    return text[i - 1];
  };
  const literal = (c) => (meta.includes(c) ? "\\" + c : c);
  const inClass = (c) => (c === "-" ? "\\-" : literal(c));
  const unknown = (c) => (/[pPiIcC0-9]/.test(c) ? refuse("`\\" + c + "`") : fail());
  const plainEscape = (c) => (c === "n" || c === "r" || c === "t" ? "\\" + c : null);
  const escape = () => {
    const c = next();
    if (plainEscape(c) !== null) return plainEscape(c);
    if (classes.has(c)) return "[" + classes.get(c) + "]";
    if (classes.has(c.toLowerCase())) return "[^" + classes.get(c.toLowerCase()) + "]";
    return meta.includes(c) || c === "-" ? literal(c) : unknown(c);
  };
  const classSign = (c) => {
    if (c !== "\\") return inClass(c);
    const d = next();
    if (plainEscape(d) !== null) return plainEscape(d);
    if (classes.has(d)) return classes.get(d);
    if (classes.has(d.toLowerCase())) refuse("`\\" + d + "`");
    return meta.includes(d) || d === "-" ? inClass(d) : unknown(d);
  };
  const code = (c) => (c === "\\n" ? 10 : c === "\\r" ? 13 : c === "\\t" ? 9 : points(c).pop().codePointAt(0));
  const wide = (c) => points(c).length > 2;
  const charClass = () => {
    const negated = text[i] === "^";
    if (negated) i += 1;
    const parts = [];
    for (let c = next(); c !== "]" || parts.length === 0; c = next()) {
      if (c === "[" || (c === "-" && parts.length > 0 && text[i] === "[")) refuse("a class within a class");
      if (c === "]") fail();
      const low = classSign(c);
      if (text[i] !== "-" || i + 1 >= text.length || text[i + 1] === "]" || text[i + 1] === "[") {
        parts.push(low);
      } else {
        i += 1;
        const high = classSign(next());
        if (wide(low) || wide(high) || code(low) > code(high)) fail();
        parts.push(low + "-" + high);
      }
    }
    return "[" + (negated ? "^" : "") + parts.join("") + "]";
  };
  const alternatives = () => {
    const parts = [];
    while (i < text.length && text[i] !== ")") {
      const c = next();
      if (c === "|") {
        parts.push("|");
        continue;
      }
      let atom = "";
      if (c === ".") atom = flags.includes("s") ? "[\\s\\S]" : "[^\\n\\r]";
      else if (c === "^") atom = flags.includes("m") ? "(?:^|(?<=\\n))" : "^";
      else if (c === "$") atom = flags.includes("m") ? "(?=\\n|(?![\\s\\S]))" : "(?![\\s\\S])";
      else if (c === "[") atom = charClass();
      else if (c === "\\") atom = escape();
      else if (c === "(") {
        const quiet = text[i] === "?" && text[i + 1] === ":";
        if (quiet) i += 2;
        depth += 1;
        if (depth > 50) fail();
        const inner = alternatives();
        depth -= 1;
        if (i >= text.length) fail();
        i += 1;
        atom = (quiet ? "(?:" : "(") + inner + ")";
      } else if (wordChars(c, "?*+{}]")) fail();
      else atom = literal(c);
      const m = /^(?:[?*+]|\{\d+(?:,\d*)?\})\??/.exec(text.slice(i, i + 40).join(""));
      if (m !== null) {
        if (c === "^" || c === "$") fail();
        i += m[0].length;
        atom += m[0];
      }
      parts.push(atom);
    }
    return parts.join("");
  };
  if (!/^[smix]*$/.test(flags)) return null;
  try {
    const written = alternatives();
    if (i < text.length) return null;
    return new RegExp(written, "gu" + (flags.includes("i") ? "i" : ""));
  } catch (error) {
    if (error === bad || error instanceof SyntaxError) return null;
    throw error;
  }
};

const matchesEmpty = (found) => Array.from("".matchAll(found)).length > 0;

const total = (list, op) => {
  let result = list[0];
  for (let i = 1; i < list.length && result !== null; i += 1) result = calc(op, result, list[i]);
  return result;
};

const numbers = (list) => (list.length > 0 && list.every((v) => kind(v) === "number") ? list : null);

const sorted = (list) => list.slice().sort(cmpNum);

const place = (list, position, beyond) => {
  const n = trunc(position), length = BigInt(list.length);
  if (n === ZERO || n < -length || n > length + BigInt(beyond)) return null;
  return n > ZERO ? Number(n) - 1 : list.length + Number(n);
};

const extreme = (list, op) => {
  if (list.length === 0) return null;
  let best = list[0];
  for (const one of list) {
    const found = cmp(op, one, best);
    if (found === null) return null;
    if (found) best = one;
  }
  return best;
};

const f_not_ = (v) => not(v);

const f_date_from = (v) => (typeof v === "string" ? parseDate(v) : v.k === "date" ? v : v.d);

const small = (n) => {
  const found = whole(n);
  return found === null || size(found) > 12 ? null : Number(found);
};

const f_date_of = (y, m, d) => {
  const parts = [y, m, d].map(small);
  return parts.includes(null) ? null : dateOf(parts[0], parts[1], parts[2]);
};

const f_date_time_from = (v) => (typeof v === "string" ? parseMoment(v) : v.k === "date" ? momentOf(v, timeOf(0, 0)) : v);

const f_date_time_at = (d, t) => momentOf(d.k === "date" ? d : d.d, t);

const f_date_time_in = (v, name) => {
  const from = instant(v), z = /^[A-Za-z0-9_+\/-]+$/.test(name) ? zone(name) : null;
  if (from.local || z === null) return null;
  const utc = addDays(momentOf({ k: "date", y: 1970, m: 1, d: 1 }, timeOf(0, 0)), from.n);
  if (utc === null) return null;
  let shown = momentOf(utc.d, timeOf(utc.t.n, name));
  for (let i = 0; i < 3; i += 1) {
    const moved = addDays(utc, BigInt(offsetAt(shown.d, shown.t)) * BigInt(NANOS));
    if (moved === null) return null;
    const found = momentOf(moved.d, timeOf(moved.t.n, name));
    if (dayNumber(found.d) === dayNumber(shown.d) && found.t.n === shown.t.n) break;
    shown = found;
  }
  return shown;
};

const f_time_of = (h, m, s, offset) => {
  const hours = small(h), minutes = small(m), nanos = mulNum(s, int(NANOS));
  const n = nanos === null || size(nanos.c) + nanos.e > 15 ? null : Number(trunc(nanos));
  if (hours === null || minutes === null || n === null) return null;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || n < 0 || n >= 60 * NANOS) return null;
  let z = null;
  if (offset !== null && offset !== undefined) {
    if (kind(offset) !== "days and time duration" || offset.n % BigInt(NANOS) !== ZERO) return null;
    z = Number(offset.n / BigInt(NANOS));
    if (Math.abs(z) > 50400) return null;
  }
  return timeOf((hours * 60 + minutes) * 60 * NANOS + n, z);
};

const f_date_time_of = (y, mo, d, h, mi, s) => f_date_time_offset(y, mo, d, h, mi, s, null);

const f_date_time_offset = (y, mo, d, h, mi, s, offset) => {
  const date = f_date_of(y, mo, d), time = f_time_of(h, mi, s, offset);
  return date === null || time === null ? null : momentOf(date, time);
};

const f_date_time_zone = (y, mo, d, h, mi, s, name) => {
  const date = f_date_of(y, mo, d), time = f_time_of(h, mi, s, null);
  return date === null || time === null || zone(name) === null ? null : momentOf(date, timeOf(time.n, name));
};

const f_time_from = (v) => (typeof v === "string" ? parseTime(v) : v.k === "date" ? timeOf(0, 0) : v.k === "time" ? v : v.t);

const f_number_from = (v, grouping, point) => {
  if (kind(v) === "number") return grouping === null && point === null ? v : null;
  if (![null, " ", ",", "."].includes(grouping) || ![null, ",", "."].includes(point)) return null;
  if (grouping !== null && grouping === point) return null;
  let text = grouping === null ? v : v.split(grouping).join("");
  if (point !== null && point !== ".") {
    if (text.includes(".")) return null;
    text = text.split(point).join(".");
  }
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? num(text) : null;
};

const f_string_from = (v) => (v === null || typeof v === "string" ? v : show(v));

const f_duration_from = (v) => (typeof v === "string" ? parseDuration(v) : v);

const f_months_between = (from, to) => {
  const a = from.k === "date" ? from : from.d, b = to.k === "date" ? to : to.d;
  const n = (b.y - a.y) * 12 + b.m - a.m;
  return months(n > 0 && b.d < a.d ? n - 1 : n < 0 && b.d > a.d ? n + 1 : n);
};

const f_substring = (text, position, length) => {
  const chars = points(text), n = trunc(position), count = length === null ? null : trunc(length);
  if (n === ZERO || (n < ZERO ? -n : n) > BigInt(chars.length) || (count !== null && count < ONE)) return null;
  const first = n > ZERO ? Number(n) - 1 : chars.length + Number(n);
  return chars.slice(first, count === null ? chars.length : first + Number(count)).join("");
};

const f_string_length = (text) => int(points(text).length);

const f_upper_case = (text) => text.toUpperCase();

const f_lower_case = (text) => text.toLowerCase();

const f_substring_before = (text, match) => (match !== "" && text.includes(match) ? text.slice(0, text.indexOf(match)) : "");

const f_substring_after = (text, match) => (match === "" ? text : text.includes(match) ? text.slice(text.indexOf(match) + match.length) : "");

const f_contains = (text, match) => text.includes(match);

const f_starts_with = (text, match) => text.startsWith(match);

const f_ends_with = (text, match) => text.endsWith(match);

const f_matches = (text, source, flags) => {
  const found = pattern(source, flags === null ? "" : flags);
  return found === null ? null : found.test(text);
};

const f_replace = (text, source, replacement, flags) => {
  const found = pattern(source, flags === null ? "" : flags);
  if (found === null || matchesEmpty(found)) return null;
  const groups = new RegExp(found.source + "|", "u").exec("").length - 1, chars = points(replacement), parts = [];
  const digit = (c) => c !== undefined && c >= "0" && c <= "9";
  for (let i = 0; i < chars.length; i += 1) {
    if (chars[i] === "\\") {
      if (chars[i + 1] !== "\\" && chars[i + 1] !== "$") return null;
      i += 1;
      parts.push(chars[i]);
    } else if (chars[i] === "$") {
      if (!digit(chars[i + 1])) return null;
      i += 1;
      let n = Number(chars[i]);
      while (digit(chars[i + 1]) && n * 10 + Number(chars[i + 1]) <= groups) {
        i += 1;
        n = n * 10 + Number(chars[i]);
      }
      parts.push(n <= groups ? n : "");
    } else parts.push(chars[i]);
  }
  return text.replace(found, (...match) => parts.map((p) => (typeof p === "string" ? p : match[p] === undefined ? "" : match[p])).join(""));
};

const f_split = (text, source) => {
  const found = pattern(source, "");
  if (found === null || matchesEmpty(found)) return null;
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(found)) {
    parts.push(text.slice(end, match.index));
    end = match.index + match[0].length;
  }
  return parts.concat([text.slice(end)]);
};

const f_string_join = (list, delimiter) => {
  if (list.some((one) => one !== null && typeof one !== "string")) return null;
  if (delimiter !== null && typeof delimiter !== "string") return null;
  return list.filter((one) => one !== null).join(delimiter === null ? "" : delimiter);
};

const f_list_contains = (list, v) => list.some((one) => equal(one, v) === true);

const f_list_replace = (list, position, v) => {
  const i = place(list, position, 0);
  return i === null ? null : list.slice(0, i).concat([v], list.slice(i + 1));
};

const f_list_replace_match = (list, match, v) => {
  const found = list.map((one) => call(match, [one, v], null));
  return found.every((one) => typeof one === "boolean") ? list.map((one, i) => (found[i] ? v : one)) : null;
};

const f_count = (list) => int(list.length);

const f_min_ = (list) => extreme(list, "<=");

const f_max_ = (list) => extreme(list, ">=");

const f_sum_ = (list) => {
  const kinds = new Set(list.map(kind));
  if (kinds.size !== 1 || !["number", "days and time duration", "years and months duration"].includes(kind(list[0]))) return null;
  return total(list, "+");
};

// Engines in Java add numbers with a fraction as doubles; Flowable in no certain order.
const sumInJava = (list, ordered) => {
  if (list.some((one) => kind(one) !== "number")) return null;
  if (list.every((one) => one.e >= 0)) return f_sum_(list);
  const doubles = list.map(output), up = Array.from(doubles).sort((a, b) => a - b);
  const orders = ordered ? [doubles] : [doubles, up, Array.from(up).reverse()];
  const sums = orders.map((order) => order.reduce((a, b) => a + b, 0));
  if (sums.some((one) => one !== sums[0])) {
    throw new Error("The sum of a decision table depends on the order of its rules.");
  }
  return input(sums[0]);
};

const f_mean = (list) => (numbers(list) === null ? null : calc("/", total(list, "+"), int(list.length)));

const f_product = (list) => (numbers(list) === null ? null : total(list, "*"));

const f_median = (list) => {
  if (numbers(list) === null) return null;
  const found = sorted(list), half = Math.floor(found.length / 2);
  return found.length % 2 === 1 ? found[half] : calc("/", addNum(found[half - 1], found[half]), int(2));
};

const f_stddev = (list) => {
  const average = f_mean(list);
  if (average === null || list.length < 2) return null;
  const squares = list.map((one) => {
    const d = calc("-", one, average);
    return calc("*", d, d);
  });
  const variance = calc("/", total(squares, "+"), int(list.length - 1));
  return variance === null ? null : sqrtNum(variance);
};

const f_mode = (list) => {
  if (list.length === 0) return [];
  if (numbers(list) === null) return null;
  const found = sorted(list), count = (v) => found.filter((one) => cmpNum(one, v) === 0).length;
  const most = Math.max(...found.map(count));
  return found.filter((v, i) => count(v) === most && (i === 0 || cmpNum(found[i - 1], v) !== 0));
};

const f_all_ = (list) => (list.includes(false) ? false : list.every((one) => one === true) ? true : null);

const f_any_ = (list) => (list.includes(true) ? true : list.every((one) => one === false) ? false : null);

const f_sublist = (list, position, length) => {
  const i = place(list, position, 0);
  if (i === null) return null;
  if (length === null) return list.slice(i);
  const n = trunc(length);
  return n >= ZERO && n <= BigInt(list.length - i) ? list.slice(i, i + Number(n)) : null;
};

const f_append = (list, items) => list.concat(items);

const f_concatenate = (lists) => (lists.includes(null) ? null : lists.reduce((all, one) => all.concat(Array.isArray(one) ? one : [one]), []));

const f_insert_before = (list, position, v) => {
  const i = place(list, position, 1);
  return i === null ? null : list.slice(0, i).concat([v], list.slice(i));
};

const f_remove = (list, position) => {
  const i = place(list, position, 0);
  return i === null ? null : list.slice(0, i).concat(list.slice(i + 1));
};

const f_reverse = (list) => list.slice().reverse();

const f_index_of = (list, v) => list.reduce((all, one, i) => (equal(one, v) === true ? all.concat([int(i + 1)]) : all), []);

const f_distinct_values = (list) => list.reduce((all, one) => (all.some((own) => equal(one, own) === true) ? all : all.concat([one])), []);

const f_union = (lists) => {
  const found = f_concatenate(lists);
  return found === null ? null : f_distinct_values(found);
};

const f_flatten = (list) => list.reduce((all, one) => all.concat(Array.isArray(one) ? f_flatten(one) : [one]), []);

const f_sort = (list, precedes) => {
  let unordered = false;
  const before = (a, b) => {
    const found = precedes === null ? cmp("<", a, b) : call(precedes, [a, b], null);
    unordered = unordered || typeof found !== "boolean";
    return found === true;
  };
  const merge = (all) => {
    if (all.length < 2) return all;
    const half = Math.floor(all.length / 2), a = merge(all.slice(0, half)), b = merge(all.slice(half)), result = [];
    let i = 0, j = 0;
    while (i < a.length && j < b.length) {
      if (before(b[j], a[i])) {
        result.push(b[j]);
        j += 1;
      } else {
        result.push(a[i]);
        i += 1;
      }
    }
    return result.concat(a.slice(i), b.slice(j));
  };
  const result = merge(list);
  return unordered ? null : result;
};

const f_decimal = (n, scale) => roundNum(n, scale, "half-even");

const f_floor = (n, scale) => roundNum(n, scale === null ? int(0) : scale, "floor");

const f_ceiling = (n, scale) => roundNum(n, scale === null ? int(0) : scale, "ceiling");

const f_round_up = (n, scale) => roundNum(n, scale, "up");

const f_round_down = (n, scale) => roundNum(n, scale, "down");

const f_round_half_up = (n, scale) => roundNum(n, scale, "half-up");

const f_round_half_down = (n, scale) => roundNum(n, scale, "half-down");

const absTemporal = (v) => (v.k === "days and time duration" ? days(v.n < ZERO ? -v.n : v.n) : months(Math.abs(v.m)));

const f_abs_ = (v) => (v.k === "number" ? (v.c < ZERO ? negNum(v) : v) : absTemporal(v));

const f_modulo = (a, b) => {
  if (b.c === ZERO) return null;
  const e = Math.min(a.e, b.e), by = b.c * ten(b.e - e), r = (a.c * ten(a.e - e)) % by;
  return dec(r !== ZERO && (r < ZERO) !== (by < ZERO) ? r + by : r, e);
};

const f_sqrt = (n) => sqrtNum(n);

const f_log = (n) => (n.c > ZERO ? dec(lnFixed(n), 0 - DIGITS) : null);

const f_exp = (n) => (size(n.c) + n.e > 8 ? (n.c < ZERO ? dec(ZERO, 0) : null) : expFixed(fixed(n)));

const f_odd = (n) => (n.e < 0 ? null : n.e === 0 && n.c % TWO !== ZERO);

const f_even = (n) => (n.e < 0 ? null : n.e > 0 || n.c % TWO === ZERO);

const same = (a, b) => {
  const of = kind(a);
  if (of !== kind(b)) return false;
  if (of === "list") return a.length === b.length && a.every((v, i) => same(v, b[i]));
  if (of === "context") return a.size === b.size && Array.from(a.keys()).every((key) => b.has(key) && same(a.get(key), b.get(key)));
  if (a === null || of === "function" || of === "boolean" || of === "string") return a === b;
  return show(a) === show(b);
};

const f_is_ = (a, b) => same(a, b);

const dayOf = (v) => (v.k === "date" ? v : v.d);

const f_day_of_year = (v) => int(dayOfYear(dayOf(v)));

const f_day_of_week = (v) => ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][weekday(dayOf(v)) - 1];

const f_month_of_year = (v) => ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"][dayOf(v).m - 1];

const f_week_of_year = (v) => {
  const d = dayOf(v), thursday = dayNumber(d) + 4 - weekday(d);
  const found = fromDay(thursday);
  return int(Math.floor((dayOfYear(found) - 1) / 7) + 1);
};

const f_get_value = (m, key) => (m.has(key) ? m.get(key) : null);

const f_get_value_at = (m, keys) => {
  let found = keys.length === 0 ? null : m;
  for (const key of keys) {
    if (!(found instanceof Map) || typeof key !== "string") return null;
    found = found.has(key) ? found.get(key) : null;
  }
  return found;
};

const f_get_entries = (m) => Array.from(m).map((entry) => new Map([["key", entry[0]], ["value", entry[1]]]));

const f_context_of = (entries) => {
  const result = new Map();
  for (const entry of entries) {
    if (!(entry instanceof Map) || !entry.has("value")) return null;
    const key = entry.has("key") ? entry.get("key") : null;
    if (typeof key !== "string" || result.has(key)) return null;
    result.set(key, entry.get("value"));
  }
  return result;
};

const f_context_put = (m, key, v) => new Map(m).set(key, v);

const f_context_put_at = (m, keys, v) => {
  if (keys.length === 0 || !keys.every((key) => typeof key === "string")) return null;
  if (keys.length === 1) return f_context_put(m, keys[0], v);
  const inner = m.get(keys[0]);
  if (!(inner instanceof Map)) return null;
  const changed = f_context_put_at(inner, keys.slice(1), v);
  return changed === null ? null : f_context_put(m, keys[0], changed);
};

const f_context_merge = (list) => {
  const result = new Map();
  for (const one of list) {
    if (!(one instanceof Map)) return null;
    for (const entry of one) result.set(entry[0], entry[1]);
  }
  return result;
};

const utcNow = () => addDays(momentOf({ k: "date", y: 1970, m: 1, d: 1 }, timeOf(0, 0)), BigInt(Date.now()) * BigInt(1000000));

const f_now = () => utcNow();

const f_today = () => utcNow().d;

const endOf = (text) => {
  if (/^-?(?:\d+(?:\.\d+)?|\.\d+)$/.test(text)) return num(text);
  const m = /^(@|date|time|date and time|duration|)(\(?)"([^"\\\n]*)"(\)?)$/.exec(text);
  if (m === null || (m[2] === "(") !== (m[4] === ")") || (m[2] === "(") !== (m[1] !== "" && m[1] !== "@")) return null;
  if (m[1] === "") return m[3];
  return new Map([["@", atLiteral], ["date", parseDate], ["time", parseTime], ["date and time", parseMoment], ["duration", parseDuration]]).get(m[1])(m[3]);
};

const f_range_from = (text) => {
  const m = /^\s*([\[(\]])([\s\S]*?)\.\.([\s\S]*)([\])\[])\s*$/.exec(text);
  if (m === null) return null;
  const low = m[2].trim(), high = m[3].trim(), ai = m[1] === "[", bi = m[4] === "]";
  const a = low === "" ? null : endOf(low), b = high === "" ? null : endOf(high);
  if ((low !== "" && a === null) || (high !== "" && b === null) || (a === null && b === null)) return null;
  if ((a === null && ai) || (b === null && bi)) return null;
  if (a !== null && b !== null && cmp("<=", a, b) !== true) return null;
  return range(a, b, ai, bi, a === null ? 1 : b === null ? 2 : 0);
};

const f_before_points = (a, b) => cmp("<", a, b);

const f_before_point_range = (p, r) => (r.a === null ? null : cmp(r.ai ? "<" : "<=", p, r.a));

const f_before_range_point = (r, p) => (r.b === null ? null : cmp(r.bi ? "<" : "<=", r.b, p));

const f_before = (a, b) => (a.b === null || b.a === null ? null : cmp(a.bi && b.ai ? "<" : "<=", a.b, b.a));

const f_after_points = (a, b) => cmp(">", a, b);

const f_after_point_range = (p, r) => f_before_range_point(r, p);

const f_after_range_point = (r, p) => f_before_point_range(p, r);

const f_after = (a, b) => f_before(b, a);

const f_meets = (a, b) => (a.b === null || b.a === null ? null : both(a.bi && b.ai, cmp("=", a.b, b.a)));

const f_met_by = (a, b) => f_meets(b, a);

const open = (a, b) => a.a === null || a.b === null || b.a === null || b.b === null;

const reaches = (low, high) => cmp(low.ai && high.bi ? "<=" : "<", low.a, high.b);

const beginsBefore = (a, b, together) => either(cmp("<", a.a, b.a), both(cmp("=", a.a, b.a), together ? a.ai || !b.ai : a.ai && !b.ai));

const endsBefore = (a, b) => either(cmp("<", a.b, b.b), both(cmp("=", a.b, b.b), !a.bi || b.bi));

const f_overlaps = (a, b) => (open(a, b) ? null : both(reaches(a, b), reaches(b, a)));

const f_overlaps_before = (a, b) => (open(a, b) ? null : both(both(beginsBefore(a, b, false), reaches(b, a)), endsBefore(a, b)));

const f_overlaps_after = (a, b) => f_overlaps_before(b, a);

const f_finishes_point = (p, r) => (r.b === null ? null : both(r.bi, cmp("=", r.b, p)));

const f_finishes = (a, b) => (open(a, b) ? null : both(both(a.bi === b.bi, cmp("=", a.b, b.b)), beginsBefore(b, a, true)));

const f_finished_by_point = (r, p) => f_finishes_point(p, r);

const f_finished_by = (a, b) => f_finishes(b, a);

const f_includes_point = (r, p) => holds(r, p);

const f_includes = (a, b) => (open(a, b) ? null : both(beginsBefore(a, b, true), endsBefore(b, a)));

const f_during_point = (p, r) => holds(r, p);

const f_during = (a, b) => f_includes(b, a);

const f_starts_point = (p, r) => (r.a === null ? null : both(r.ai, cmp("=", r.a, p)));

const f_starts = (a, b) => (open(a, b) ? null : both(both(a.ai === b.ai, cmp("=", a.a, b.a)), endsBefore(a, b)));

const f_started_by_point = (r, p) => f_starts_point(p, r);

const f_started_by = (a, b) => f_starts(b, a);

const f_coincides_points = (a, b) => cmp("=", a, b);

const f_coincides = (a, b) => (open(a, b) ? null : both(both(a.ai === b.ai && a.bi === b.bi, cmp("=", a.a, b.a)), cmp("=", a.b, b.b)));
