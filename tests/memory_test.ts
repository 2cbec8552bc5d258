/** When the process gives memory back, and that every way of starting it leaves that to it. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { collectWhenIdle, LAZY_IMPORTS, START_ENVIRONMENT, V8_FLAGS } from "../src/memory.ts";
import { compileArgs, packagesFolder } from "../.deploy/compile.ts";
import manifest from "../deno.json" with { type: "json" };

const MB = 1 << 20;

function keeper(resident: number) {
  const state = { entered: 0, running: 0, resident, collections: 0, leaves: 100 * MB };
  const memory = collectWhenIdle({
    load: () => state,
    resident: () => state.resident,
    collect() {
      state.collections++;
      state.resident = state.leaves;
    },
    looking: false,
  });
  return {
    state,
    settle: () => memory.settle(),
    looks(count: number, calls = 0) {
      for (let i = 0; i < count; i++) {
        state.entered += calls;
        memory.look();
      }
    },
  };
}

Deno.test("memory is given back once it is much and nothing has gone on for a while", () => {
  const { state, looks } = keeper(500 * MB);
  looks(20, 100);
  assertEquals(state.collections, 0, "under load");
  looks(4, 1);
  assertEquals(state.collections, 0, "a moment of quiet is none");
  looks(1);
  assertEquals(state.collections, 1);
  looks(100);
  assertEquals(state.collections, 1, "nothing left that is worth it");
});

Deno.test("what the start leaves is collected, however little it is, unless calls have begun", () => {
  const quiet = keeper(90 * MB);
  quiet.settle();
  assertEquals(quiet.state.collections, 1);
  const busy = keeper(90 * MB);
  busy.state.running = 1;
  busy.settle();
  const used = keeper(90 * MB);
  used.looks(1, 100);
  used.settle();
  assertEquals([busy.state.collections, used.state.collections], [0, 0]);
});

Deno.test("streams that go on are no quiet", () => {
  const { state, looks } = keeper(500 * MB);
  state.running = 50;
  looks(100);
  assertEquals(state.collections, 0);
});

Deno.test("what a collection leaves is not collected again and again", () => {
  const { state, looks } = keeper(500 * MB);
  state.leaves = 450 * MB;
  looks(100);
  assertEquals(state.collections, 1);
  state.resident = 600 * MB;
  looks(100);
  assertEquals(state.collections, 2);
});

Deno.test("little memory is kept, with the code that goes with it", () => {
  const { state, looks } = keeper(250 * MB);
  looks(100);
  assertEquals(state.collections, 0);
});

Deno.test("the environment of a start is the same in every place", async () => {
  const environment = Object.entries(START_ENVIRONMENT).map((entry) => entry.join("=")).join(" ");
  assert(manifest.tasks.start.command.startsWith(`${environment} deno run `));
  for (const file of ["Dockerfile", ".deploy/sluice.service"]) {
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    assertMatch(text, new RegExp(`^(?:ENV|Environment=).* ${environment}(?: |$)`, "m"));
    // Without these variables what Deno itself exports belongs to `unknown_service:deno`.
    assertMatch(
      text,
      /^(?:ENTRYPOINT|ExecStart=).*[ "]--env-file=(?:\/opt\/sluice\/)?\.deno\/start\.env[ "]/m,
    );
  }
  assertStringIncludes(manifest.tasks.start.command, " --env-file=.deno/start.env ");
  assert(compileArgs(await packagesFolder(), "dist/sluice").includes("--env-file=.deno/start.env"));
});

Deno.test("what V8 is started with is the same in every place, and V8 knows it", async () => {
  assertStringIncludes(manifest.tasks.start.command, ` ${LAZY_IMPORTS} ${V8_FLAGS} `);
  assert(compileArgs(await packagesFolder(), "dist/sluice").includes(V8_FLAGS));
  assertStringIncludes(
    await Deno.readTextFile(new URL("../Dockerfile", import.meta.url)),
    `${JSON.stringify(LAZY_IMPORTS)}, ${JSON.stringify(V8_FLAGS)}`,
  );
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", V8_FLAGS, "console.log(typeof gc)"],
    env: { NO_COLOR: "1" },
  }).output();
  assert(success);
  assertEquals(new TextDecoder().decode(stdout), "function\n");
  assertEquals(new TextDecoder().decode(stderr), "");
});
