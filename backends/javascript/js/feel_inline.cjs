// Functions that inline code of FEEL calls: code defines those that it needs, in this order.

// A number as a whole number of units (`ops.cjs`).
const exact = exactUnits;

// The double of a number in units of a product of several factors.
const decimal = (n, factors = 1) => { const v = Number(n + "e-" + 400 * factors);
  if (!Number.isFinite(v)) throw new Error("FEEL: a number that JSON does not have"); return v; };

// A quotient of exact numbers, rounded to 34 digits, half to even. (Its lines are kept.)
const quotient = (a, b) => {
  const top = a * 10n ** 450n, near = top / b, more = String(near).replace("-", "").length - 34;
  if (near !== 0n && more < 50) throw new Error("FEEL: a number that JSON does not have");
  const unit = 10n ** BigInt(Math.max(more, 0)), rest = near % unit;
  const sign = (a < 0n) === (b < 0n) ? 1n : -1n, beyond = rest * sign * 2n - unit;
  const up = beyond > 0n || (beyond === 0n && (near / unit % 2n !== 0n || top % b !== 0n));
  return (near - rest + (up ? sign * unit : 0n)) / 10n ** 50n;
};

// An entry of a context, or of each context in a list.
const part = (v, name) => Array.isArray(v) ? v.map((one) => part(one, name)) : Object(v) === v
  ? v[name] ?? null : null;

// The digits of a number without an exponent.
const plain = (n) => { const [digits, power = 0] = String(Math.abs(n)).split("e"), [before, after
  = ""] = digits.split("."); return (n < 0 ? "-" : "") + (power > 0
  ? before + after + "0".repeat(power - after.length) : power < 0
  ? "0." + "0".repeat(-power - 1) + before + after : digits); };

// The text of a value inside of another one.
const show = (v) => typeof v === "string" ? "\x22" + v.replace(/[\x22\\]/g, "\\$&") + "\x22"
  : typeof v === "number" ? plain(v) : Array.isArray(v) ? "[" + v.map(show).join(", ") + "]"
  : Object(v) === v ? "{" + Object.entries(v).map(([k, one]) => k + ": " + show(one)).join(", ") +
  "}" : String(v ?? null);

// The element of a list of one, which FEEL accepts in its place.
const single = (v) => Array.isArray(v) && v.length === 1 ? single(v[0]) : v;

// The sum of texts or of numbers.
const add = (...all) => all.every((v) => typeof v === "string") ? all.join("")
  : all.every((v) => typeof v === "number") ? decimal(all.map(exact).reduce((a, b) => a + b))
  : null;

// A value in the order of code points (`ops.cjs`).
const order = codePointOrder;

// Whether two values are equal.
const same = (a, b) => Object(a) !== a || Object(b) !== b ? (a ?? null) === (b ?? null)
  : Array.isArray(a) === Array.isArray(b) && Object.keys(a).length === Object.keys(b).length
  && Object.keys(a).every((k) => k in b && same(a[k], b[k]));

// Whether a value equals a test value or one of its elements.
const fits = (a, of) => same(a, of) || (Array.isArray(of) && of.some((one) => same(a, one)));

// Whether two values differ: they are of one type, or one of them is null.
const differ = (a, b) => (a == null || b == null || (typeof a === typeof b
  && Array.isArray(a) === Array.isArray(b))) && !same(a, b);

// The day of a text, counted from 1970-01-01; NaN for another value. (Its lines are kept.)
const date = (text) => {
  const written = /^(-?(?:[1-9]\d{4,8}|\d{4}))-(\d\d)-(\d\d)$/;
  const [, y, m, d] = (typeof text === "string" && written.exec(text)) || [];
  const found = new Date(Date.UTC(2000 + y % 400, m - 1, d));
  const exists = found.getUTCMonth() === m - 1 && found.getUTCDate() === +d && y !== "-0000";
  return exists ? found / 864e5 + (Math.trunc(y / 400) - 5) * 146097 : NaN;
};

// The current day.
const today = () => Math.floor(Date.now() / 864e5);

// The date of JavaScript of a day in the first 400 years, after which the calendar repeats.
const utc = (day) => new Date(day % 146097 * 864e5);

// The year of a day.
const yearOf = (day) => utc(day).getUTCFullYear() + Math.trunc(day / 146097) * 400;

// A day that FEEL has; NaN for another one.
const dated = (day) => Math.abs(yearOf(day)) <= 999999999 ? day : NaN;

// A day, some months later. (Its lines are kept.)
const addMonths = (day, months) => {
  const of = utc(day), first = of.getUTCMonth() + months % 4800;
  const last = new Date(Date.UTC(of.getUTCFullYear(), first + 1, 0));
  const on = Math.min(of.getUTCDate(), last.getUTCDate()) - last.getUTCDate();
  const cycles = Math.trunc(day / 146097) + Math.trunc(months / 4800);
  return dated(last / 864e5 + on + cycles * 146097);
};

// Whole months from one day to another. (Its lines are kept.)
const monthsBetween = (from, to) => {
  const [a, b] = [from, to].map((day) => yearOf(day) * 12 + utc(day).getUTCMonth());
  const later = utc(to).getUTCDate() - utc(from).getUTCDate();
  return b > a && later < 0 ? b - a - 1 : b < a && later > 0 ? b - a + 1 : b - a;
};

// The number of a day in its year.
const dayOfYear = (day) => (utc(day) - Date.UTC(utc(day).getUTCFullYear(), 0, 1)) / 864e5 + 1;

// The name of the day of the week.
const dayOfWeek = (day) => ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
  "Saturday"][utc(day).getUTCDay()];

// The name of the month of a day.
const monthOfYear = (day) => ["January", "February", "March", "April", "May", "June", "July",
  "August", "September", "October", "November", "December"][utc(day).getUTCMonth()];

// The text of a day; null for NaN. (Its lines are kept.)
const dateText = (day) => {
  if (Number.isNaN(day)) return null;
  const of = yearOf(day), digits = String(Math.abs(of)).padStart(4, "0");
  return (of < 0 ? "-" : "") + digits + utc(day).toISOString().slice(4, 10);
};

// The offset or time zone in the text of a time; undefined if there is no such one. (Its lines are kept.)
const zoned = (text) => {
  if (text === undefined) return null;
  if (text === "Z") return 0;
  if (text.startsWith("@")) {
    try {
      new Intl.DateTimeFormat("en", { timeZone: text.slice(1) });
      return /^@[A-Za-z]/.test(text) ? text.slice(1) : undefined;
    } catch (error) {
      return undefined;
    }
  }
  const [h, m, s = 0] = text.slice(1).split(":").map(Number), offset = h * 3600 + m * 60 + s;
  if (m > 59 || s > 59 || offset > 50400) return undefined;
  return text.startsWith("-") ? 0 - offset : offset;
};

// A date and time in a text; null for another value. (Its lines are kept.)
const moment = (text) => {
  const written = /^([^T]*)(T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d(:\d\d)?|@[\w+\/-]+)?)?$/;
  const [, of, , h = 0, m = 0, s = 0, fraction = ".", offset] =
    (typeof text === "string" && written.exec(text)) || [];
  const ends = +h === 24 && +m + +s === 0 && !/[1-9]/.test(fraction) ? 1 : 0;
  const day = date(of) + ends, zone = zoned(offset);
  if (Number.isNaN(day) || h > 23 + ends || m > 59 || s > 59 || zone === undefined) return null;
  const seconds = (h % 24 * 60 + +m) * 60 + +s;
  return { day, nanos: seconds * 1e9 + +fraction.slice(1, 10).padEnd(9, "0"), zone };
};

// The current date and time. (Its lines are kept.)
const now = () => {
  const ms = Date.now();
  return { day: Math.floor(ms / 864e5), nanos: ms % 864e5 * 1e6, zone: 0 };
};

// The offset of a date and time in seconds. (Its lines are kept.)
const offsetOf = ({ day, nanos, zone }) => {
  if (typeof zone !== "string") return zone;
  const shown = (s) => new Date(s * 1000).toLocaleString("sv-SE", { timeZone: zone });
  const at = (s) => Date.parse(shown(s).replace(" ", "T") + "Z") / 1000 - s;
  const year1800 = -62091, year2400 = 157054;
  const of = day < year2400 ? Math.max(day, year1800) : (day - year2400) % 146097 + year2400;
  const local = of * 86400 + (day < year1800 ? 0 : Math.floor(nanos / 1e9));
  const before = at(local - 86400), after = at(local + 86400);
  if (before === after || at(local - before) === before) return before;
  return at(local - after) === after ? after : before;
};

// The difference of two moments in nanoseconds; NaN if they have none. (Its lines are kept.)
const compare = (a, b) => {
  if (a === null || b === null || (a.zone === null) !== (b.zone === null)) return NaN;
  return (a.day - b.day) * 864e11 + (a.nanos - b.nanos) - (offsetOf(a) - offsetOf(b)) * 1e9;
};

// The time between two moments in nanoseconds; NaN if they have none. (Its lines are kept.)
const elapsed = (from, to) => {
  if (Number.isNaN(compare(from, to))) return NaN;
  const seconds = BigInt(to.day - from.day) * 86400n - BigInt(offsetOf(to) - offsetOf(from));
  return seconds * 10n ** 9n + BigInt(to.nanos - from.nanos);
};

// A part of a duration in nanoseconds.
const wholeUnits = (nanos, unit, limit) => typeof nanos === "bigint"
  ? Number(nanos / unit % limit) : NaN;

// A moment, some days and nanoseconds later. (Its lines are kept.)
const addTime = (at, days, nanos) => {
  if (at === null) return null;
  const sum = at.nanos + nanos, day = dated(at.day + days + Math.floor(sum / 864e11));
  return Number.isNaN(day) ? null : { ...at, day, nanos: sum % 864e11 };
};

// A moment, some months later. (Its lines are kept.)
const addMonthsTo = (at, months) => {
  const day = at === null ? NaN : addMonths(at.day, months);
  return Number.isNaN(day) ? null : { ...at, day };
};

// The text of a moment. (Its lines are kept.)
const momentText = (at) => {
  if (at === null) return null;
  const { day, nanos, zone } = at, two = (n) => String(Math.floor(n)).padStart(2, "0");
  const clock = [nanos / 36e11, nanos / 6e10 % 60, nanos / 1e9 % 60].map(two).join(":");
  const fraction = ("." + String(nanos % 1e9).padStart(9, "0")).replace(/\.?0+$/, "");
  const by = Math.abs(zone), seconds = by % 60 ? ":" + two(by % 60) : "";
  const offset = (zone < 0 ? "-" : "+") + two(by / 3600) + ":" + two(by / 60 % 60) + seconds;
  return dateText(day) + "T" + clock + fraction
    + (zone === null ? "" : zone === 0 ? "Z" : typeof zone === "string" ? "@" + zone : offset);
};

// The text of a duration of whole days.
const spanText = (days) => days === 0 ? "PT0S" : Number.isNaN(days) ? null : (days < 0 ? "-P"
  : "P") + Math.abs(days) + "D";

// A duration in a text; null for another value. (Its lines are kept.)
const duration = (text) => {
  const read = (written) => (typeof text === "string" && written.exec(text)) || [];
  const [long, back, years, months] = read(/^(-?)P(?=\d)(?:(\d+)Y)?(?:(\d+)M)?$/);
  const big = (digits = "0") => BigInt(digits);
  if (long !== undefined) {
    const all = big(years) * 12n + big(months);
    return all > 11999999988n ? null : { months: Number(back + all) };
  }
  const clock = /^(-?)P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d*)?S)?)?$/;
  const [short, sign, d, h, m, s, fraction = "."] = read(clock);
  const seconds = ((big(d) * 24n + big(h)) * 60n + big(m)) * 60n + big(s);
  const nanos = seconds * 10n ** 9n + big(fraction.slice(1, 10).padEnd(9, "0"));
  if (short === undefined || nanos > 2n ** 63n * 10n ** 9n) return null;
  return { nanos: sign === "-" ? -nanos : nanos };
};

// The text of a duration. (Its lines are kept.)
const durationText = (found) => {
  if (found === null) return null;
  if (found.months !== undefined) return monthsText(found.months);
  const all = found.nanos < 0n ? -found.nanos : found.nanos, days = all / 86400000000000n;
  const left = Number(all % 86400000000000n), s = Math.floor(left / 1e9);
  const fraction = ("." + String(left % 1e9).padStart(9, "0")).replace(/\.?0+$/, "");
  const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  const seconds = s % 60 || fraction ? s % 60 + fraction + "S" : "";
  const clock = (h ? h + "H" : "") + (m ? m + "M" : "") + seconds;
  return (found.nanos < 0n ? "-P" : "P")
    + ((days ? days + "D" : "") + (clock ? "T" + clock : "") || "T0S");
};

// The text of a duration in months. (Its lines are kept.)
const monthsText = (months) => {
  if (Number.isNaN(months)) return null;
  const all = Math.abs(months), years = all < 12 ? "" : Math.floor(all / 12) + "Y";
  return (months < 0 ? "-P" : "P") + (years + (all % 12 ? all % 12 + "M" : "") || "0M");
};
