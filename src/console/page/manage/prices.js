/** Prices as price lists have them: for a million tokens. */

/** @param {string | null | undefined} price of one token; @returns {string} in dollars for a million, `?` where nobody knows it */
export function priceOf(price) {
  if (price === null || price === undefined) return "?";
  const value = Number(price) * 1e6;
  return value === 0 ? "0" : value.toLocaleString("en", { maximumFractionDigits: value < 1 ? 4 : 2 });
}
