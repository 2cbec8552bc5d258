/**
 * Prints a CycloneDX 1.6 SBOM of the program: the packages that `deno info --json` finds for `src/main.ts`
 * and the worker modules, with the checksums of the lock file.
 */
import { THREADS } from "./compile.ts";

const ROOT = new URL("../", import.meta.url);

interface Info {
  npmPackages: Record<string, { name: string; version: string; dependencies: string[] }>;
}

/** @param infos outputs of `deno info --json` */
export function sbomOf(infos: readonly Info[], lock: Record<string, { integrity: string }>, version: string) {
  const packages = new Map(
    infos.flatMap(({ npmPackages }) => Object.values(npmPackages)).map((one) => [
      `${one.name}@${one.version}`,
      one,
    ]),
  );
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", name: "sluice", version, "bom-ref": "sluice" } },
    components: [...packages].sort(([a], [b]) => a < b ? -1 : 1).map(([id, { name, version }]) => ({
      type: "library",
      "bom-ref": id,
      name,
      version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      hashes: hashesOf(lock[id]?.integrity),
    })),
  };
}

function hashesOf(integrity: string | undefined): { alg: string; content: string }[] {
  const [, base64] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  if (base64 === undefined) return [];
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return [{ alg: "SHA-512", content: bytes.toHex() }];
}

export async function sbom() {
  const read = async (name: string) => JSON.parse(await Deno.readTextFile(new URL(name, ROOT)));
  const infos = await Promise.all(["src/main.ts", ...THREADS].map(async (path) => {
    const args = ["info", "--json", "--lock=.deno/runtime.lock", path];
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).output();
    if (!success) throw new Error(`deno info failed: ${new TextDecoder().decode(stderr)}`);
    return JSON.parse(new TextDecoder().decode(stdout)) as Info;
  }));
  return sbomOf(infos, (await read(".deno/runtime.lock")).npm, (await read("deno.json")).version);
}

if (import.meta.main) console.log(JSON.stringify(await sbom(), null, 2));
