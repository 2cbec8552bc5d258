/** Ids of generations. */

/** Begins with the time, so that the ledger's index grows at its end: anywhere else each row would touch a page of its own. */
export function generationId(now: number): string {
  const random = crypto.randomUUID();
  return `gen_${now.toString(16).padStart(12, "0")}${random.slice(0, 8)}${random.slice(24)}`;
}
