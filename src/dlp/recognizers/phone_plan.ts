/**
 * Validates telephone numbers with country codes by the numbering plans of libphonenumber-js. The results
 * equal those of `isValid` and `isPossible` in that package, whose code consists of about a hundred modules
 * that would slow down the start.
 */
import written from "libphonenumber-js/min/metadata" with { type: "text" };

/** Indexes in the package's arrays. */
interface NumberingPlan {
  /** Pattern of the national number. */
  readonly 2: string;
  readonly 3: readonly number[];
  /** National dialling prefix. */
  readonly 5?: string | 0;
  /** The prefix as a pattern, if it is not a literal; and its replacement. */
  readonly 7?: string | 0;
  readonly 8?: string | 0;
  /** Leading digits that identify this one of the countries that share a code. */
  readonly 10?: string | 0;
  /** Pattern and lengths of each type of number; without lengths: those of the plan. */
  readonly 11?: readonly ([pattern: string, lengths?: readonly number[]] | 0)[] | 0;
}

interface Plans {
  readonly country_calling_codes: Readonly<Record<string, readonly string[]>>;
  readonly countries: Readonly<Record<string, NumberingPlan>>;
  /** Non-geographic codes. */
  readonly nonGeographic: Readonly<Record<string, NumberingPlan>>;
}

export type Grade = "assigned" | "possible" | "none";

const LONGEST_CODE = 3;
const SHORTEST_NATIONAL = 2;
const LONGEST_NATIONAL = 17;

let read: Plans | null = null;

/** Parsed on first use: JSON within a module. */
function plans(): Plans {
  return read ??= JSON.parse(written.slice(written.indexOf("{"), written.lastIndexOf("}") + 1));
}

/**
 * Whether a number is in an assigned range, of a possible length, or neither.
 *
 * @param digits country code and number, without `+`
 */
export function gradeOf(digits: string): Grade {
  const { countries, country_calling_codes: codes, nonGeographic } = plans();
  if (digits[0] === "0") return "none";
  for (let length = 1; length <= LONGEST_CODE; length++) {
    const code = digits.slice(0, length);
    const sharing = codes[code]?.map((country) => countries[country]) ?? [];
    const plan = sharing[0] ?? nonGeographic[code];
    if (plan) return gradeIn(plan, sharing, digits.slice(length));
  }
  return "none";
}

function gradeIn(main: NumberingPlan, sharing: readonly NumberingPlan[], dialled: string): Grade {
  const national = withoutPrefix(main, sharing, dialled);
  if (national.length < SHORTEST_NATIONAL || national.length > LONGEST_NATIONAL) return "none";
  const plan = planOf(sharing, national) ?? main;
  const isAssigned = plan[11] && plan[11].length > 0 ? isOfKind(plan, national) : matches(plan[2], national);
  return isAssigned ? "assigned" : plan[3].includes(national.length) ? "possible" : "none";
}

/** Removes the national dialling prefix, if the result is valid. */
function withoutPrefix(main: NumberingPlan, sharing: readonly NumberingPlan[], dialled: string): string {
  const prefix = main[7] || main[5];
  if (!prefix) return dialled;
  const pattern = compiled(`^(?:${prefix})`);
  const match = pattern.exec(dialled);
  if (!match) return dialled;
  const national = main[8] && match.length > 1 && match.at(-1)
    ? dialled.replace(pattern, main[8])
    : dialled.slice(match[0].length);
  if (national === dialled || matches(main[2], dialled) && !matches(main[2], national)) return dialled;
  const lengths = (planOf(sharing, national) ?? main)[3];
  const fits = lengths.includes(national.length) || national.length > lengths.at(-1)!;
  return fits ? national : dialled;
}

/** Of the countries that share a code, the plan that matches the number. */
function planOf(sharing: readonly NumberingPlan[], national: string): NumberingPlan | undefined {
  if (sharing.length <= 1) return sharing[0];
  return sharing.find((plan) =>
    plan[10] ? compiled(`^(?:${plan[10]})`).test(national) : isOfKind(plan, national)
  );
}

function isOfKind(plan: NumberingPlan, national: string): boolean {
  return matches(plan[2], national) &&
    (plan[11] || []).some((kind) =>
      kind && kind[0] !== "" && (kind[1] ?? plan[3]).includes(national.length) && matches(kind[0], national)
    );
}

function matches(pattern: string, national: string): boolean {
  return compiled(`^(?:${pattern})$`).test(national);
}

const patterns = new Map<string, RegExp>();

function compiled(source: string): RegExp {
  let pattern = patterns.get(source);
  if (!pattern) patterns.set(source, pattern = new RegExp(source));
  return pattern;
}
