/** Limits the number of cache points in a request. */
import { array, type Loose, object } from "../../exchange/json.ts";

/** The limit of Claude and Nova. */
const MOST = 4;

/**
 * The first points cover what many requests share, the last ones what the next request shares; those in the
 * middle are removed.
 */
export function thinMarks(body: Loose): void {
  const lists = [
    array(object(body.toolConfig).tools),
    array(body.system),
    ...array(body.messages).map((message) => array(object(message).content)),
  ] as Loose[][];
  const total = lists.reduce((sum, list) => sum + list.filter(isPoint).length, 0);
  if (total <= MOST) return;
  let nth = 0;
  for (const list of lists) {
    let kept = 0;
    for (const block of list) {
      if (!isPoint(block) || nth++ < MOST / 2 || nth > total - MOST / 2) list[kept++] = block;
    }
    list.length = kept;
  }
}

function isPoint(block: Loose): boolean {
  return block.cachePoint !== undefined;
}
