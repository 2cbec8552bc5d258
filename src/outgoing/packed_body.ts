/** Refuses compressed bodies, which the gateway never requests. */
import { WireError } from "../transport/body_framing.ts";

/** Compressions. Servers send other values to prevent compression by proxies: `none`, `identity`, `utf-8`. */
const PACKED = /\b(?:gzip|deflate|compress|br|zstd)\b/i;

/** Throws {@link WireError}. @param coding the value of `content-encoding` */
export function refusePacked(status: number, coding: string | undefined): void {
  // The meaning of an error is in its status.
  if (coding !== undefined && status < 300 && PACKED.test(coding)) {
    throw new WireError("the content encoding was not asked for");
  }
}
