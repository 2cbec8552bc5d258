/** Moments in fields, which have the reader's own time zone, and in addresses and questions, which have UTC. */

/**
 * @param {string} text of a field for a date, or for date and time; or a moment as an address has it
 * @returns {string} as the API takes it; empty: it is none
 */
export function momentOf(text) {
  // A date alone would be one of UTC.
  const time = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

/**
 * @param {string | number} moment
 * @returns {string} as a field for date and time has it; empty: it is none
 */
export function fieldOf(moment) {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return "";
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
