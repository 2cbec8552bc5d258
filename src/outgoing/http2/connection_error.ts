/** Protocol violations for which a connection is closed. */
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
  /** @param code error code of the GOAWAY frame */
  constructor(readonly code: number, message: string) {
    super(message);
  }
}
