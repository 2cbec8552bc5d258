/** Mistakes of a server for which its connection is given up. */
import { WireError } from "../../transport/body_framing.ts";

/** RFC 9113, section 7. */
export const CODE = {
  noError: 0,
  protocolError: 1,
  flowControlError: 3,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
  http11Required: 13,
} as const;

export class ConnectionError extends WireError {
  /** @param code what the server is told */
  constructor(readonly code: number, message: string) {
    super(message);
  }
}
