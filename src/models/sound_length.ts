/**
 * Upper bound of the duration of audio in seconds, from its file: silence takes hardly any bytes in a
 * compressed file, but providers bill it like other audio.
 *
 * | format      | determined by                                                                                  |
 * | ----------- | ---------------------------------------------------------------------------------------------- |
 * | WAV         | its bytes, and the lower of the declared byte rate and that of its samples                     |
 * | FLAC        | the number of samples in STREAMINFO                                                            |
 * | Ogg         | the granule position of the last page                                                          |
 * | others      | its bytes, at the lowest bit rate of MP3 or, if it is not MP3, at half of that                 |
 */
import { Buffer } from "node:buffer";

/** Bytes per second: the lowest MP3 bit rate is 8 kbit/s, that of Opus for speech 6. */
const LEAST_RATE = 960;
/** Base64 characters of head and tail that are read. */
const HEAD = 128;
const TAIL = 1 << 18;
const OPUS_RATE = 48_000;

/**
 * Upper bound of the duration by the header, or else by the size.
 *
 * @param data base64
 */
export function soundSeconds(data: string, mediaType: string, bytes: number): number {
  const head = Buffer.from(data.slice(0, HEAD), "base64");
  const slowest = bytes / (/mpeg|mp3/.test(mediaType) ? LEAST_RATE : LEAST_RATE / 2);
  if (head.length < 48) return slowest;
  switch (head.toString("latin1", 0, 4)) {
    case "RIFF":
      return Math.min(bytes / LEAST_RATE, wavSeconds(head, bytes) ?? Infinity);
    case "fLaC":
      return flacSeconds(head) ?? slowest;
    case "OggS":
      return oggSeconds(head, data) ?? slowest;
  }
  return slowest;
}

function wavSeconds(head: Buffer, bytes: number): number | null {
  if (head.toString("latin1", 12, 16) !== "fmt ") return null;
  const declared = head.readUInt32LE(28);
  const samples = head.readUInt32LE(24) * head.readUInt16LE(22) * head.readUInt16LE(34) / 8;
  const rate = samples > 0 ? Math.min(declared, samples) : declared;
  return rate > 0 ? bytes / rate : null;
}

/** The first block is STREAMINFO: 20 bits sample rate, later 36 bits number of samples. */
function flacSeconds(head: Buffer): number | null {
  const rate = head.readUIntBE(18, 3) >> 4;
  const samples = (head[21] & 15) * 2 ** 32 + head.readUInt32BE(22);
  return rate > 0 && samples > 0 ? samples / rate : null;
}

function oggSeconds(head: Buffer, data: string): number | null {
  const kind = head.toString("latin1", 28, 36);
  const rate = kind === "OpusHead" ? OPUS_RATE : kind.startsWith("\x01vorbis") ? head.readUInt32LE(40) : 0;
  // Base64 is decoded from a multiple of four characters.
  const from = Math.max(0, data.length - TAIL);
  const tail = Buffer.from(data.slice(from - from % 4), "base64");
  const last = tail.lastIndexOf("OggS");
  if (rate === 0 || last < 0 || last + 14 > tail.length) return null;
  const position = tail.readBigUInt64LE(last + 6);
  return position < 2n ** 62n ? Number(position) / rate : null;
}
