/** SSE event ids: the generation's id and the number of the event, from 0: `gen_…:17` */

const LARGEST = 9_007_199_254_740_991;

/** Adds ids to events. Comments, which are not events, are omitted. */
export function withIds(
  text: string,
  { id, first }: { id: string; first: number },
): { text: string; events: number } {
  let out = "";
  let events = 0;
  for (let at = 0; at < text.length;) {
    const end = eventEnd(text, at);
    if (text[at] !== ":") out += `id: ${id}:${first + events++}\n${text.slice(at, end)}`;
    at = end;
  }
  return { text: out, events };
}

/**
 * Removes the ids, for a caller who did not request a resumable stream.
 *
 * @param id id of the stream
 */
export function withoutIds(text: string, id: string): string {
  return text.replaceAll(new RegExp(`^id: ${id}:\\d+\n`, "gm"), "");
}

/** The text after the first events. */
export function behind(text: string, events: number): string {
  let at = 0;
  for (let left = events; left > 0 && at < text.length;) {
    if (text[at] !== ":") left--;
    at = eventEnd(text, at);
  }
  return text.slice(at);
}

/** The first events of a text. */
export function upTo(text: string, events: number): string {
  return text.slice(0, text.length - behind(text, events).length);
}

/** The number of events in a text; comments do not count. */
export function eventsIn(text: string): number {
  let events = 0;
  for (let at = 0; at < text.length; at = eventEnd(text, at)) if (text[at] !== ":") events++;
  return events;
}

function eventEnd(text: string, from: number): number {
  const end = text.indexOf("\n\n", from);
  return end < 0 ? text.length : end + 2;
}

/** The number in an event id, or of a plain number; null: not an event of this generation. */
export function eventNumber(text: string, generation: string): number | null {
  const [, named, digits] = /^(?:(gen_\w+):)?(\d{1,16})$/.exec(text) ?? [];
  if (digits === undefined || (named !== undefined && named !== generation)) return null;
  const number = Number(digits);
  return number < LARGEST ? number : null;
}
