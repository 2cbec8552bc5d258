/** The administration endpoints of policies: as they run, and tried on a text. */
import type { Loose } from "../exchange/json.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { body, endpoint } from "./operations.ts";

export const POLICIES: readonly Endpoint[] = [
  endpoint(
    "POST",
    "/admin/dlp/scan",
    "Screens a text or a request as a policy would, and tells the findings; nothing is sent or kept.",
    "DlpScan",
    async ({ request, state }) => {
      const { dryScan } = await import("../pipeline/dry_scan.ts");
      return await dryScan(await body<Loose>(request), state.kit);
    },
    { access: "read", request: "DlpScanInput" },
  ),
];
