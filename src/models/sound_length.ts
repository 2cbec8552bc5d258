/**
 * How long sound lasts at most, in seconds, as its file says: silence takes hardly any bytes in a compressed file, and a
 * provider bills it like any other sound.
 *
 * | file        | by                                                                                             |
 * | ----------- | ---------------------------------------------------------------------------------------------- |
 * | WAV         | its bytes, and the lower one of the rate of bytes that is told and the one of its samples      |
 * | FLAC        | the samples that its head tells                                                                |
 * | Ogg         | the position that its last page tells                                                          |
 * | any other   | its bytes, at the lowest rate that MP3 has or, for what is no MP3, at half of that             |
 */
import { Buffer } from "node:buffer";

/** Bytes a second: 8 kbit/s are the least that MP3 has, and Opus for speech has 6. */
const LEAST_RATE = 960;
/** Base64 units of head and tail that are read. */
const HEAD = 128;
const TAIL = 1 << 18;
const OPUS_RATE = 48_000;

/**
 * How long a sound plays, at most, by its head; where that does not say it, by its size.
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
  const told = head.readUInt32LE(28);
  const samples = head.readUInt32LE(24) * head.readUInt16LE(22) * head.readUInt16LE(34) / 8;
  const rate = samples > 0 ? Math.min(told, samples) : told;
  return rate > 0 ? bytes / rate : null;
}

/** The first block is STREAMINFO: 20 bits of rate, later 36 bits of samples. */
function flacSeconds(head: Buffer): number | null {
  const rate = head.readUIntBE(18, 3) >> 4;
  const samples = (head[21] & 15) * 2 ** 32 + head.readUInt32BE(22);
  return rate > 0 && samples > 0 ? samples / rate : null;
}

function oggSeconds(head: Buffer, data: string): number | null {
  const kind = head.toString("latin1", 28, 36);
  const rate = kind === "OpusHead" ? OPUS_RATE : kind.startsWith("\x01vorbis") ? head.readUInt32LE(40) : 0;
  // Base64 is decoded from a multiple of four units on.
  const from = Math.max(0, data.length - TAIL);
  const tail = Buffer.from(data.slice(from - from % 4), "base64");
  const last = tail.lastIndexOf("OggS");
  if (rate === 0 || last < 0 || last + 14 > tail.length) return null;
  const position = tail.readBigUInt64LE(last + 6);
  return position < 2n ** 62n ? Number(position) / rate : null;
}
