/**
 * A node of the random money test: a gateway that can be killed, whose clock goes as it is told. Arguments: its configuration as
 * JSON, which of how many workers it is (`1/2`; `1/1`: a node by itself), and by how much its clock is ahead.
 * Lines on stdin: `clock MS`, `reload JSON`, `flush now`. Each is answered by a line on stdout once it is done.
 */
import { loadValue } from "../../../src/config/load.ts";
import { testConfig, testGateway } from "../../support/gateway.ts";
import { eventually } from "../../support/time.ts";

const [config, place, ahead] = Deno.args;
const [which, of] = place.split("/").map(Number);
let offset = Number(ahead);
const node = await testGateway({}, JSON.parse(config), {
  now: () => Date.now() + offset,
  log: (line) => console.error(line),
  ...(of > 1 && { worker: { which, of } }),
});
// On a busy machine the tables of a new database take a while.
await eventually(() => node.gateway.accounts.storeUp());
console.log(`listening ${node.url}`);

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const [, what, value] = /^(\w+) (.*)$/s.exec(line)!;
    if (what === "clock") offset = Number(value);
    else if (what === "flush") await node.gateway.accounts.flush();
    else {
      await node.gateway.reload(
        loadValue(testConfig({}, JSON.parse(value)), { env: () => undefined }).config,
      );
    }
    console.log("done");
  }
}
await node.close();
