/** Sizes of the buffers that callers' connections are read into. */

/** Of the one that a connection begins with. */
export const BUFFER_BYTES = 4096;
export const BUFFER_BYTES_MOST = 64 * 1024;
/** Of one into which nothing is expected for long: that of a WebSocket, and of a connection whose answer may be a stream. */
export const SMALL_BUFFER_BYTES = 512;
