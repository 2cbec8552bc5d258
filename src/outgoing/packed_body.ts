/** Bodies that are compressed though nobody asked for that. */
import { WireError } from "../transport/body_framing.ts";

/** Codings that were not asked for. Others are words of servers that want nobody to pack a stream: `none`, `identity`, `utf-8`. */
const PACKED = /\b(?:gzip|deflate|compress|br|zstd)\b/i;

/** Throws {@link WireError}. @param coding the value of `content-encoding` */
export function refusePacked(status: number, coding: string | undefined): void {
  // What a failure means, its status says by itself.
  if (coding !== undefined && status < 300 && PACKED.test(coding)) {
    throw new WireError("the content encoding was not asked for");
  }
}
