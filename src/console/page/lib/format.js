/** Numbers, money and times as the console shows them. Absent values are a dash. */

const NOTHING = "–";
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** @param {string | null | undefined} name */
export const named = (name) => name || NOTHING;
/** @param {number | null | undefined} n */
export const count = (n) => n === null || n === undefined ? NOTHING : whole.format(n);
/**
 * A number with its noun: 1 key, 2 keys.
 * @param {number | null | undefined} n
 * @param {string} one
 * @param {string} [many] where it is not the noun with an s
 */
export const countOf = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
/**
 * At most four digits and a letter: 12.4K.
 * @param {number | null | undefined} n
 */
export const compact = (n) => n === null || n === undefined ? NOTHING : short.format(n);
/**
 * A share of one.
 * @param {number | null | undefined} share
 */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return NOTHING;
  const value = share * 100;
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}

/**
 * An amount of the API, a decimal string, in dollars: two places, more for what is less than a cent.
 * @param {string | number | null | undefined} amount
 */
export function money(amount) {
  if (amount === null || amount === undefined || amount === "") return NOTHING;
  const value = Number(amount);
  if (value === 0) return "$0.00";
  const size = Math.abs(value);
  if (size >= 100_000) return `${value < 0 ? "−" : ""}$${short.format(size)}`;
  const places = size >= 0.1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(size)) - 1);
  return value < 0 ? `−$${size.toFixed(places)}` : `$${withCommas(value.toFixed(places))}`;
}

/** @param {string} text */
const withCommas = (text) => text.replace(/^\d+/, (digits) => whole.format(Number(digits)));

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Several in one unit, for a cell: 20 / 23 / 27 ms.
 * @param {readonly (number | null)[]} all
 */
export function durations(all) {
  const known = all.filter((ms) => ms !== null);
  if (known.length === 0) return NOTHING;
  const most = Math.max(...known);
  if (most >= 60_000) return all.map(duration).join(" / ");
  const said = all.map((ms) =>
    ms === null ? NOTHING : most < 1000 ? Math.round(ms) : (ms / 1000).toFixed(most < 10_000 ? 2 : 1)
  );
  return `${said.join(" / ")} ${most < 1000 ? "ms" : "s"}`;
}

/**
 * @param {string | number | null | undefined} time
 * @returns {string} in the reader's own time zone, to the second
 */
export function when(time) {
  if (time === null || time === undefined) return NOTHING;
  const date = new Date(time);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${day(time)} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * As {@link when}, shorter: the year only where it is another.
 * @param {string | number} time
 */
export function shortWhen(time) {
  const date = new Date(time);
  const year = date.getFullYear() === new Date().getFullYear() ? "" : ` ${date.getFullYear()}`;
  return `${String(date.getDate()).padStart(2, "0")} ${MONTHS[date.getMonth()]}${year} ${clock(time)}`;
}

/** @param {string | number} time */
export function clock(time) {
  return new Date(time).toLocaleTimeString("en-GB", { hour12: false });
}

/** @param {string | number | null | undefined} time */
export function day(time) {
  if (time === null || time === undefined) return NOTHING;
  const date = new Date(time);
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The first day, of UTC, that a new key or token may end on: it is good before that day. */
export const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

/**
 * How long ago, or in how long.
 * @param {string | number | null | undefined} time
 * @param {number} [now]
 */
export function ago(time, now = Date.now()) {
  if (time === null || time === undefined) return NOTHING;
  const seconds = Math.round((now - new Date(time).getTime()) / 1000);
  const size = Math.abs(seconds);
  // What is rounded up to a whole one of the next unit is told in that.
  const [n, unit] = size < 60
    ? [size, "s"]
    : size < 59.5 * 60
    ? [Math.round(size / 60), "min"]
    : size < 23.5 * 3600
    ? [Math.round(size / 3600), "h"]
    : [Math.round(size / 86_400), "d"];
  if (n === 0) return "now";
  return seconds > 0 ? `${n} ${unit} ago` : `in ${n} ${unit}`;
}
