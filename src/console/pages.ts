/** Pages of lists that are in memory as a whole. */
import { decodeOffset, encodeOffset, LARGEST_PAGE, pageSize } from "../accounts/administration/input.ts";

/** A part of a list, and where it goes on. Throws `validation_error` on a cursor that is none of a list. */
export function pageOf<T>(
  all: readonly T[],
  { limit, cursor }: { limit?: number; cursor?: string },
): { data: T[]; next_cursor: string | null } {
  const size = pageSize(limit, LARGEST_PAGE);
  const skip = cursor === undefined ? 0 : decodeOffset(cursor);
  return {
    data: all.slice(skip, skip + size),
    next_cursor: all.length > skip + size ? encodeOffset(skip + size) : null,
  };
}
