/** Rows in columns, for terminals. */
export function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i].length)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i])).join("  ").trimEnd());
}

/** A price of one token as dollars for a million, as price lists have them; `?` where nobody knows it. */
export function perMillion(price: string | null | undefined): string {
  if (price === null || price === undefined) return "?";
  const [whole, fraction = ""] = price.split(".");
  const digits = whole + fraction.padEnd(6, "0").slice(0, 6);
  const rest = fraction.slice(6).replace(/0+$/, "");
  return digits.replace(/^0+(?=\d)/, "") + (rest === "" ? "" : `.${rest}`);
}
