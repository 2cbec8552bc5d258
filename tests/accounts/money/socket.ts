/** A call of the responses format over a WebSocket, as {@link Answer} of one over HTTP. */
import type { Answer } from "./requests.ts";

const OVER = /^(?:error|response\.(?:completed|incomplete|failed))$/;

/** Null: the connection was refused. */
export function askOverSocket(
  url: string,
  headers: Record<string, string>,
  { body, signal }: { body: Record<string, unknown>; signal: AbortSignal },
): Promise<Answer | null> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers });
  const texts: string[] = [];
  return new Promise((resolve, reject) => {
    let opened = false;
    signal.addEventListener("abort", () => {
      socket.close();
      reject(new Error("aborted"));
    });
    socket.onopen = () => {
      opened = true;
      const { stream: _, ...turn } = body;
      socket.send(JSON.stringify({ type: "response.create", ...turn }));
    };
    socket.onmessage = ({ data }) => {
      texts.push(data);
      const { type, status = 200 } = JSON.parse(data);
      if (!OVER.test(type)) return;
      socket.close();
      resolve({ status, text: texts.join("\n"), id: "", joined: false });
    };
    socket.onclose = () => opened ? reject(new Error(`closed after ${texts.join("\n")}`)) : resolve(null);
    socket.onerror = (event) => event.preventDefault();
  });
}
