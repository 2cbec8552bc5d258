/** A row of the table of known models, and the exact prices in it. */

/** Prices as the sources have them, in dollars for a million tokens, under the names of the catalog. */
export type MillionPrices = Readonly<Record<string, number>>;

export interface RowTier {
  /** The tier counts for calls with more input tokens than this. */
  above?: number;
  /** The tier counts for calls that were served so. */
  service?: string;
  prices: MillionPrices;
}

export interface RowSheet {
  /** The day, in UTC, from which the prices are in force. Absent: they always were. */
  from?: string;
  /** Hours of the day, in UTC, within which they are in force, as `HH:MM-HH:MM`. */
  hours?: string;
  prices: MillionPrices;
  tiers?: readonly RowTier[];
}

export interface Row {
  id: string;
  /** A regular expression over other names that the same row is for. */
  match?: string;
  name?: string;
  context?: number;
  output?: number;
  /** Modalities; text alone where left out. */
  in?: readonly string[];
  out?: readonly string[];
  features?: readonly string[];
  efforts?: readonly string[];
  /** Parameters that the model refuses. */
  refuses?: readonly string[];
  /** It embeds, transcribes or draws, and answers no conversation. */
  other?: true;
  /** From which source the prices are; absent: none has any. */
  source?: "genai-prices" | "models.dev";
  sheets?: readonly RowSheet[];
}

export interface Table {
  sources: Readonly<Record<string, string>>;
  doors: Readonly<Record<string, readonly Row[]>>;
}

/** Dollars for a million tokens to those for one, exactly: `2.5` to `0.0000025`. */
export function perToken(million: number): string {
  const text = String(million);
  const [digits, exponent = "0"] = text.split("e");
  const [whole, fraction = ""] = digits.split(".");
  // The point moves by six places, and by what a very small number was written with.
  const places = fraction.length + 6 - Number(exponent);
  const padded = (whole + fraction).padStart(places + 1, "0");
  const moved = `${padded.slice(0, padded.length - places)}.${padded.slice(padded.length - places)}`;
  return moved.replace(/\.?0+$/, "").replace(/^0+(?=\d)/, "") || "0";
}
