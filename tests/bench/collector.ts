/** A collector of telemetry that reads what it is sent and keeps none of it. */
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
  for await (const _ of request.body ?? []);
  return new Response(null, { headers: { "content-type": "application/x-protobuf" } });
});
console.log(server.addr.port);
