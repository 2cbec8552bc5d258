/** Some of what `deno task test-deploy` runs, with each change: sockets, refusals and bodies by the host's server and PostgreSQL. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { postgresHere } from "../support/cluster.ts";
import { roomsOfDeploy, runOnDeploy } from "./rooms.ts";

const SOME = ["responses_socket", "refusals", "body", "leaving", "generation"].map((name) =>
  `tests/http/${name}_test.ts`
);

Deno.test({
  name: "gateways in the shape of Deno Deploy keep what callers are promised",
  ignore: postgresHere === null,
  async fn() {
    const rooms = roomsOfDeploy();
    assertEquals(SOME.filter((file) => !rooms.includes(file)), []);
    assert(rooms.length > 50, String(rooms.length));
    const { code, text } = await runOnDeploy(SOME);
    assertEquals(code, 0, text);
    assertMatch(text, /\nok \| \d\d+ passed/);
  },
});
