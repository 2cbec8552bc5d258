/** Sizes of the read buffers of client connections. */

/** Initial size. */
export const BUFFER_BYTES = 4096;
export const BUFFER_BYTES_MOST = 64 * 1024;
/** Size while little data is expected: for a WebSocket, and while an answer may be streaming. */
export const SMALL_BUFFER_BYTES = 512;
