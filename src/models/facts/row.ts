/** A row of the table of known models, and exact price conversion. */

/** Prices of the sources, in dollars per million tokens, under the names of the catalog. */
export type MillionPrices = Readonly<Record<string, number>>;

export interface RowTier {
  /** The tier applies to calls with more input tokens than this. */
  above?: number;
  /** The tier applies to calls with this service tier. */
  service?: string;
  prices: MillionPrices;
}

export interface RowSheet {
  /** The date in UTC from which the prices apply. Absent: always. */
  from?: string;
  /** Hours of the day in UTC in which they apply, as `HH:MM-HH:MM`. */
  hours?: string;
  prices: MillionPrices;
  tiers?: readonly RowTier[];
}

export interface Row {
  id: string;
  /** A regular expression for further names of the same model. */
  match?: string;
  name?: string;
  context?: number;
  output?: number;
  /** Input modalities; default: text. */
  in?: readonly string[];
  out?: readonly string[];
  features?: readonly string[];
  efforts?: readonly string[];
  /** Parameters that the model rejects. */
  refuses?: readonly string[];
  /** An embedding, transcription or image model, not a chat model. */
  other?: true;
  /** The source of the prices; absent: no prices. */
  source?: "genai-prices" | "models.dev";
  sheets?: readonly RowSheet[];
}

export interface Table {
  sources: Readonly<Record<string, string>>;
  presets: Readonly<Record<string, readonly Row[]>>;
}

/** Converts dollars per million tokens to dollars per token exactly: `2.5` to `0.0000025`. */
export function perToken(million: number): string {
  const text = String(million);
  const [digits, exponent = "0"] = text.split("e");
  const [whole, fraction = ""] = digits.split(".");
  // Moves the decimal point by six places, plus the exponent.
  const places = fraction.length + 6 - Number(exponent);
  const padded = (whole + fraction).padStart(places + 1, "0");
  const moved = `${padded.slice(0, padded.length - places)}.${padded.slice(padded.length - places)}`;
  return moved.replace(/\.?0+$/, "").replace(/^0+(?=\d)/, "") || "0";
}
