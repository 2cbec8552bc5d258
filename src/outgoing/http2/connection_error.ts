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

/** @param is whether the stream id of a frame about the whole connection is 0 */
export function expectStream(is: boolean): void {
  if (!is) throw new ConnectionError(CODE.protocolError, "a frame of the connection has a stream id");
}

/** @param is whether the length of a frame is valid */
export function expectLength(is: boolean): void {
  if (!is) throw new ConnectionError(CODE.frameSizeError, "a frame has an invalid length");
}
