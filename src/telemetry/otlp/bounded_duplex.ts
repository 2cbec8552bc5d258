/**
 * A connection of which only so much is read, a little in each turn. `node:http2` handles all frames of a read before anything
 * else has its turn: a collector's interim answers, of 14 bytes each, take it 190 µs each (Deno 2.9.6).
 */
import type { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers";

/** Of a read, in one turn. */
const PIECE_BYTES = 1024;

export function boundedDuplex(socket: Socket, most: number): Duplex {
  let came = 0;
  let ended = false;
  let waiting: Buffer | null = null;
  const duplex = new Duplex({
    read: () => {},
    write: (bytes, _encoding, done) => void socket.write(bytes, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  const handOn = () => {
    if (waiting === null || duplex.destroyed) return;
    const piece: Buffer = waiting.subarray(0, PIECE_BYTES);
    waiting = waiting.length > PIECE_BYTES ? waiting.subarray(PIECE_BYTES) : null;
    duplex.push(piece);
    if (waiting !== null) setImmediate(handOn);
    else if (ended) duplex.push(null);
    else socket.resume();
  };
  socket.on("data", (bytes: Buffer) => {
    came += bytes.length;
    if (came > most) return void duplex.destroy(new Error("The collector's answer does not end."));
    socket.pause();
    waiting = bytes;
    setImmediate(handOn);
  });
  socket.on("end", () => {
    ended = true;
    if (waiting === null) duplex.push(null);
  });
  socket.on("error", (error) => duplex.destroy(error));
  socket.on("close", () => duplex.destroy());
  return duplex;
}
