import { assert, assertEquals, assertStringIncludes } from "@std/assert";

const TRAIN = new URL("../../../../src/models/autoroute/training/train.ts", import.meta.url);

async function train(...args: string[]): Promise<{ code: number; said: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-read", "--allow-write", TRAIN.pathname, ...args],
  });
  const { code, stdout, stderr } = await command.output();
  return { code, said: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

Deno.test("train-router measures, then writes the same weights and picture every time", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const lines = Array.from({ length: 300 }, (_, i) => {
      const hard = i % 3 === 0;
      const prompt = `Is the ${hard ? "thorny" : "plain"} matter ${
        "abcdefghij"[i % 10]
      } settled?\nA. Yes\nB. No`;
      return JSON.stringify({ bench: "made", domain: `d${i % 9}`, prompt, weak: !hard, strong: true });
    });
    await Deno.writeTextFile(`${directory}/prompts.jsonl`, lines.join("\n"));
    for (const run of ["one", "two"]) {
      await Deno.mkdir(`${directory}/${run}`);
      const { code, said } = await train(`${directory}/prompts.jsonl`, `${directory}/${run}`);
      assertEquals(code, 0, said);
      const figure = Number(/APGR on new prompts, repeat 1: made ([\d.]+)/.exec(said)?.[1]);
      assert(figure > 0.8, said);
    }
    for (const file of ["weights.json", "curve.svg"]) {
      const [one, two] = await Promise.all(
        ["one", "two"].map((run) => Deno.readTextFile(`${directory}/${run}/${file}`)),
      );
      assertEquals(one, two);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("train-router without a file says how to use it", async () => {
  const { code, said } = await train();
  assertEquals(code, 2);
  assertStringIncludes(said, "usage: deno task train-router");
});
