/** Callers that speak HTTP/2: whole answers, several requests at once on each connection. */
import { Buffer } from "node:buffer";
import { type ClientHttp2Session, connect } from "node:http2";
import { CA } from "../support/tls.ts";
import type { Job } from "./load.ts";
import type { Asking, Run } from "./run.ts";

/** Requests at once on one connection. */
const STREAMS = 8;

export interface Http2Callers {
  next(): Asking;
  close(): void;
}

export function asksByHttp2(job: Job, run: Run): Http2Callers {
  const sessions: ClientHttp2Session[] = [];
  const fields = { ":method": "POST", ":path": job.path, "content-type": "application/json", ...job.headers };
  const body = Buffer.from(job.body);
  let opened = 0;

  function ask(session: ClientHttp2Session, asked: number): Promise<void> {
    run.asked++;
    return new Promise((resolve, reject) => {
      const stream = session.request(fields);
      let status = "";
      const pieces: Uint8Array[] = [];
      stream.on("response", (head) => status = String(head[":status"]));
      stream.on("data", (bytes: Uint8Array) => pieces.push(bytes));
      stream.on("error", reject);
      stream.on("end", () => {
        const body = Buffer.concat(pieces);
        const refusal = status === "200" ? undefined : body.toString();
        run.answered({ status, refusal, sawToken: body.includes(job.token), ended: true, asked });
        resolve();
      });
      stream.end(body);
    });
  }

  return {
    next() {
      if (opened % STREAMS === 0) {
        const session = connect(`https://localhost:${job.port}`, { ca: CA });
        session.on("error", (error) => run.failed(error.message));
        sessions.push(session);
      }
      const session = sessions[Math.floor(opened++ / STREAMS)];
      let asked = 0;
      return {
        get asked() {
          return asked;
        },
        ask: () => ask(session, asked = performance.now()),
        close() {},
      };
    },
    close() {
      for (const session of sessions) session.close();
    },
  };
}
