/** Pagination of lists that are completely in memory. */
import { decodeOffset, encodeOffset, LARGEST_PAGE, pageSize } from "../accounts/administration/input.ts";

/** A page of a list, and the next cursor. Throws `validation_error` for an invalid cursor. */
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
