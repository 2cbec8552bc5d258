/**
 * The provider, a process of its own: `/ordinary` answers as a good one does, `/large/NAME` with an answer that is made to
 * take long. Prints its port.
 */
import { leastAnswer } from "../support/answers.ts";
import { ANSWERS } from "./answers.ts";

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
  const { pathname } = new URL(request.url);
  const large = /^\/large\/([^/]+)/.exec(pathname);
  // To read a large request as text would take the time of those who are measured.
  for await (const _ of request.body ?? []);
  if (large) return ANSWERS[decodeURIComponent(large[1])]();
  return leastAnswer({ path: pathname, headers: request.headers, body: {}, text: "" });
});
console.log(`listening ${server.addr.port}`);
