/** A server behind TLS in a process of its own, whose memory can be told: it reads a body and answers with a stream. Prints its port. */
import { listeningTls } from "./caller.ts";

const words = async function* () {
  for (;;) {
    yield new TextEncoder().encode("word\n");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const { server } = await listeningTls({
  async handle(request) {
    await request.arrayBuffer();
    return new Response(ReadableStream.from(words()), { headers: { "content-type": "text/event-stream" } });
  },
});
console.log(server.addr.port);
