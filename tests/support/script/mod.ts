/**
 * A provider that plays a script: the nth request is answered by the nth line, in the shapes that recordings of its API
 * show, streamed when the request asks for it. What the gateway sent is kept, and can be asked what it carried back.
 */
import type { Api } from "../gateway.ts";
import { type LoopbackProvider, loopbackProvider, type Seen, sseResponse } from "../provider.ts";
import * as chat from "./chat_completions.ts";
import * as converse from "./converse.ts";
import * as gemini from "./gemini.ts";
import * as messages from "./messages.ts";
import * as responses from "./responses.ts";
import type { Said, Script } from "./shape.ts";

export type { Call, Loose, Said } from "./shape.ts";

/** One line of the script: what the model says, or any answer at all. */
export type Line = Said | ((seen: Seen) => Response);

export type ScriptedApi = Exclude<Api, "demo">;

export const SCRIPTS: Readonly<Record<ScriptedApi, Script>> = {
  "openai-chat": chat,
  "openai-responses": responses,
  "anthropic-messages": messages,
  gemini,
  "bedrock-converse": converse,
};

/** Starts one. A request beyond the script's end is answered with a status that no client tries again. */
export function scriptedProvider(api: ScriptedApi, lines: readonly Line[]): LoopbackProvider {
  const script = SCRIPTS[api];
  return loopbackProvider((seen, nth) => {
    const line = lines[nth];
    if (line === undefined) {
      return Response.json({ error: { message: "The script is over." } }, { status: 400 });
    }
    if (typeof line === "function") return line(seen);
    if (!wantsStream(seen)) return Response.json(script.whole(line, nth));
    return streamOf(api, script.frames(line, nth).slice(0, line.breaksAfter));
  });
}

export function wantsStream(seen: Seen): boolean {
  return seen.body.stream === true || seen.path.includes(":streamGenerateContent") ||
    seen.path.endsWith("/converse-stream");
}

/** A stream of these frames, in the type of content that the API has for streams. */
export function streamOf(api: ScriptedApi, frames: readonly (string | Uint8Array)[]): Response {
  const response = sseResponse(frames);
  if (api === "bedrock-converse") {
    response.headers.set("content-type", "application/vnd.amazon.eventstream");
  }
  return response;
}
